// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/corridor_planner.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "server/planning/route/route_assembly.h"
#include "server/planning/route/route_surface.h"
#include "server/planning/route/route_verification.h"
#include "server/planning/route/segment.h"
#include "tests/support/reference_data.h"
#include "tests/unit/planning/corridor/corridor_records.h"

namespace arclane {
namespace {

using testing::CorridorSource;
using testing::FromDetourRecord;
using testing::ReadRecords;

// Squares of an L-shaped corridor; the inner corner is at (4, 2).
//
//      +--+
//      |G |   (4..6, 2..6)
//   +--+--+
//   |S  | |   (0..4, 0..2) and (4..6, 0..2)
//   +---+-+
struct LShape {
  std::vector<double> x = {0, 4, 4, 0, 4, 6, 6, 4, 4, 6, 6, 4};
  std::vector<double> y = {0, 0, 2, 2, 0, 0, 2, 2, 2, 2, 6, 6};
  std::vector<double> z = {0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 5, 5};
  std::vector<uint32_t> count = {4, 4, 4};

  CorridorPlanRequest Request() const {
    CorridorPlanRequest request;
    request.corridor.has_polygons = true;
    request.corridor.polygons.vertices = {x, y, z};
    request.corridor.polygons.vertex_count = count;
    request.corridor.start = {1, 1};
    request.corridor.goal = {5, 5};
    request.agent.limits.max_speed = 3.0;
    request.agent.limits.max_acceleration = 2.0;
    request.agent.limits.max_braking = 2.0;
    request.agent.max_angular_speed = 2.0;
    return request;
  }
};

struct Planned {
  PlanStatus status;
  RoutePlan plan;
  Violations violations;
};

Planned Plan(const CorridorPlanRequest& request) {
  CorridorPlanner planner;
  Planned planned;
  planned.status = planner.Plan(
      request, [] { return false; }, planned.plan, planned.violations);
  return planned;
}

TEST(CorridorPlannerTest, StopsAndTurnsAtTheInnerCorner) {
  const LShape shape;
  const Planned planned = Plan(shape.Request());
  ASSERT_EQ(planned.status, PlanStatus::kOk) << planned.violations.ToString();
  const RoutePlan& plan = planned.plan;
  EXPECT_EQ(plan.outcome, RouteOutcome::kComplete);
  EXPECT_NEAR(plan.route.length, 2.0 * std::hypot(3.0, 1.0), 1e-12);
  EXPECT_EQ(plan.shortest_length, plan.route.length);
  ASSERT_EQ(plan.corners.size(), 1u);
  EXPECT_EQ(plan.corners[0].position, (Vec2{4, 2}));
  EXPECT_EQ(plan.corners[0].action, CornerAction::kStop);
  EXPECT_EQ(plan.corners[0].cause, CornerCause::kNotRequested);
  EXPECT_GT(plan.corners[0].turn_angle, 0.0);
  ASSERT_EQ(plan.route.segments.size(), 3u);
  EXPECT_EQ(plan.route.segments[1].kind, SegmentKind::kTurn);
  // Each half is a trapezoid: 3 * 3 / 2 = 4.5 of the 3.16 would be needed to reach full speed.
  EXPECT_NEAR(plan.route.duration_s, 2.0 * 2.0 * std::sqrt(std::hypot(3.0, 1.0) / 2.0), 1e-12);
  EXPECT_LE(plan.largest_deviation, plan.deviation_tolerance);
}

// Two floors above one another, and a link from the upper to the lower one.
struct StackedFloors {
  std::vector<double> x = {0, 10, 10, 0, 5, 7, 0, 10, 10, 0};
  std::vector<double> y = {0, 0, 10, 10, 5, 6, 0, 0, 10, 10};
  std::vector<double> z = {5, 5, 5, 5, 5, 0, 0, 0, 0, 0};
  std::vector<uint32_t> count = {4, 2, 4};
  Vec2 start = {1, 5};
  Vec2 goal = {9, 9};

