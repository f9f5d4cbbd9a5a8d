// SPDX-License-Identifier: Apache-2.0
// The speed along a chain of segments: the plan where the agent's start is feasible, the braking
// path where it is not.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_MOTION_PLAN_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_MOTION_PLAN_H_

#include <vector>

#include "server/planning/route/agent_profile.h"
#include "server/planning/route/route_plan.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {

// Seconds that the agent needs to turn in place by `angle`: 0 when it turns while moving on.
double TurnDuration(const AgentProfile& agent, double angle);

// Plans the speed along plan.route.segments, whose start distances are filled in here: rest at
// every kTurn segment.
//  - Feasible: phases, length, duration and goal_speed_reached are set; the outcome stays or
//  becomes kGoalSpeedUnreachable.
//  - The start velocity points off the first line (kStartOffRoute) or is too fast to brake
//  (kCannotStop): the segments are
//    replaced by the braking path, a straight line from the start along the real velocity to rest,
//    `braking` is set but for its heights and inside_corridor, and so is rest_position.
// A start direction counts as right within the heading tolerance, but never less than
// kStartDirectionRoundoff.
class MotionPlanner {
 public:
  void Plan(const AgentProfile& agent, const EndMotion& motion, RoutePlan& plan);

 private:
  void PlanBraking(RouteOutcome outcome, const AgentProfile& agent, const EndMotion& motion,
                   double available, double heading_error, double max_start_speed, RoutePlan& plan);

  SpeedWorkspace workspace_;
  SpeedPlan speed_;
  FullBrakePlan brake_;
  std::vector<SpeedPiece> pieces_;
  std::vector<SpeedStop> stops_;
};

// Velocities that come from float32 components carry a direction error of about 1e-7; ten times
// that.
inline constexpr double kStartDirectionRoundoff = 1e-6;

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_MOTION_PLAN_H_
