// SPDX-License-Identifier: Apache-2.0
// The checks of a PlanSpeed request. Internal to the speed planner.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_SPEED_REQUEST_H_
#define ARCLANE_SERVER_PLANNING_SPEED_SPEED_REQUEST_H_

#include <span>
#include <vector>

#include "server/planning/speed/speed_plan.h"

namespace arclane {

// Whether there are pieces, all of positive length, valid, and with numbers that need no more than
// double (numeric_range.h). Fast, unlike finding out what is wrong.
bool HasOrdinaryPieces(std::span<const SpeedPiece> pieces);

// The same for pieces of which some may have no length.
bool HasOrdinaryOrNoLengths(std::span<const SpeedPiece> pieces);

// One violation for every rule that the pieces break.
void AppendPieceViolations(std::span<const SpeedPiece> pieces,
                           std::vector<SpeedViolation>& violations);

// The same for boundary speeds and stops.
void AppendSpeedAndStopViolations(const SpeedPlanRequest& request,
                                  std::vector<SpeedViolation>& violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_SPEED_REQUEST_H_