  CorridorPlanRequest Request(std::optional<double> radius) const {
    CorridorPlanRequest request = LShape().Request();
    request.corridor.polygons.vertices = {x, y, z};
    request.corridor.polygons.vertex_count = count;
    request.corridor.start = start;
    request.corridor.goal = goal;
    request.agent.max_turn_radius = radius;
    return request;
  }
};

// Every segment begins where the one before it ends, and turns stand where directions differ.
void ExpectJoined(const RoutePlan& plan, const std::string& what) {
  const std::vector<Segment>& segments = plan.route.segments;
  ASSERT_FALSE(segments.empty()) << what;
  EXPECT_EQ(segments.front().start, plan.route.start) << what;
  EXPECT_EQ(segments.back().end, plan.route.end) << what;
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    EXPECT_LE(Distance(PointAt(segment, segment.length), segment.end), 1e-12) << what << " " << i;
    if (i + 1 == segments.size()) break;
    EXPECT_LE(Distance(segment.end, segments[i + 1].start), 1e-12) << what << " " << i;
    const double kink = WrapAngle(segments[i + 1].heading - HeadingAt(segment, segment.length) -
                                  (segment.kind == SegmentKind::kTurn ? segment.turn_angle : 0.0));
    EXPECT_LE(std::abs(kink), 1e-9) << what << " " << i;
  }
}

TEST(CorridorPlannerTest, LinksAreDrivenStraightWhereFloorsOverlap) {
  StackedFloors floors;
  for (const Vec2 exit : {Vec2{7, 6}, Vec2{5, 9}, Vec2{1, 5.5}}) {
    floors.x[5] = exit.x;
    floors.y[5] = exit.y;
    for (const std::optional<double> radius :
         {std::optional<double>(), std::optional(0.5), std::optional(2.0), std::optional(1e9)}) {
      const std::string what = "radius " + std::to_string(radius.value_or(0.0)) + " exit " +
                               std::to_string(exit.x) + " " + std::to_string(exit.y);
      const Planned planned = Plan(floors.Request(radius));
      ASSERT_EQ(planned.status, PlanStatus::kOk) << what << planned.violations.ToString();
      const RoutePlan& plan = planned.plan;
      ExpectJoined(plan, what);
      const double length =
          Distance(floors.start, {5, 5}) + Distance({5, 5}, exit) + Distance(exit, floors.goal);
      EXPECT_NEAR(plan.route.length, length, 1e-12) << what;
      ASSERT_EQ(plan.corners.size(), 2u) << what;
      EXPECT_EQ(plan.corners[0].position, (Vec2{5, 5})) << what;
      EXPECT_EQ(plan.corners[1].position, exit) << what;
      for (const RouteCorner& corner : plan.corners) {
        EXPECT_EQ(corner.action, CornerAction::kStop) << what;
        EXPECT_EQ(corner.cause, CornerCause::kLink) << what;
      }
      ASSERT_EQ(plan.route.segments.size(), 5u) << what;
      EXPECT_EQ(plan.route.segments[2].kind, SegmentKind::kLink) << what;
    }
  }
}

// Corners on both floors are rounded as they are without the link.
TEST(CorridorPlannerTest, CornersBesideLinksAreRounded) {
  StackedFloors floors;
  //   4..6 is one square of the upper floor, 0..4 the next; a link in the latter; the same below.
  floors.x = {4, 6, 6, 4, 4, 6, 6, 4, 0, 4, 4, 0, 3, 1, 0, 4, 4, 0, 4, 6, 6, 4, 4, 6, 6, 4};
  floors.y = {2, 2, 6, 6, 0, 0, 2, 2, 0, 0, 2, 2, 1, 1, 0, 0, 2, 2, 0, 0, 2, 2, 2, 2, 6, 6};
  floors.z.assign(26, 3.0);
  std::fill(floors.z.begin() + 13, floors.z.end(), 0.0);
  floors.count = {4, 4, 4, 2, 4, 4, 4};
  floors.start = floors.goal = {5, 5};
  CorridorPlanRequest request = floors.Request(1.0);
  request.agent.max_extra_length = 1.0;
  const Planned planned = Plan(request);
  ASSERT_EQ(planned.status, PlanStatus::kOk) << planned.violations.ToString();
  const RoutePlan& plan = planned.plan;
  ExpectJoined(plan, "");
  EXPECT_LE(plan.largest_deviation, plan.deviation_tolerance);
  ASSERT_EQ(plan.corners.size(), 4u);
  EXPECT_EQ(plan.corners[0].action, CornerAction::kRounded);
  EXPECT_EQ(plan.corners[1].cause, CornerCause::kLink);
  EXPECT_EQ(plan.corners[2].cause, CornerCause::kLink);
  EXPECT_EQ(plan.corners[3].action, CornerAction::kRounded);
  EXPECT_EQ(plan.corners[3].portal_index, 5u);
  for (size_t i = 0; i + 1 < plan.corners.size(); ++i) {
    EXPECT_LT(plan.corners[i].distance, plan.corners[i + 1].distance);
  }
  EXPECT_EQ(std::count_if(plan.route.segments.begin(), plan.route.segments.end(),
                          [](const Segment& s) { return s.kind == SegmentKind::kLink; }),
            1);
}

// Real corridors over off-mesh links: rounded or not, every link is a segment of its own.
TEST(ReferenceLinksTest, EveryLinkIsASegmentWhateverTheRadius) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  for (const nlohmann::json& record : ReadRecords(dir + "/detour/corridors_offmesh.jsonl.gz")) {
    const CorridorSource source = FromDetourRecord(record);
    ptrdiff_t links = 0;
    for (const nlohmann::json& polygon : record.at("polygons")) links += polygon.size() == 2;
    for (const double radius : {0.0, 0.5, 2.0}) {
      const std::string what =
          record.at("id").get<std::string>() + " radius " + std::to_string(radius);
      CorridorPlanRequest request = LShape().Request();
      request.corridor = source.input(true, false);
      request.corridor.up_axis = UpAxis::kY;
      request.corridor.precision = CoordinatePrecision::Float32();
      request.corridor.max_end_shift = 0.1;
      if (radius > 0.0) request.agent.max_turn_radius = radius;
      const Planned planned = Plan(request);
      ASSERT_EQ(planned.status, PlanStatus::kOk) << what << planned.violations.ToString();
      ExpectJoined(planned.plan, what);
      const std::vector<Segment>& segments = planned.plan.route.segments;
      EXPECT_EQ(std::count_if(segments.begin(), segments.end(),
                              [](const Segment& s) { return s.kind == SegmentKind::kLink; }),
                links)
          << what;
      EXPECT_GE(planned.plan.route.length, planned.plan.shortest_length * (1.0 - 1e-6)) << what;
    }
  }
}

