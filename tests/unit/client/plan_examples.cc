// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/client/plan_examples.h"

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <utility>

namespace arclane::testing {
namespace {

constexpr double kQuarterTurn = std::numbers::pi / 2;
using Points = std::initializer_list<std::pair<double, double>>;

void AddPoints(Points points, v1::PointColumns& columns) {
  for (const auto& [x, y] : points) {
    columns.add_x(x);
    columns.add_y(y);
  }
}

void AddCell(Points points, v1::Polygons& polygons) {
  AddPoints(points, *polygons.mutable_vertices());
  polygons.add_vertex_count(static_cast<uint32_t>(points.size()));
}

void SetPoint(double x, double y, v1::Point& point) {
  point.set_x(x);
  point.set_y(y);
}

void SetLimits(v1::AgentLimits& limits) {
  limits.set_max_speed(6);
  limits.set_max_acceleration(3);
  limits.set_max_braking(4);
  limits.set_max_lateral_acceleration(4);
}

void AddCorner(double x, double y, uint32_t portal, v1::CornerKind kind, v1::CornerReason reason,
               double turn_rad, double radius, double distance, v1::CornerColumns& corners) {
  AddPoints({{x, y}}, *corners.mutable_position());
  corners.add_portal_index(portal);
  corners.add_kind(kind);
  corners.add_reason(reason);
  corners.add_turn_angle_rad(turn_rad);
  corners.add_radius(radius);
  corners.add_distance(distance);
}

// Exchanges axes, scales and moves one set of columns.
void Move(v1::UpAxis up_axis, double offset, double scale, v1::PointColumns& columns) {
  for (double& x : *columns.mutable_x()) x = x * scale + offset;
  for (double& y : *columns.mutable_y()) y = y * scale;
  if (up_axis == v1::UP_AXIS_Y) columns.mutable_y()->Swap(columns.mutable_z());
  if (up_axis == v1::UP_AXIS_X) {
    columns.mutable_y()->Swap(columns.mutable_z());
    columns.mutable_x()->Swap(columns.mutable_y());
  }
}

void Move(v1::UpAxis up_axis, double offset, double scale, v1::Point& point) {
  const double first = point.x() * scale + offset;
  const double second = point.y() * scale;
  point.Clear();
  if (up_axis == v1::UP_AXIS_X) {
    point.set_y(first);
  } else {
    point.set_x(first);
  }
  if (up_axis == v1::UP_AXIS_Z) {
    point.set_y(second);
  } else {
    point.set_z(second);
  }
}

void Scale(double scale, google::protobuf::RepeatedField<double>& column) {
  for (double& value : column) value *= scale;
}

}  // namespace

RouteBuilder::RouteBuilder(double x, double y, double heading_rad, double speed, v1::Route& route)
    : route_(route), x_(x), y_(y), heading_rad_(heading_rad), speed_(speed) {}

void RouteBuilder::AddSegment(v1::SegmentKind kind, double curvature, double length,
                              double turn_rad) {
  v1::SegmentColumns& segments = *route_.mutable_segments();
  segments.add_kind(kind);
  segments.add_start_distance(segment_end_);
  AddPoints({{x_, y_}}, *segments.mutable_start());
  segments.add_heading_rad(heading_rad_);
  segments.add_curvature(curvature);
  segments.add_length(length);
  segments.add_turn_angle_rad(turn_rad);
  if (curvature == 0) {
    x_ += length * std::cos(heading_rad_);
    y_ += length * std::sin(heading_rad_);
  } else {
    x_ += (std::sin(heading_rad_ + turn_rad) - std::sin(heading_rad_)) / curvature;
    y_ -= (std::cos(heading_rad_ + turn_rad) - std::cos(heading_rad_)) / curvature;
  }
  heading_rad_ += turn_rad;
  segment_end_ += length;
  route_.set_length(segment_end_);
}

RouteBuilder& RouteBuilder::Line(double length) {
  AddSegment(v1::SEGMENT_KIND_LINE, 0, length, 0);
  return *this;
}
RouteBuilder& RouteBuilder::Arc(double curvature, double angle_rad) {
  AddSegment(v1::SEGMENT_KIND_ARC, curvature, angle_rad / std::abs(curvature),
             std::copysign(angle_rad, curvature));
  return *this;
}
RouteBuilder& RouteBuilder::Turn(double angle_rad, double duration_s) {
  AddSegment(v1::SEGMENT_KIND_TURN, 0, 0, angle_rad);
  AddPhase(v1::PHASE_KIND_TURN, 0, 0, duration_s, 0, 0);
  return *this;
}

void RouteBuilder::AddPhase(v1::PhaseKind kind, double acceleration, double length,
                            double duration_s, double phase_rad, double end_speed) {
  v1::PhaseColumns& phases = *route_.mutable_phases();
  phases.add_kind(kind);
  phases.add_segment_index(static_cast<uint32_t>(route_.segments().kind_size() - 1));
  phases.add_start_distance(phase_end_);
  phases.add_start_time_s(time_s_);
  phases.add_speed(speed_);
  phases.add_acceleration(acceleration);
  phases.add_length(length);
  phases.add_duration_s(duration_s);
  phases.add_phase_rad(phase_rad);
  phase_end_ += length;
  time_s_ += duration_s;
  speed_ = end_speed;
  route_.set_duration_s(time_s_);
}

RouteBuilder& RouteBuilder::Phase(double acceleration, double length) {
  const double end = std::sqrt(std::max(0.0, speed_ * speed_ + 2 * acceleration * length));
  const v1::PhaseKind kind = acceleration > 0   ? v1::PHASE_KIND_ACCELERATE
                             : acceleration < 0 ? v1::PHASE_KIND_BRAKE
                                                : v1::PHASE_KIND_CRUISE;
  AddPhase(kind, acceleration, length, 2 * length / (speed_ + end), 0, end < 1e-7 ? 0 : end);
  return *this;
}

RouteBuilder& RouteBuilder::CoupledPhase(double budget, bool braking, double length) {
  const double curvature = std::abs(*route_.segments().curvature().rbegin());
  double phase = std::asin(std::min(1.0, speed_ * speed_ * curvature / budget));
  if (braking) phase = std::numbers::pi - phase;
  const auto speed_at = [&](double s) {
    return std::sqrt(std::max(0.0, budget / curvature * std::sin(phase + 2 * curvature * s)));
  };
  double duration = 0;
  constexpr int kSteps = 100000;
  for (int k = 0; k < kSteps; ++k) {
    duration += length / kSteps / speed_at(length * (k + 0.5) / kSteps);
  }
  AddPhase(braking ? v1::PHASE_KIND_COUPLED_BRAKE : v1::PHASE_KIND_COUPLED_ACCELERATE,
           budget * std::cos(phase), length, duration, phase, speed_at(length));
  return *this;
}

PlanExample RoundedPlan() {
  PlanExample plan;
  v1::PlanCorridorRequest& request = plan.request;
  SetPoint(0, 0, *request.mutable_start());
  SetPoint(18, 9, *request.mutable_goal());
  v1::Polygons& polygons = *request.mutable_corridor()->mutable_polygons();
  AddCell({{-1, -1.5}, {9, -1.5}, {9, 2}, {-1, 2}}, polygons);
  AddCell({{9, -1.5}, {15, -1.5}, {15, 4}, {9, 4}}, polygons);
  AddCell({{9, 4}, {15, 4}, {15, 7.5}, {11, 7.5}}, polygons);
  AddCell({{11, 7.5}, {20, 7.5}, {20, 10.5}, {11, 10.5}}, polygons);
  SetLimits(*request.mutable_agent()->mutable_limits());
  request.mutable_agent()->mutable_body()->set_radius(0.4);

  v1::Route& route = *plan.response.mutable_route();
  route.set_outcome(v1::OUTCOME_COMPLETE);
  const double arc = 3 * kQuarterTurn;
  RouteBuilder(0, 0, 0, 0, route)
      .Line(10)
      .Phase(3, 6)
      .Phase(0, 1)
      .Phase(-4, 3)
      .Arc(1 / 3.0, kQuarterTurn)
      .Phase(0, arc)
      .Line(6)
      .Phase(3, 36 / 14.0)
      .Phase(-4, 6 - 36 / 14.0)
      .Turn(-kQuarterTurn, 0.8)
      .Line(5)
      .Phase(3, 40 / 14.0)
      .Phase(-4, 5 - 40 / 14.0);
  route.set_shortest_length(27);
  v1::CornerColumns& corners = *route.mutable_corners();
  AddCorner(13, 0, 0, v1::CORNER_KIND_ROUNDED, v1::CORNER_REASON_UNSPECIFIED, kQuarterTurn, 3,
            10 + arc / 2, corners);
  AddCorner(13, 9, 2, v1::CORNER_KIND_STOP, v1::CORNER_REASON_NO_ROOM, -kQuarterTurn, 0, 16 + arc,
            corners);
  v1::Portals& portals = *route.mutable_portals();
  AddPoints({{9, 2}, {9, 4}, {11, 7.5}}, *portals.mutable_left());
  AddPoints({{9, -1.5}, {15, 4}, {15, 7.5}}, *portals.mutable_right());
  v1::SampleColumns& samples = *route.mutable_samples();
  for (const double x : {0.0, 5.0, 10.0}) {
    samples.add_distance(x);
    AddPoints({{x, 0}}, *samples.mutable_position());
  }
  route.mutable_verification()->set_tolerance(1e-9);
  plan.response.mutable_answer()->set_cache(v1::CACHE_OUTCOME_BYPASS);
  return plan;
}

PlanExample RoundedPlanMoved(v1::UpAxis up_axis, double offset, double scale) {
  PlanExample plan = RoundedPlan();
  plan.request.mutable_frame()->set_up_axis(up_axis);
  v1::Route& route = *plan.response.mutable_route();
  for (v1::PointColumns* columns :
       {plan.request.mutable_corridor()->mutable_polygons()->mutable_vertices(),
        route.mutable_segments()->mutable_start(), route.mutable_corners()->mutable_position(),
        route.mutable_portals()->mutable_left(), route.mutable_portals()->mutable_right(),
        route.mutable_samples()->mutable_position()}) {
    Move(up_axis, offset, scale, *columns);
  }
  Move(up_axis, offset, scale, *plan.request.mutable_start());
  Move(up_axis, offset, scale, *plan.request.mutable_goal());
  Scale(scale, *route.mutable_segments()->mutable_start_distance());
  Scale(scale, *route.mutable_segments()->mutable_length());
  Scale(1 / scale, *route.mutable_segments()->mutable_curvature());
  Scale(scale, *route.mutable_phases()->mutable_start_distance());
  Scale(scale, *route.mutable_phases()->mutable_length());
  Scale(scale, *route.mutable_phases()->mutable_speed());
  Scale(scale, *route.mutable_phases()->mutable_acceleration());
  v1::AgentLimits& limits = *plan.request.mutable_agent()->mutable_limits();
  limits.set_max_speed(6 * scale);
  limits.set_max_acceleration(3 * scale);
  limits.set_max_braking(4 * scale);
  limits.set_max_lateral_acceleration(4 * scale);
  plan.request.mutable_agent()->mutable_body()->set_radius(0.4 * scale);
  route.set_length(route.length() * scale);
  return plan;
}

PlanExample CoupledPlan() {
  PlanExample plan;
  SetPoint(0, 0, *plan.request.mutable_start());
  SetPoint(2, -2, *plan.request.mutable_goal());
  v1::Portals& portals = *plan.request.mutable_corridor()->mutable_portals();
  AddPoints({{0.5, 1}, {2.5, 0.5}}, *portals.mutable_left());
  AddPoints({{0.5, -1.5}, {1, -1.5}}, *portals.mutable_right());
  v1::AgentLimits& limits = *plan.request.mutable_agent()->mutable_limits();
  limits.set_max_speed(10);
  limits.set_max_acceleration(5);
  limits.set_max_braking(5);
  limits.set_max_total_acceleration(5);
  v1::Route& route = *plan.response.mutable_route();
  route.set_outcome(v1::OUTCOME_COMPLETE);
  RouteBuilder(0, 0, 0, 0, route)
      .Arc(-0.5, kQuarterTurn)
      .CoupledPhase(5, false, kQuarterTurn)
      .CoupledPhase(5, true, kQuarterTurn);
  return plan;
}

PlanExample CannotStopPlan() {
  PlanExample plan;
  SetPoint(0, 0, *plan.request.mutable_start());
  SetPoint(2, 0, *plan.request.mutable_goal());
  AddCell({{-1, -1}, {2.5, -1}, {2.5, 1}, {-1, 1}},
          *plan.request.mutable_corridor()->mutable_polygons());
  SetLimits(*plan.request.mutable_agent()->mutable_limits());
  plan.request.mutable_agent()->mutable_limits()->set_max_braking(2);
  SetPoint(4, 0, *plan.request.mutable_motion()->mutable_velocity());
  v1::Route& route = *plan.response.mutable_route();
  route.set_outcome(v1::OUTCOME_CANNOT_STOP);
  RouteBuilder(0, 0, 0, 4, route).Line(4).Phase(-2, 4);
  route.set_shortest_length(2);
  v1::Braking& braking = *route.mutable_braking();
  braking.set_start_speed(4);
  braking.set_stop_distance(4);
  braking.set_available_distance(2);
  braking.set_overrun(2);
  braking.set_speed_at_end(std::sqrt(8.0));
  braking.set_max_start_speed(std::sqrt(8.0));
  SetPoint(4, 0, *braking.mutable_rest_position());
  return plan;
}

PlanExample GateClosedPlan() {
  PlanExample plan = RoundedPlan();
  v1::Route route;
  route.set_outcome(v1::OUTCOME_GATE_CLOSED);
  *route.mutable_portals() = plan.response.route().portals();
  route.mutable_blocked()->set_portal_index(1);
  route.mutable_blocked()->set_gate_id(77);
  route.mutable_blocked()->set_detail("gate 77 is closed");
  *plan.response.mutable_route() = route;
  return plan;
}

PlanExample OnePointPlan() {
  PlanExample plan;
  SetPoint(3, 4, *plan.request.mutable_start());
  SetPoint(3, 4, *plan.request.mutable_goal());
  SetLimits(*plan.request.mutable_agent()->mutable_limits());
  plan.response.mutable_route()->set_outcome(v1::OUTCOME_COMPLETE);
  return plan;
}

WaypointsExample RoundedWaypoints() {
  const PlanExample plan = RoundedPlan();
  WaypointsExample example;
  v1::PointColumns& waypoints = *example.request.mutable_waypoints();
  AddPoints({{plan.request.start().x(), plan.request.start().y()}}, waypoints);
  const v1::PointColumns& corners = plan.response.route().corners().position();
  for (int i = 0; i < corners.x_size(); ++i) AddPoints({{corners.x(i), corners.y(i)}}, waypoints);
  AddPoints({{plan.request.goal().x(), plan.request.goal().y()}}, waypoints);
  *example.request.mutable_agent() = plan.request.agent();
  *example.response.mutable_route() = plan.response.route();
  return example;
}

CurveExample CurveWithStop(int samples_per_piece) {
  constexpr double kRadius = 2;
  constexpr double kArc = kRadius * kQuarterTurn;
  constexpr double kLine = 2;
  CurveExample example;
  v1::Spline& spline = *example.request.mutable_spline();
  spline.mutable_bezier();
  AddPoints({{0, 0}, {1.1, 0}, {2, 0.9}, {2, 2}, {3, 2}, {3.5, 2}, {4, 2}},
            *spline.mutable_control());
  SetLimits(*example.request.mutable_agent()->mutable_limits());

  v1::CurvePlan& plan = *example.response.mutable_plan();
  plan.set_length(kArc + kLine);
  plan.set_length_error_bound(1e-9);
  plan.add_segment_length(kArc);
  plan.add_segment_length(kLine);
  // The curvature jumps at the stop, so that two nodes stand there.
  for (const auto& [distance, curvature] :
       Points{{0, 1 / kRadius}, {kArc, 1 / kRadius}, {kArc, 0}, {kArc + kLine, 0}}) {
    plan.add_profile_distance(distance);
    plan.add_profile_curvature(curvature);
  }
  plan.mutable_stops()->add_distance(kArc);
  plan.mutable_stops()->add_turn_angle_rad(-kQuarterTurn);

  v1::SpeedPlan& speed = *plan.mutable_speed();
  speed.set_outcome(v1::SPEED_OUTCOME_OK);
  speed.set_length(plan.length());
  v1::PhaseColumns& phases = *speed.mutable_phases();
  double distance = 0;
  double time_s = 0;
  for (const auto& [interval, length] : {std::pair(0u, kArc), std::pair(2u, kLine)}) {
    const double half_time_s = std::sqrt(length);  // From 1/2 a t^2 = length / 2.
    for (const double acceleration : {1.0, -1.0}) {
      phases.add_kind(acceleration > 0 ? v1::PHASE_KIND_ACCELERATE : v1::PHASE_KIND_BRAKE);
      phases.add_segment_index(interval);
      phases.add_start_distance(distance);
      phases.add_start_time_s(time_s);
      phases.add_speed(acceleration > 0 ? 0 : half_time_s);
      phases.add_acceleration(acceleration);
      phases.add_length(length / 2);
      phases.add_duration_s(half_time_s);
      distance += length / 2;
      time_s += half_time_s;
    }
  }
  speed.set_duration_s(time_s);

  v1::CurveSampleColumns& samples = *plan.mutable_samples();
  for (int i = 0; i <= 2 * samples_per_piece; ++i) {
    const bool on_arc = i < samples_per_piece;
    const double share =
        static_cast<double>(on_arc ? i : i - samples_per_piece) / samples_per_piece;
    const double heading_rad = on_arc ? share * kQuarterTurn : 0;
    samples.add_distance(on_arc ? share * kArc : kArc + share * kLine);
    AddPoints({{on_arc ? kRadius * std::sin(heading_rad) : kRadius + share * kLine,
                on_arc ? kRadius - kRadius * std::cos(heading_rad) : kRadius}},
              *samples.mutable_position());
    AddPoints({{std::cos(heading_rad), std::sin(heading_rad)}}, *samples.mutable_tangent());
    samples.add_curvature(on_arc ? 1 / kRadius : 0);
  }
  return example;
}

}  // namespace arclane::testing
