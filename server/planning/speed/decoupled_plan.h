// SPDX-License-Identifier: Apache-2.0
// The plan over pieces whose acceleration limits do not depend on the speed, without stops and
// reaction: the common case, free of branches that depend on the pieces. Internal to the speed
// planner.
//
// Both passes are chains of one addition and one minimum, x <- min(cap, x + 2 a l). All else is
// done for blocks of pieces in columns, so that roots and quotients are taken several at a time:
// in each piece the speed rises to a peak, stays level at the cap, and falls; parts of no length
// are left out when phases are written.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_DECOUPLED_PLAN_H_
#define ARCLANE_SERVER_PLANNING_SPEED_DECOUPLED_PLAN_H_

#include <span>
#include <vector>

#include "server/planning/speed/piece_motion.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {

// Fills backward[i], the largest squared speed at boundary i from which braking meets every cap
// ahead and x_end. Preconditions of both functions: lengths > 0; limits, lengths and finite radii
// in the range of numeric_range.h.
void PassBackwardDecoupled(std::span<const SpeedPiece> pieces, double x_end,
                           const MotionBudget& budget, std::vector<double>& backward);

// Drives forward from x_start = start_speed^2 (up to rounding) below `backward` and fills all of
// the plan but its status; returns the squared speed reached at the end.
double WriteDecoupledPlan(std::span<const SpeedPiece> pieces, double x_start, double start_speed,
                          double end_speed, const MotionBudget& budget,
                          std::span<const double> backward, SpeedPlan& plan);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_DECOUPLED_PLAN_H_