TEST(CorridorPlannerTest, CorridorsMayBeginAndEndOnLinks) {
  StackedFloors floors;
  floors.x = {1, 5, 0, 10, 10, 0, 8, 9};
  floors.y = {5, 5, 0, 0, 10, 10, 2, 9};
  floors.z = {5, 0, 0, 0, 0, 0, 0, 5};
  floors.count = {2, 4, 2};
  for (const std::optional<double> radius : {std::optional<double>(), std::optional(2.0)}) {
    const Planned planned = Plan(floors.Request(radius));
    ASSERT_EQ(planned.status, PlanStatus::kOk) << planned.violations.ToString();
    ExpectJoined(planned.plan, "");
    const std::vector<Segment>& segments = planned.plan.route.segments;
    ASSERT_EQ(segments.size(), 5u);
    EXPECT_EQ(segments[0].kind, SegmentKind::kLink);
    EXPECT_EQ(segments[2].kind, SegmentKind::kLine);
    EXPECT_EQ(segments[4].kind, SegmentKind::kLink);
  }
}

// A route that leaves out the link is refused, however well it lies inside the floors.
TEST(RouteVerifierTest, RefusesARouteThatSkipsALink) {
  const StackedFloors floors;
  CorridorPlanner planner;
  RoutePlan plan;
  Violations violations;
  ASSERT_EQ(planner.Plan(
                floors.Request(2.0), [] { return false; }, plan, violations),
            PlanStatus::kOk);
  RouteVerifier verifier;
  std::vector<PortalCrossing> crossings;
  const double tolerance = plan.deviation_tolerance;
  EXPECT_LE(
      verifier.Verify(planner.corridor(), plan.route.segments, tolerance, &crossings).distance,
      tolerance);
  // Straight on; and through the middle of the link.
  for (const std::vector<Vec2>& points :
       {std::vector<Vec2>{floors.start, floors.goal},
        std::vector<Vec2>{floors.start, Vec2{6, 5.5}, floors.goal}}) {
    std::vector<Segment> wrong;
    for (size_t i = 0; i + 1 < points.size(); ++i) {
      wrong.push_back(MakeLine(SegmentKind::kLine, points[i], points[i + 1]));
    }
    LayOutSegments(wrong);
    EXPECT_GT(verifier.Verify(planner.corridor(), wrong, tolerance, &crossings).distance, 0.1);
  }
}

