// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_waypoints.h"

#include <cmath>
#include <numbers>

#include "gmock/gmock.h"
#include "tests/unit/pipeline/message_text.h"

namespace arclane {
namespace {

using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::FromText;

constexpr char kWaypointAgent[] =
    "agent { limits { max_speed: 6 max_acceleration: 3 max_braking: 4 max_lateral_acceleration: 4 "
    "} } ";
// A step of 4 to the side.
constexpr char kStep[] = "waypoints { x: 0 x: 4 x: 4 x: 8 y: 0 y: 0 y: 4 y: 4 } ";

v1::Route PlannedRoute(const std::string& text) {
  return testing::Succeed<v1::PlanWaypointsResponse>(AnswerPlanWaypoints,
                                                     FromText<v1::PlanWaypointsRequest>(text))
      .route();
}

std::vector<std::string> WaypointFaults(const std::string& text) {
  return testing::FailingFields<v1::PlanWaypointsResponse>(
      AnswerPlanWaypoints, FromText<v1::PlanWaypointsRequest>(text));
}

TEST(PlanWaypointsPipelineTest, CornersAreRoundedAsWished) {
  const v1::Route route = PlannedRoute(std::string(kWaypointAgent) + kStep + "radius: 1 radius: 2");
  EXPECT_EQ(route.outcome(), v1::OUTCOME_COMPLETE);
  EXPECT_THAT(route.corners().radius(), ElementsAre(1.0, 2.0));
  EXPECT_THAT(route.corners().portal_index(), ElementsAre(1u, 2u));
  EXPECT_THAT(route.segments().kind(),
              ElementsAre(v1::SEGMENT_KIND_LINE, v1::SEGMENT_KIND_ARC, v1::SEGMENT_KIND_LINE,
                          v1::SEGMENT_KIND_ARC, v1::SEGMENT_KIND_LINE));
  // Each quarter of radius r saves (2 - pi / 2) r.
  EXPECT_NEAR(route.length(), 12.0 - (2.0 - std::numbers::pi / 2) * 3.0, 1e-13);
}

TEST(PlanWaypointsPipelineTest, AReversalButForARoundingStops) {
  const v1::Route route =
      PlannedRoute(std::string(kWaypointAgent) +
                   "waypoints { x: 0 x: 100 x: 100 x: 0 y: 0 y: 0 y: 1e-12 y: 0 } radius: 1");
  EXPECT_EQ(route.outcome(), v1::OUTCOME_COMPLETE);
  EXPECT_THAT(route.corners().kind(), ElementsAre(v1::CORNER_KIND_STOP));
  EXPECT_THAT(route.corners().reason(), ElementsAre(v1::CORNER_REASON_HAIRPIN));
  EXPECT_NEAR(route.length(), 200.0, 1e-10);
  EXPECT_TRUE(std::isfinite(route.duration_s()));
}

TEST(PlanWaypointsPipelineTest, AHalfTurnIsTurnedInPlace) {
  const v1::Route route = PlannedRoute(
      "agent { limits { max_speed: 6 max_acceleration: 3 max_braking: 4 max_angular_speed: 2 } "
      "manners { turn_before_move: true } }"
      "waypoints { x: 0 x: 5 x: 1 y: 0 y: 0 y: 0 } radius: 1");
  EXPECT_THAT(route.segments().kind(),
              ElementsAre(v1::SEGMENT_KIND_LINE, v1::SEGMENT_KIND_TURN, v1::SEGMENT_KIND_LINE));
  EXPECT_NEAR(std::abs(route.segments().turn_angle_rad(1)), std::numbers::pi, 1e-15);
  double turning_s = 0.0;
  for (int i = 0; i < route.phases().kind_size(); ++i) {
    if (route.phases().kind(i) == v1::PHASE_KIND_TURN) turning_s += route.phases().duration_s(i);
  }
  EXPECT_NEAR(turning_s, std::numbers::pi / 2, 1e-14);
}

TEST(PlanWaypointsPipelineTest, ShortMovesTakeFiniteTimes) {
  for (const double distance : {1e-6, 0.0008}) {
    v1::PlanWaypointsRequest request =
        FromText<v1::PlanWaypointsRequest>(std::string(kWaypointAgent) + "radius: 1");
    for (const double x : {0.0, distance}) {
      request.mutable_waypoints()->add_x(x);
      request.mutable_waypoints()->add_y(0.0);
    }
    const v1::Route route =
        testing::Succeed<v1::PlanWaypointsResponse>(AnswerPlanWaypoints, request).route();
    // Peak speed v: v^2 (1/6 + 1/8) = distance; time v (1/3 + 1/4).
    const double peak = std::sqrt(distance / (1.0 / 6.0 + 1.0 / 8.0));
    EXPECT_NEAR(route.duration_s(), peak * (1.0 / 3.0 + 1.0 / 4.0), 1e-12 * peak);
  }
}

TEST(PlanWaypointsPipelineTest, TooFastToStopSaysByHowMuch) {
  const v1::Route route = PlannedRoute(
      "agent { limits { max_speed: 6 max_acceleration: 2 max_braking: 2 } } waypoints { x: 0 x: 2 "
      "y: 0 y: 0 }"
      "motion { velocity { x: 4 } }");
  EXPECT_EQ(route.outcome(), v1::OUTCOME_CANNOT_STOP);
  EXPECT_DOUBLE_EQ(route.braking().available_distance(), 2.0);
  EXPECT_DOUBLE_EQ(route.braking().stop_distance(), 4.0);
  EXPECT_DOUBLE_EQ(route.braking().overrun(), 2.0);
  EXPECT_NEAR(route.braking().max_start_speed(), std::sqrt(8.0), 1e-14);
}

TEST(PlanWaypointsPipelineTest, StopsSayWhy) {
  EXPECT_THAT(PlannedRoute(std::string(kWaypointAgent) + kStep).corners().reason(),
              Each(v1::CORNER_REASON_NOT_REQUESTED));
  const std::string minimum =
      "agent { limits { max_speed: 6 max_acceleration: 3 max_braking: 4 } body { min_turn_radius: "
      "%R% } }";
  const auto with_minimum = [&](const char* radius) {
    return std::string(minimum).replace(minimum.find("%R%"), 3, radius) + kStep;
  };
  EXPECT_THAT(PlannedRoute(with_minimum("2") + "radius: 1").corners().reason(),
              Each(v1::CORNER_REASON_BELOW_MIN_RADIUS));
  EXPECT_THAT(PlannedRoute(with_minimum("5") + "radius: 6").corners().reason(),
              Each(v1::CORNER_REASON_TOO_SHORT));
  // Each alone fits the line between them, both do not: one stops, the first of two that are alike.
  EXPECT_THAT(PlannedRoute(with_minimum("3") + "radius: 3").corners().kind(),
              ElementsAre(v1::CORNER_KIND_STOP, v1::CORNER_KIND_ROUNDED));
}

TEST(PlanWaypointsPipelineTest, AStopWithoutTurningInPlaceNamesItsCorner) {
  const v1::Route route = PlannedRoute(
      "agent { limits { max_speed: 6 max_acceleration: 3 max_braking: 4 } body { min_turn_radius: "
      "2 can_turn_in_place: false } }" +
      std::string(kStep) + "radius: 2 radius: 1");
  EXPECT_EQ(route.outcome(), v1::OUTCOME_NEEDS_MOTION_PLANNING);
  EXPECT_EQ(route.blocked().corner_index(), 1u);
  EXPECT_EQ(route.blocked().portal_index(), 2u);
  EXPECT_EQ(route.blocked().reason(), v1::CORNER_REASON_BELOW_MIN_RADIUS);
  EXPECT_EQ(route.segments().kind_size(), 0);
}

TEST(PlanWaypointsPipelineTest, ALoopEndsWhereItBegins) {
  const v1::Route route =
      PlannedRoute(std::string(kWaypointAgent) +
                   "waypoints { x: 0 x: 4 x: 4 x: 0 y: 0 y: 0 y: 4 y: 4 } radius: 1 "
                   "closed: true sampling { count: 2 }");
  EXPECT_THAT(route.corners().radius(), ElementsAre(1.0, 1.0, 1.0, 1.0));
  EXPECT_NEAR(route.length(), 8.0 + 2.0 * std::numbers::pi, 1e-13);
  EXPECT_NEAR(route.samples().position().x(0), route.samples().position().x(1), 1e-14);
  EXPECT_NEAR(route.samples().position().y(0), route.samples().position().y(1), 1e-14);
}

TEST(PlanWaypointsPipelineTest, YUpTurnsTheOtherAxes) {
  const v1::Route route =
      PlannedRoute(std::string(kWaypointAgent) +
                   "frame { up_axis: UP_AXIS_Y } waypoints { x: 0 x: 4 x: 4 z: 0 z: 0 "
                   "z: 4 y: 1 y: 2 y: 3 } radius: 1 sampling { count: 3 }");
  EXPECT_THAT(route.corners().turn_angle_rad(),
              ElementsAre(DoubleNear(std::numbers::pi / 2, 1e-15)));
  EXPECT_THAT(route.corners().position().y(), ElementsAre(2.0));
  EXPECT_THAT(route.samples().position().y(), ElementsAre(1.0, DoubleNear(2.0, 1e-9), 3.0));
}

TEST(PlanWaypointsPipelineTest, TheContainmentDecidesRadii) {
  // A pillar [6, 7] x [3, 4] in a room of 10 by 10: arcs at (9, 1) meet it from radius 4 + 2
  // sqrt(2) on.
  constexpr char kRoom[] =
      "containment { vertex_count: 4 vertex_count: 4 vertex_count: 4 vertex_count: 4 vertices {"
      " x: 0 x: 10 x: 10 x: 0 y: 0 y: 0 y: 3 y: 3  x: 0 x: 6 x: 6 x: 0 y: 3 y: 3 y: 4 y: 4"
      " x: 7 x: 10 x: 10 x: 7 y: 3 y: 3 y: 4 y: 4  x: 0 x: 10 x: 10 x: 0 y: 4 y: 4 y: 10 y: 10 } }";
  const std::string way =
      std::string(kWaypointAgent) + kRoom + "waypoints { x: 0 x: 9 x: 9 y: 1 y: 1 y: 10 } ";
  EXPECT_NEAR(PlannedRoute(way + "radius: 8").corners().radius(0), 4.0 + 2.0 * std::numbers::sqrt2,
              1e-12);
  EXPECT_DOUBLE_EQ(PlannedRoute(way + "radius: 6").corners().radius(0), 6.0);
  EXPECT_THAT(
      WaypointFaults(std::string(kWaypointAgent) + kRoom + "waypoints { x: 5 x: 8 y: 3.5 y: 3.5 }"),
      Contains("waypoints"));
  EXPECT_THAT(WaypointFaults(std::string(kWaypointAgent) + kRoom + "waypoints { x: 6.5 y: 3.5 }"),
              Contains("waypoints"));
}

TEST(PlanWaypointsPipelineTest, EqualRequestsGiveEqualBytes) {
  const auto request = FromText<v1::PlanWaypointsRequest>(std::string(kWaypointAgent) + kStep +
                                                          "radius: inf sampling { spacing: 0.1 }");
  const auto once =
      testing::Succeed<v1::PlanWaypointsResponse>(AnswerPlanWaypoints, request).SerializeAsString();
  PlannedRoute(std::string(kWaypointAgent) + "waypoints { x: 0 x: 9 y: 1 y: 1 }");
  EXPECT_EQ(
      testing::Succeed<v1::PlanWaypointsResponse>(AnswerPlanWaypoints, request).SerializeAsString(),
      once);
}

TEST(PlanWaypointsPipelineTest, NoRadiusIsLargerThanTheAgentsLargest) {
  const v1::Route route = PlannedRoute(
      "agent { limits { max_speed: 6 max_acceleration: 3 max_braking: 4 } body { max_turn_radius: "
      "1.5 } } radius: 1 radius: inf " +
      std::string(kStep));
  EXPECT_THAT(route.corners().radius(), ElementsAre(1.0, 1.5));
}

TEST(PlanWaypointsPipelineTest, AllViolationsAreToldAtOnce) {
  EXPECT_THAT(
      WaypointFaults(std::string(kWaypointAgent) +
                     "waypoints { x: 0 x: nan x: 4 x: 8 y: 0 y: 0 y: 4 y: 4 } "
                     "radius: -1 radius: nan radius: 2"),
      ::testing::UnorderedElementsAre("waypoints.x[1]", "radius", "radius[0]", "radius[1]"));
  EXPECT_THAT(WaypointFaults(std::string(kWaypointAgent) + "radius: -1"),
              ::testing::UnorderedElementsAre("waypoints", "radius[0]"));
}

}  // namespace
}  // namespace arclane
