// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/round_corners.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/unit/planning/rounding/path_judge.h"
#include "tests/unit/planning/rounding/rounding_cases.h"

namespace arclane::testing {
namespace {

// An L of two legs, 2 wide, round the wall corner at (4, 2):
//
//            +--+  goal
//            |  |
//   +--------+  |
//   | start     |
//   +-----------+
RoundingCase Bend() {
  return MakeCase("bend", {0.5, 1.0}, {5.0, 8.0},
                  {{{0, 0}, {6, 0}, {6, 2}, {4, 2}, {0, 2}}, {{4, 2}, {6, 2}, {6, 9}, {4, 9}}},
                  {{{4, 2}, {6, 2}}});
}

AgentTurning Turning(double radius_max, double radius_min) {
  AgentTurning turning;
  turning.radius_max = radius_max;
  turning.radius_min = radius_min;
  return turning;
}

TEST(RoundCornersTest, OneBendIsRoundedAndContained) {
  const RoundingCase c = Bend();
  const DrivenPath path =
      RoundCorners(c.corridor, {c.taut, {}}, Turning(2.0, 0.1), ReferenceLimits(), {});
  EXPECT_EQ(path.stop_count, 0u);
  ASSERT_EQ(path.corners.size(), 1u);
  EXPECT_EQ(path.corners[0].kind, CornerKind::kRounded);
  EXPECT_GT(path.corners[0].radius, 1.5);
  EXPECT_LT(path.time_s, path.time_stopping_s);
  EXPECT_EQ(JudgeContainment(c.corridor, path.elements, 1e-9), "");
  EXPECT_EQ(JudgeSmoothness(c.corridor.start, c.corridor.goal, path.elements, 0.1, 1e-12, 1e-9),
            "");
}

TEST(RoundCornersTest, StraightCorridorIsOneLine) {
  const RoundingCase c = MakeCase(
      "straight", {0.5, 0.5}, {1.5, 0.5},
      {{{0, 0}, {1, 0}, {1, 1}, {0, 1}}, {{1, 0}, {2, 0}, {2, 1}, {1, 1}}}, {{{1, 1}, {1, 0}}});
  const DrivenPath path =
      RoundCorners(c.corridor, {c.taut, {}}, Turning(2.0, 0.1), ReferenceLimits(), {});
  ASSERT_EQ(path.elements.size(), 1u);
  EXPECT_EQ(path.elements[0].kind, PathElementKind::kLine);
  EXPECT_NEAR(path.length, 1.0, 1e-15);
  EXPECT_TRUE(path.corners.empty());
}

TEST(RoundCornersTest, StartOnGoalIsAnEmptyPath) {
  RoundingCase c = Bend();
  c.corridor.goal = c.corridor.start;
  const std::vector<Vec2> taut = {c.corridor.start, c.corridor.start};
  const DrivenPath path =
      RoundCorners(c.corridor, {taut, {}}, Turning(2.0, 0.1), ReferenceLimits(), {});
  EXPECT_TRUE(path.elements.empty());
  EXPECT_EQ(path.length, 0.0);
}

// A dead straight slot of no width to either side of the corner: no arc fits.
TEST(RoundCornersTest, NoRoomStopsAndNeedsMotionPlanningWithoutTurningInPlace) {
  const RoundingCase c = MakeCase(
      "slot", {0, 0}, {5, 5},
      {{{0, 0}, {5, 0}, {5, 1e-6}, {0, 1e-6}}, {{5, 0}, {5, 5}, {4.999999, 5}, {4.999999, 0}}},
      {{{4.999999, 1e-6}, {5, 1e-6}}});
  AgentTurning turning = Turning(1.0, 0.25);
  const DrivenPath stopped = RoundCorners(c.corridor, {c.taut, {}}, turning, ReferenceLimits(), {});
  EXPECT_EQ(stopped.status, RoundingStatus::kOk);
  EXPECT_GE(stopped.stop_count, 1u);
  bool told = false;
  for (const CornerOutcome& corner : stopped.corners) {
    if (corner.kind != CornerKind::kStopped) continue;
    told = true;
    EXPECT_EQ(corner.reason, StopReason::kNoRoom);
  }
  EXPECT_TRUE(told);
  turning.can_turn_in_place = false;
  const DrivenPath refused = RoundCorners(c.corridor, {c.taut, {}}, turning, ReferenceLimits(), {});
  EXPECT_EQ(refused.status, RoundingStatus::kNeedsMotionPlanning);
}

TEST(RoundCornersTest, MinimumRadiusThatDoesNotFitIsNamed) {
  const RoundingCase c = Bend();
  const DrivenPath path =
      RoundCorners(c.corridor, {c.taut, {}}, Turning(50.0, 50.0), ReferenceLimits(), {});
  ASSERT_EQ(path.corners.size(), 1u);
  ASSERT_EQ(path.corners[0].kind, CornerKind::kStopped);
  EXPECT_EQ(path.corners[0].reason, StopReason::kMinimumRadius);
  EXPECT_GT(path.corners[0].radius_that_fits, 0.0);
  EXPECT_LT(path.corners[0].radius_that_fits, 50.0);
}

TEST(RoundCornersTest, ClearanceHoldsForArcs) {
  const RoundingCase c = Bend();
  // A taut path that keeps 0.5 from the wall corner.
  const std::vector<Vec2> taut = {c.corridor.start, {4.5, 1.5}, c.corridor.goal};
  AgentTurning turning = Turning(2.0, 0.1);
  turning.clearance = 0.5;
  const DrivenPath path = RoundCorners(c.corridor, {taut, {}}, turning, ReferenceLimits(), {});
  EXPECT_EQ(path.stop_count, 0u);
  EXPECT_GE(JudgeDistance(path.elements, {4, 2}, {0, 2}, 0.01), 0.5 - 1e-9);
  EXPECT_GE(JudgeDistance(path.elements, {4, 2}, {4, 9}, 0.01), 0.5 - 1e-9);
  EXPECT_GE(JudgeDistance(path.elements, {6, 0}, {6, 9}, 0.01), 0.5 - 1e-9);
  EXPECT_GE(JudgeDistance(path.elements, {0, 0}, {6, 0}, 0.01), 0.5 - 1e-9);
}

TEST(RoundCornersTest, HairpinRoundAThinWallIsDrivenWithoutAStop) {
  // Two lanes 4 wide on both sides of a wall of no thickness from x = 0 to 10.
  const RoundingCase c = MakeCase("hairpin", {1, -0.2}, {1, 0.2},
                                  {{{0, -4}, {10, -4}, {10, 0}, {0, 0}},
                                   {{10, -4}, {14, -4}, {14, 4}, {10, 4}},
                                   {{0, 0}, {10, 0}, {10, 4}, {0, 4}}},
                                  {{{10, 0}, {10, -4}}, {{10, 0}, {10, 4}}});
  const DrivenPath path =
      RoundCorners(c.corridor, {c.taut, {}}, Turning(1.5, 0.5), ReferenceLimits(), {});
  EXPECT_EQ(path.stop_count, 0u);
  EXPECT_EQ(JudgeContainment(c.corridor, path.elements, 1e-9), "");
  double turned = 0.0;
  for (const PathElement& e : path.elements) turned += e.turn_rad;
  EXPECT_GT(turned, 3.0);
}

TEST(RoundCornersTest, UnboundedRadiusIsLimitedBySpeed) {
  const RoundingCase c = MakeCase(
      "hall", {0, 0}, {60, 60},
      {{{-1, -1}, {100, -1}, {100, 50}, {-1, 50}}, {{50, 50}, {100, 50}, {100, 99}, {50, 99}}},
      {{{50, 50}, {100, 50}}});
  AgentTurning turning;
  const DrivenPath path = RoundCorners(c.corridor, {c.taut, {}}, turning, ReferenceLimits(), {});
  EXPECT_EQ(path.stop_count, 0u);
  for (const PathElement& e : path.elements) {
    if (e.kind == PathElementKind::kArc) {
      EXPECT_LE(1.0 / std::abs(e.curvature), 36.0 / 4.0 + 1e-9);
    }
  }
}

TEST(RoundCornersTest, RejectedArcsAreKeptOnRequest) {
  const RoundingCase c = Bend();
  RoundingOptions options;
  EXPECT_TRUE(RoundCorners(c.corridor, {c.taut, {}}, Turning(8.0, 0.1), ReferenceLimits(), options)
                  .rejected.empty());
  options.keep_rejected = true;
  EXPECT_FALSE(RoundCorners(c.corridor, {c.taut, {}}, Turning(8.0, 0.1), ReferenceLimits(), options)
                   .rejected.empty());
}

TEST(RoundCornersTest, TurningTimeCountsAtStops) {
  const RoundingCase c = Bend();
  AgentTurning turning = Turning(2.0, 0.1);
  RoundingOptions options;
  options.work_budget = 0;
  const double free =
      RoundCorners(c.corridor, {c.taut, {}}, turning, ReferenceLimits(), options).time_s;
  turning.turn_speed_rad_s = 0.5;
  const DrivenPath path =
      RoundCorners(c.corridor, {c.taut, {}}, turning, ReferenceLimits(), options);
  ASSERT_EQ(path.corners.size(), 1u);
  EXPECT_NEAR(path.time_s, free + std::abs(path.corners[0].turn_rad) / 0.5, 1e-12);
}

TEST(RoundCornersTest, TautPathThatMissesASeamIsLedThroughThePortals) {
  const RoundingCase c = Bend();
  // Half a millimetre inside the wall.
  const std::vector<Vec2> taut = {c.corridor.start, {3.9995, 2.0005}, c.corridor.goal};
  const DrivenPath path =
      RoundCorners(c.corridor, {taut, {}}, Turning(2.0, 0.1), ReferenceLimits(), {});
  EXPECT_EQ(JudgeContainment(c.corridor, path.elements, 1e-9), "");
  EXPECT_EQ(path.stop_count, 0u);
}

// Tiles whose common vertices differ by half a millimetre: the taut path with merged ends leaves
// the cells.
TEST(RoundCornersTest, SeamsAreCrossedInsideTheCells) {
  std::vector<std::vector<Vec2>> polygons;
  std::vector<Portal> portals;
  for (int i = 0; i < 6; ++i) {
    const double x = 10.0 * i;
    const double shift = i % 2 == 0 ? 0.0 : 4e-4;
    polygons.push_back({{x, shift}, {x + 10, shift}, {x + 10, 3 + shift}, {x, 3 + shift}});
    if (i > 0) portals.push_back({{x, 3 + shift}, {x, shift}});
  }
  for (const double goal_y : {1.5, 4e-4}) {
    RoundingCase c = MakeCase("seams", {1, 4e-4}, {59, goal_y}, polygons, portals);
    c.corridor.tolerance = 1e-3;
    for (const std::vector<Vec2>& taut :
         {std::vector<Vec2>{c.corridor.start, c.corridor.goal},
          std::vector<Vec2>{c.corridor.start, {30, 0}, c.corridor.goal}}) {
      const DrivenPath path =
          RoundCorners(c.corridor, {taut, {}}, Turning(2.0, 0.1), ReferenceLimits(), {});
      EXPECT_EQ(JudgeContainment(c.corridor, path.elements, 1e-9), "");
      EXPECT_EQ(path.stop_count, 0u);
      EXPECT_NEAR(path.length, Distance(c.corridor.start, c.corridor.goal), 1e-3);
    }
  }
}

}  // namespace
}  // namespace arclane::testing