// On a plane that rises by 1 along y every point of the route stands on it, on arcs as on lines.
TEST(CorridorPlannerTest, ArcsKeepToTheSurface) {
  LShape shape;
  shape.z = shape.y;
  for (const double radius : {0.5, 2.0, 5.0}) {
    CorridorPlanRequest request = shape.Request();
    request.agent.max_turn_radius = radius;
    request.agent.max_extra_length = 1.0;
    const Planned planned = Plan(request);
    ASSERT_EQ(planned.status, PlanStatus::kOk) << planned.violations.ToString();
    const Route& route = planned.plan.route;
    ASSERT_TRUE(std::any_of(route.segments.begin(), route.segments.end(),
                            [](const Segment& s) { return s.kind == SegmentKind::kArc; }));
    double surface = 0.0;
    Vec2 before = route.start;
    double below = 1.0;
    size_t cursor = 0;
    constexpr int kSteps = 2000;
    for (int i = 0; i <= kSteps; ++i) {
      const double s = route.length * i / kSteps;
      size_t k = 0;
      while (k + 1 < route.segments.size() &&
             route.segments[k].start_distance + route.segments[k].length < s) {
        ++k;
      }
      const Vec2 at = PointAt(route.segments[k], s - route.segments[k].start_distance);
      const double height = SampleSurface(route.surface, s, &cursor).height;
      EXPECT_NEAR(height, at.y, kSurfaceSag * std::max(1.0, radius)) << radius << " at " << s;
      surface += std::hypot(Distance(before, at), at.y - below);
      before = at;
      below = at.y;
    }
    EXPECT_NEAR(route.surface_length(), surface, 1e-4 * surface);
  }
}

// Round a vertex that the corridor winds about, and through a plane of boxes: rounding alone is not
// to be trusted there, and where its proof fails the answer is a route with less of it.
TEST(CorridorPlannerTest, WhatCannotBeProvenIsRoundedLess) {
  LShape fan;
  fan.x = {3.04, 3.91, 2.76, 2.27, 3.04, 2.76, 2.27, 3.23, 3.04,
           3.23, 3.91, 3.04, 2.27, 3.23, 3.04, 3.91, 3.23, 3.04};
  fan.y = {3.24, 3.08, 3.92, 3.12, 3.24, 3.92, 3.12, 2.24, 3.24,
           2.24, 3.08, 3.24, 3.12, 2.24, 3.24, 3.08, 2.24, 3.24};
  fan.z.clear();
  fan.count = {3, 3, 3, 3, 3, 3};
  CorridorPlanRequest request = fan.Request();
  request.corridor.start = {3.58, 3.14};
  request.corridor.goal = {3.44, 2.73};
  request.corridor.max_end_shift = 0.01;
  request.agent.max_turn_radius = 1.0;
  request.agent.limits.max_speed = 6.0;
  request.agent.limits.max_acceleration = 0.5;
  request.agent.limits.max_braking = 4.0;
  const Planned round_a_vertex = Plan(request);
  ASSERT_EQ(round_a_vertex.status, PlanStatus::kOk)
      << round_a_vertex.violations.ToString() << round_a_vertex.plan.largest_deviation;
  EXPECT_LE(round_a_vertex.plan.largest_deviation, round_a_vertex.plan.deviation_tolerance);
  EXPECT_GT(round_a_vertex.plan.route.duration_s, 0.0);

  LShape boxes;
  boxes.x = {9, 10, 10, 9,  1,  9, 9, 1,  0,  1, 1, 0,  0,  1, 1, 0, 0, 1, 1, 0, 1, 9,
             9, 1,  9,  10, 10, 9, 9, 10, 10, 9, 9, 10, 10, 9, 1, 9, 9, 1, 0, 1, 1, 0};
  boxes.y = {2.2, 2.2, 3.2, 3.2, 2.2, 2.2, 3.2, 3.2, 2.2, 2.2, 3.2, 3.2, 2.1, 2.1, 2.2,
             2.2, 1.1, 1.1, 2.1, 2.1, 1.1, 1.1, 2.1, 2.1, 1.1, 1.1, 2.1, 2.1, 1,   1,
             1.1, 1.1, 0,   0,   1,   1,   0,   0,   1,   1,   0,   0,   1,   1};
  boxes.z.clear();
  boxes.count = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
  request = boxes.Request();
  request.corridor.start = {9.5, 2.5};
  request.corridor.goal = {0.0, 1.0};
  request.agent.max_turn_radius = 0.3;
  const Planned through_boxes = Plan(request);
  ASSERT_EQ(through_boxes.status, PlanStatus::kOk) << through_boxes.plan.largest_deviation;
  EXPECT_LE(through_boxes.plan.largest_deviation, through_boxes.plan.deviation_tolerance);
}

