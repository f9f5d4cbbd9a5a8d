// SPDX-License-Identifier: Apache-2.0
// Plans made by hand from the equations of motion, one for each kind of answer that a client has to
// tell.
#ifndef ARCLANE_TESTS_UNIT_CLIENT_PLAN_EXAMPLES_H_
#define ARCLANE_TESTS_UNIT_CLIENT_PLAN_EXAMPLES_H_

#include "arclane/v1/planner.pb.h"

namespace arclane::testing {

struct PlanExample {
  v1::PlanCorridorRequest request;
  v1::PlanCorridorResponse response;
};

// Puts segments and phases one behind the other; position, heading, distance, time and speed are
// carried along. Z is up.
class RouteBuilder {
 public:
  RouteBuilder(double x, double y, double heading_rad, double speed, v1::Route& route);
  RouteBuilder& Line(double length);
  // Over `angle_rad` > 0; `curvature` > 0 turns left.
  RouteBuilder& Arc(double curvature, double angle_rad);
  RouteBuilder& Turn(double angle_rad, double duration_s);
  // On the segment that was added last.
  RouteBuilder& Phase(double acceleration, double length);
  // Within the shared budget, on an arc.
  RouteBuilder& CoupledPhase(double budget, bool braking, double length);

  double x() const { return x_; }
  double y() const { return y_; }
  double speed() const { return speed_; }

 private:
  void AddSegment(v1::SegmentKind kind, double curvature, double length, double turn_rad);
  void AddPhase(v1::PhaseKind kind, double acceleration, double length, double duration_s,
                double phase_rad, double end_speed);

  v1::Route& route_;
  double x_, y_, heading_rad_, speed_;
  double segment_end_ = 0;  // Distance at the end of the segments.
  double phase_end_ = 0;    // Distance at the end of the phases.
  double time_s_ = 0;
};

// Ten along x, a quarter turn to the left of radius 3, six along y, a stop with a turn of a quarter
// to the right, five along x. Accelerates with 3, brakes with 4, at most 6, lateral 4. One corner
// is rounded, the other has no room.
PlanExample RoundedPlan();
// The same in other axes and far away: Y up, with x moved by `offset`, and all lengths scaled.
PlanExample RoundedPlanMoved(v1::UpAxis up_axis, double offset, double scale);
// A quarter circle of radius 2 to the right under a shared budget of 5: accelerating, then braking,
// v^2 = 10 sin(s).
PlanExample CoupledPlan();
// Speed 4, braking 2, two to go: four are needed.
PlanExample CannotStopPlan();
PlanExample GateClosedPlan();
// Start and goal are one point.
PlanExample OnePointPlan();

struct WaypointsExample {
  v1::PlanWaypointsRequest request;
  v1::PlanWaypointsResponse response;
};
// The route of RoundedPlan along its corners as waypoints.
WaypointsExample RoundedWaypoints();

struct CurveExample {
  v1::PlanSplineRequest request;
  v1::PlanSplineResponse response;
};
// A quarter circle of radius 2 to the left from (0, 0) along x, then a line of length 2 along x: a
// stop with a turn of a quarter to the right. Each accelerates with 1 over its first half and
// brakes with 1 over its second. `samples_per_piece` + 1 samples on each piece, the one at the stop
// once.
CurveExample CurveWithStop(int samples_per_piece);

}  // namespace arclane::testing

#endif  // ARCLANE_TESTS_UNIT_CLIENT_PLAN_EXAMPLES_H_
