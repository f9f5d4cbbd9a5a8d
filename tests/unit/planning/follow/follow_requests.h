// SPDX-License-Identifier: Apache-2.0
// A corridor with a gate, its route as it travels, and agents on a stream, for the tests of the
// stream's follower.
#ifndef ARCLANE_TESTS_UNIT_PLANNING_FOLLOW_FOLLOW_REQUESTS_H_
#define ARCLANE_TESTS_UNIT_PLANNING_FOLLOW_FOLLOW_REQUESTS_H_

#include <array>
#include <cstdint>
#include <optional>

#include "gtest/gtest.h"
#include "server/codec/request_limits.h"
#include "server/pipeline/follow_session.h"
#include "server/pipeline/plan_corridor.h"

namespace arclane {

inline constexpr double kDt = 1.0 / 60.0;
inline constexpr uint64_t kGate = 17;

// An L with a gate before the last of four cells, Y up, and far from the origin.
inline v1::PlanCorridorRequest Request(bool rounds, v1::UpAxis up = v1::UP_AXIS_Y,
                                       double offset = 4096) {
  v1::PlanCorridorRequest request;
  request.mutable_frame()->set_up_axis(up);
  request.mutable_frame()->mutable_origin()->set_x(offset);
  v1::PointColumns& vertices = *request.mutable_corridor()->mutable_polygons()->mutable_vertices();
  const auto add = [&](v1::PointColumns& columns, double a, double b) {
    columns.add_x(up == v1::UP_AXIS_X ? 0.0 : a + offset);
    columns.add_y(up == v1::UP_AXIS_X ? a : up == v1::UP_AXIS_Y ? 0.0 : b);
    columns.add_z(up == v1::UP_AXIS_Z ? 0.0 : b);
  };
  const double cells[][4] = {{0, 0, 10, 2}, {10, 0, 12, 2}, {10, 2, 12, 8}, {10, 8, 12, 20}};
  for (const auto& [left, low, right, high] : cells) {
    add(vertices, left, low);
    add(vertices, right, low);
    add(vertices, right, high);
    add(vertices, left, high);
    request.mutable_corridor()->mutable_polygons()->add_vertex_count(4);
  }
  const auto point = [&](v1::Point* p, double a, double b) {
    p->set_x(a + offset);
    (up == v1::UP_AXIS_Y ? p->set_z(b) : p->set_y(b));
  };
  point(request.mutable_start(), 1, 1);
  point(request.mutable_goal(), 11, 19);
  v1::DependencyColumns& dependencies = *request.mutable_corridor()->mutable_dependencies();
  dependencies.add_portal_index(2);
  dependencies.add_kind(v1::DEPENDENCY_KIND_GATE);
  dependencies.add_id(kGate);
  v1::AgentProfile& agent = *request.mutable_agent();
  agent.mutable_limits()->set_max_speed(6);
  agent.mutable_limits()->set_max_acceleration(3);
  agent.mutable_limits()->set_max_braking(4);
  agent.mutable_limits()->set_max_lateral_acceleration(4);
  agent.mutable_manners()->set_corner_distance_tolerance(1e-3);
  agent.mutable_manners()->set_corner_speed_tolerance(0.05);
  if (rounds) agent.mutable_body()->set_max_turn_radius(3);
  request.set_include_corridor(true);
  return request;
}

inline v1::Route Planned(const v1::PlanCorridorRequest& request) {
  v1::PlanCorridorResponse response;
  const auto failure = AnswerPlanCorridor(
      request, RequestLimits(), [] { return std::optional<FailureReason>(); }, response);
  EXPECT_FALSE(failure) << failure->message;
  return response.route();
}

inline v1::StreamRoute RouteFor(const v1::PlanCorridorRequest& request, const v1::Route& route) {
  v1::StreamRoute sent;
  sent.set_route_id(3);
  sent.set_version(1);
  *sent.mutable_route() = route;
  *sent.mutable_agent() = request.agent();
  *sent.mutable_frame() = request.frame();
  *sent.mutable_dependencies() = request.corridor().dependencies();
  return sent;
}

// An agent whose reports are what a controller with the hold integrator makes of the requests.
struct StreamAgent {
  std::array<double, 3> position = {}, velocity = {}, displacement = {};
  double heading = 0.0;
};

inline void AddTo(v1::PointColumns* columns, const std::array<double, 3>& p) {
  columns->add_x(p[0]);
  columns->add_y(p[1]);
  columns->add_z(p[2]);
}

inline void AddAgent(uint64_t id, const StreamAgent& agent, v1::AgentColumns* columns) {
  columns->add_agent_id(id);
  columns->add_route_id(3);
  AddTo(columns->mutable_position(), agent.position);
  AddTo(columns->mutable_velocity(), agent.velocity);
  AddTo(columns->mutable_displacement(), agent.displacement);
  columns->add_heading_rad(agent.heading);
}

inline void Move(const v1::MotionColumns& motions, int i, StreamAgent& agent) {
  agent.velocity = {motions.velocity().x(i), motions.velocity().y(i), motions.velocity().z(i)};
  for (int k = 0; k < 3; ++k) {
    agent.displacement[k] = agent.velocity[k] * kDt;
    agent.position[k] += agent.displacement[k];
  }
  agent.heading = motions.heading_rad(i);
}

inline StreamAgent AgentAtStart(const v1::PlanCorridorRequest& request) {
  StreamAgent agent;
  agent.position = {request.start().x(), request.start().y(), request.start().z()};
  return agent;
}

}  // namespace arclane

#endif  // ARCLANE_TESTS_UNIT_PLANNING_FOLLOW_FOLLOW_REQUESTS_H_