TEST(CorridorPlannerTest, HeightsComeFromThePortals) {
  const LShape shape;
  const Planned planned = Plan(shape.Request());
  ASSERT_EQ(planned.plan.route.surface.size(), 4u);
  EXPECT_EQ(planned.plan.route.surface[1].height, 0.0);
  EXPECT_NEAR(planned.plan.route.surface[3].height, 4.0, 1.1);
  EXPECT_GT(planned.plan.route.surface_length(), planned.plan.route.length);
}

TEST(CorridorPlannerTest, AKinkBelowTheCornerAngleIsDrivenThrough) {
  const LShape shape;
  CorridorPlanRequest request = shape.Request();
  request.agent.corner_angle_min = 3.0;
  const Planned planned = Plan(request);
  ASSERT_EQ(planned.plan.corners.size(), 1u);
  EXPECT_EQ(planned.plan.corners[0].action, CornerAction::kPassed);
  EXPECT_EQ(planned.plan.route.segments.size(), 2u);
}

TEST(CorridorPlannerTest, AnAgentThatCannotTurnInPlaceIsToldWhere) {
  const LShape shape;
  CorridorPlanRequest request = shape.Request();
  request.agent.can_turn_in_place = false;
  const Planned planned = Plan(request);
  EXPECT_EQ(planned.plan.outcome, RouteOutcome::kNeedsMotionPlanning);
  ASSERT_TRUE(planned.plan.undrivable);
  EXPECT_EQ(planned.plan.undrivable->corner, 0u);
  EXPECT_TRUE(planned.plan.route.segments.empty());
}

TEST(CorridorPlannerTest, StartHeadingCostsATurnOnlyWhenTurningBeforeMoving) {
  const LShape shape;
  CorridorPlanRequest request = shape.Request();
  const double straight = Plan(request).plan.route.duration_s;
  request.motion.heading = std::numbers::pi;
  EXPECT_EQ(Plan(request).plan.route.duration_s, straight);
  request.agent.turn_before_move = true;
  const RoutePlan turning = Plan(request).plan;
  ASSERT_EQ(turning.route.segments.size(), 4u);
  EXPECT_EQ(turning.route.segments[0].kind, SegmentKind::kTurn);
  const double first = std::numbers::pi - std::atan2(1.0, 3.0);
  const double second = turning.corners[0].turn_angle;
  EXPECT_NEAR(turning.route.duration_s, straight + (first + second) / 2.0, 1e-12);
}

TEST(CorridorPlannerTest, ABrakingPathKnowsWhetherItStaysInside) {
  const LShape shape;
  CorridorPlanRequest request = shape.Request();
  request.motion.velocity = {0.0, -1.0};
  RoutePlan plan = Plan(request).plan;
  EXPECT_EQ(plan.outcome, RouteOutcome::kStartOffRoute);
  EXPECT_NEAR(plan.braking->stop_distance, 0.25, 1e-12);
  EXPECT_TRUE(plan.braking->inside_corridor);
  request.motion.velocity = {0.0, -3.0};
  plan = Plan(request).plan;
  EXPECT_NEAR(plan.braking->rest_position.y, 1.0 - 2.25, 1e-12);
  EXPECT_FALSE(plan.braking->inside_corridor);
  // Along the first line and on: over the portals, into the wall behind the corner.
  request.motion.velocity = Vec2{3.0, 1.0} * (4.0 / std::hypot(3.0, 1.0));
  plan = Plan(request).plan;
  EXPECT_EQ(plan.outcome, RouteOutcome::kCannotStop);
  EXPECT_NEAR(plan.braking->overrun, 4.0 - std::hypot(3.0, 1.0), 1e-12);
}

