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
double LargestReactiveStart(const SpeedWorkspace& workspace, const MotionBudget& budget,
                            double reaction_s);

// Appends the phases from start_speed (feasible) on; returns the squared speed reached at the
// path's end, which is below the last backward value when the end speed cannot be reached.
double WriteReactivePhases(double start_speed, double reaction_s, const MotionBudget& budget,
                           SpeedWorkspace& workspace, PhaseWriter& writer);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_REACTION_PLAN_H_
