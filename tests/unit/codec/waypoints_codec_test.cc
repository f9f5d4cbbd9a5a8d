// SPDX-License-Identifier: Apache-2.0
#include "server/codec/waypoints_codec.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace arclane {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

v1::PlanWaypointsRequest Step() {
  v1::PlanWaypointsRequest request;
  for (const auto& [x, y] : {std::pair(0.0, 0.0), {4.0, 0.0}, {4.0, 4.0}, {8.0, 4.0}}) {
    request.mutable_waypoints()->add_x(x);
    request.mutable_waypoints()->add_y(y);
  }
  v1::AgentLimits* limits = request.mutable_agent()->mutable_limits();
  limits->set_max_speed(6.0);
  limits->set_max_acceleration(3.0);
  limits->set_max_braking(4.0);
  return request;
}

std::vector<std::string> Fields(const v1::PlanWaypointsRequest& request,
                                const RequestLimits& limits = {}) {
  Violations violations;
  ReadWaypointsRequest(request, limits, violations);
  std::vector<std::string> fields;
  for (const Violation& violation : violations.kept()) fields.push_back(violation.field);
  return fields;
}

TEST(WaypointsCodecTest, TheOriginIsTakenOffEveryPoint) {
  v1::PlanWaypointsRequest request = Step();
  request.mutable_frame()->mutable_origin()->set_x(1.0);
  request.mutable_frame()->mutable_origin()->set_y(2.0);
  request.mutable_frame()->mutable_origin()->set_z(3.0);
  for (const double c : {0.0, 9.0, 9.0})
    request.mutable_containment()->mutable_vertices()->add_x(c);
  for (const double c : {0.0, 0.0, 9.0})
    request.mutable_containment()->mutable_vertices()->add_y(c);
  request.mutable_containment()->add_vertex_count(3);
  Violations violations;
  const WaypointPlanRequest plan = ReadWaypointsRequest(request, {}, violations).plan;
  EXPECT_TRUE(violations.empty());
  EXPECT_THAT(plan.waypoints, ElementsAre(Vec2{-1, -2}, Vec2{3, -2}, Vec2{3, 2}, Vec2{7, 2}));
  EXPECT_THAT(plan.heights, ElementsAre(-3.0, -3.0, -3.0, -3.0));
  EXPECT_THAT(plan.polygon_vertices, ElementsAre(Vec2{-1, -2}, Vec2{8, -2}, Vec2{8, 7}));
  EXPECT_THAT(plan.polygon_begin, ElementsAre(0u, 3u));
}

TEST(WaypointsCodecTest, WithoutRadiiTheAgentsLargestCounts) {
  v1::PlanWaypointsRequest request = Step();
  Violations violations;
  EXPECT_THAT(ReadWaypointsRequest(request, {}, violations).plan.radius, ElementsAre(0.0));
  request.mutable_agent()->mutable_body()->set_max_turn_radius(2.0);
  EXPECT_THAT(ReadWaypointsRequest(request, {}, violations).plan.radius, ElementsAre(2.0));
  request.add_radius(std::numeric_limits<double>::infinity());
  EXPECT_THAT(ReadWaypointsRequest(request, {}, violations).plan.radius, ElementsAre(2.0));
  EXPECT_TRUE(violations.empty());
}

TEST(WaypointsCodecTest, RadiiBelongToInnerWaypointsOfALineAndToAllOfALoop) {
  v1::PlanWaypointsRequest request = Step();
  for (int i = 0; i < 2; ++i) request.add_radius(1.0);
  EXPECT_THAT(Fields(request), ElementsAre());
  request.set_closed(true);
  EXPECT_THAT(Fields(request), ElementsAre("radius"));
  for (int i = 0; i < 2; ++i) request.add_radius(1.0);
  EXPECT_THAT(Fields(request), ElementsAre());
}

TEST(WaypointsCodecTest, EveryViolationIsNamedAtOnce) {
  v1::PlanWaypointsRequest request = Step();
  request.add_radius(-1.0);
  request.add_radius(std::numeric_limits<double>::quiet_NaN());
  request.mutable_agent()->mutable_limits()->set_max_speed(0.0);
  request.mutable_agent()->mutable_body()->set_max_turn_radius(1.0);
  request.mutable_agent()->mutable_body()->set_min_turn_radius(2.0);
  request.mutable_containment()->add_vertex_count(2);
  EXPECT_THAT(Fields(request),
              UnorderedElementsAre("radius[0]", "radius[1]", "agent.limits.max_speed",
                                   "agent.body.min_turn_radius", "containment.vertex_count[0]",
                                   "containment.vertex_count"));
}

TEST(WaypointsCodecTest, TheAxesOfThePlaneNameTheFields) {
  v1::PlanWaypointsRequest request = Step();
  request.mutable_frame()->set_up_axis(v1::UP_AXIS_Y);
  *request.mutable_waypoints()->mutable_z() = request.waypoints().y();
  EXPECT_THAT(Fields(request), ElementsAre());
  request.mutable_waypoints()->set_z(2, std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(Fields(request), ElementsAre("waypoints.z[2]"));
}

TEST(WaypointsCodecTest, MoreVerticesThanAllowedAreNotRead) {
  RequestLimits limits;
  limits.max_vertices = 3;
  EXPECT_THAT(Fields(Step(), limits), ElementsAre("waypoints"));
}

}  // namespace
}  // namespace arclane