TEST(CorridorPlannerTest, AMovingAgentKeepsItsFirstLineAndRoundsTheCorner) {
  const LShape shape;
  CorridorPlanRequest request = shape.Request();
  request.agent.max_turn_radius = 0.5;
  request.agent.limits.max_lateral_acceleration = 2.0;
  request.agent.max_extra_length = 0.2;
  const Vec2 direction = Vec2{3.0, 1.0} * (1.0 / std::hypot(3.0, 1.0));
  for (const double speed : {0.5, 1.5}) {
    SCOPED_TRACE(speed);
    request.motion.velocity = direction * speed;
    const Planned planned = Plan(request);
    ASSERT_EQ(planned.status, PlanStatus::kOk);
    const RoutePlan& plan = planned.plan;
    EXPECT_EQ(plan.outcome, RouteOutcome::kComplete);
    ASSERT_EQ(plan.corners.size(), 1u);
    EXPECT_EQ(plan.corners[0].action, CornerAction::kRounded);
    ASSERT_GE(plan.route.segments.size(), 3u);
    // As far as the direction of a velocity is known.
    EXPECT_NEAR(TurnAngle(UnitVector(plan.route.segments[0].heading), direction), 0.0,
                kStartDirectionRoundoff);
    // The inner corner is passed, within that, before the arc begins.
    EXPECT_GE(plan.route.segments[0].length, 0.99 * std::hypot(3.0, 1.0));
    for (const Segment& segment : plan.route.segments) {
      EXPECT_NE(segment.kind, SegmentKind::kTurn);
    }
  }
}

// The inner corner of the L is passed at the clearance by an arc; where the start is too near to a
// wall the stretch is told by its distance along the rounded route.
TEST(CorridorPlannerTest, ShortfallsAreThoseOfTheRoundedRoute) {
  const LShape shape;
  CorridorPlanRequest request = shape.Request();
  request.agent.max_turn_radius = 2.0;
  request.agent.max_extra_length = 0.3;
  request.agent.clearance = 0.6;
  EXPECT_TRUE(Plan(request).plan.shortfalls.empty());
  request.corridor.goal = {5.7, 5};
  const Planned planned = Plan(request);
  ASSERT_EQ(planned.status, PlanStatus::kOk);
  for (const RouteCorner& corner : planned.plan.corners) {
    EXPECT_NE(corner.action, CornerAction::kStop);
  }
  ASSERT_EQ(planned.plan.shortfalls.size(), 1u);
  const ClearanceShortfall& shortfall = planned.plan.shortfalls[0];
  EXPECT_NEAR(shortfall.end_distance, planned.plan.route.length, 1e-12);
  EXPECT_LT(shortfall.begin_distance, planned.plan.route.length);
  EXPECT_NEAR(shortfall.measured, 0.3, 1e-12);
}

TEST(CorridorPlannerTest, AMovingAgentWithoutRoomBehindTheCornerStopsThere) {
  const LShape shape;
  CorridorPlanRequest request = shape.Request();
  request.agent.max_turn_radius = 4.0;
  request.agent.min_turn_radius = 4.0;
  request.motion.velocity = Vec2{3.0, 1.0} * 0.3;
  const RoutePlan plan = Plan(request).plan;
  EXPECT_EQ(plan.outcome, RouteOutcome::kComplete);
  ASSERT_EQ(plan.corners.size(), 1u);
  EXPECT_EQ(plan.corners[0].action, CornerAction::kStop);
}

TEST(CorridorPlannerTest, StartEqualToGoalIsARouteWithoutLength) {
  const LShape shape;
  CorridorPlanRequest request = shape.Request();
  request.corridor.polygons.vertex_count = request.corridor.polygons.vertex_count.first(1);
  request.corridor.polygons.vertices = {
      std::span(shape.x).first(4), std::span(shape.y).first(4), {}};
  request.corridor.goal = request.corridor.start;
  const Planned planned = Plan(request);
  ASSERT_EQ(planned.status, PlanStatus::kOk) << planned.violations.ToString();
  EXPECT_EQ(planned.plan.route.length, 0.0);
  EXPECT_EQ(planned.plan.route.duration_s, 0.0);
  EXPECT_EQ(planned.plan.outcome, RouteOutcome::kComplete);
}

