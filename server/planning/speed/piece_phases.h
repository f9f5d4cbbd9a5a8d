// SPDX-License-Identifier: Apache-2.0
// From boundary speeds to the phases and columns of a plan. Internal to the speed planner.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_PIECE_PHASES_H_
#define ARCLANE_SERVER_PLANNING_SPEED_PIECE_PHASES_H_

#include "server/planning/speed/piece_motion.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {

// Writes phases, columns and duration of the plan whose passes are done.
template <typename Real>
void WritePlainPlan(const SpeedPlanRequest& request, const BasicMotionBudget<Real>& budget,
                    const SpeedColumns<Real>& columns, SpeedPlan& plan);

// Fills the columns of a plan whose phases are written already.
template <typename Real>
void FillColumnsFromPhases(const SpeedColumns<Real>& columns, double duration_s, SpeedPlan& plan);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_PIECE_PHASES_H_
