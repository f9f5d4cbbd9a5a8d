// SPDX-License-Identifier: Apache-2.0
// The forward simulation that holds the speed for a reaction time before each braking run. Internal
// to the planner; speed_plan.h states the rule.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_REACTION_PLAN_H_
#define ARCLANE_SERVER_PLANNING_SPEED_REACTION_PLAN_H_

#include "server/planning/speed/phase_writer.h"
#include "server/planning/speed/piece_motion.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {

// The largest speed at the start from which a hold of `reaction_s` leaves every cap and stop ahead
// reachable. Needs the workspace's length, cap, radius, start and backward columns.
template <typename Real>
Real LargestReactiveStart(const SpeedColumns<Real>& columns, const BasicMotionBudget<Real>& budget,
                          Real reaction_s);

// Appends the phases from start_speed (feasible) on; returns the squared speed reached at the
// path's end, which is below the last backward value when the end speed cannot be reached.
template <typename Real>
Real WriteReactivePhases(Real start_speed, Real reaction_s, const BasicMotionBudget<Real>& budget,
                         SpeedColumns<Real>& columns, PhaseWriter<Real>& writer);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_REACTION_PLAN_H_