TEST(CorridorPlannerTest, PartialCorridorsSaySo) {
  const LShape shape;
  CorridorPlanRequest request = shape.Request();
  request.corridor_is_partial = true;
  EXPECT_EQ(Plan(request).plan.outcome, RouteOutcome::kPartial);
}

TEST(CorridorPlannerTest, TheStopSignalIsHeard) {
  const LShape shape;
  CorridorPlanner planner;
  RoutePlan plan;
  Violations violations;
  EXPECT_EQ(planner.Plan(
                shape.Request(), [] { return true; }, plan, violations),
            PlanStatus::kStopped);
}

// In the rounding and in the clearance the signal ends the plan as it does between stages.
TEST(CorridorPlannerTest, TheStopSignalIsHeardInsideTheStages) {
  const LShape shape;
  CorridorPlanner planner;
  CorridorPlanRequest request = shape.Request();
  request.agent.max_turn_radius = 0.5;
  request.agent.clearance = 0.1;
  int total = 0;
  const auto plan_until = [&](int last) {
    RoutePlan plan;
    Violations violations;
    total = 0;
    return planner.Plan(
        request, [&] { return ++total >= last; }, plan, violations);
  };
  EXPECT_EQ(plan_until(1'000'000), PlanStatus::kOk);
  const int looks = total;
  EXPECT_GE(looks, 6);
  for (int last = 1; last <= looks; ++last) {
    EXPECT_EQ(plan_until(last), PlanStatus::kStopped) << last;
    EXPECT_EQ(total, last);
  }
}

// Found by fuzzing: the second portal reaches through the third, so that no convex cell has both as
// edges.
TEST(CorridorPlannerTest, PortalsThatNoConvexCellJoinsAreNamed) {
  const std::vector<double> left_x = {1, 2.0001449584960938, 0, 4};
  const std::vector<double> left_y = {-0.5, 2.5, -0.5, 2.5};
  const std::vector<double> right_x = {1, 2, 3, 4};
  const std::vector<double> right_y = {-2.5, 0.5, -2.5, 0.5};
  CorridorPlanRequest request = LShape().Request();
  request.corridor.has_polygons = false;
  request.corridor.polygons = {};
  request.corridor.has_portals = true;
  request.corridor.portals.left = {left_x, left_y, {}};
  request.corridor.portals.right = {right_x, right_y, {}};
  request.corridor.start = {0, 0};
  request.corridor.goal = {5, 0};
  const Planned planned = Plan(request);
  EXPECT_EQ(planned.status, PlanStatus::kInvalid);
  ASSERT_FALSE(planned.violations.empty());
  EXPECT_EQ(planned.violations.kept()[0].field.substr(0, 8), "portals[");
}

// Thirteen portals turn about a vertex whose copies move back by four ulps of float32 each: which
// way the line turns round them would be chance.
TEST(CorridorPlannerTest, CopiesOfAVertexThatDriftBackAreNamed) {
  const double step = 4.0 * 0x1p-21;
  std::vector<double> left_x, left_y, right_x, right_y;
  for (int i = 0; i < 13; ++i) {
    left_x.push_back(2.0 - i * step);
    left_y.push_back(2.0);
    right_x.push_back(2.0 + 0.1 * i);
    right_y.push_back(0.0);
  }
  CorridorPlanRequest request = LShape().Request();
  request.corridor.precision = CoordinatePrecision::Float32();
  request.corridor.has_polygons = false;
  request.corridor.polygons = {};
  request.corridor.has_portals = true;
  request.corridor.portals.left = {left_x, left_y, {}};
  request.corridor.portals.right = {right_x, right_y, {}};
  request.corridor.start = {0, 1};
  request.corridor.goal = {4, 1};
  const Planned planned = Plan(request);
  EXPECT_EQ(planned.status, PlanStatus::kInvalid);
  ASSERT_FALSE(planned.violations.empty());
  // As many as the noise of four tolerances of six ulps each allows pass.
  EXPECT_EQ(planned.violations.kept()[0].field, "portals[7]");
  EXPECT_EQ(planned.violations.kept()[0].reason, ViolationReason::kNotConvex);
}

}  // namespace
}  // namespace arclane
