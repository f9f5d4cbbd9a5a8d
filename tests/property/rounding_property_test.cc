// SPDX-License-Identifier: Apache-2.0
// Properties of rounded paths on random corridors. A failure prints the seed; RandomCase(seed) is
// the input.
#include <cmath>
#include <cstdio>
#include <limits>

#include "gtest/gtest.h"
#include "server/planning/rounding/round_corners.h"
#include "tests/unit/planning/rounding/path_judge.h"
#include "tests/unit/planning/rounding/rounding_cases.h"

namespace arclane::testing {
namespace {

constexpr uint32_t kSeeds = 3000;

AgentTurning TurningOf(const RoundingCase& c) {
  AgentTurning turning;
  turning.radius_max = c.radius_max;
  turning.radius_min = c.radius_min;
  turning.corner_angle_min_rad = 1e-9;
  return turning;
}

DrivenPath Round(const RoundingCase& c, const RoundingOptions& options, bool swap_limits = false) {
  DrivingLimits limits = ReferenceLimits();
  if (swap_limits) std::swap(limits.max_acceleration, limits.max_braking);
  return RoundCorners(c.corridor, {c.taut, {}}, TurningOf(c), limits, options);
}

TEST(RoundingPropertyTest, ContainedSmoothAndWithinBounds) {
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const RoundingCase c = RandomCase(seed);
    SCOPED_TRACE(c.id);
    RoundingOptions options;
    options.work_budget = seed % 3 == 0 ? 20000 : options.work_budget;
    options.max_extra_length_fraction =
        seed % 2 == 0 ? 0.05 : std::numeric_limits<double>::infinity();
    const DrivenPath path = Round(c, options);
    EXPECT_EQ(JudgeContainment(c.corridor, path.elements, 1e-7), "");
    EXPECT_EQ(
        JudgeSmoothness(c.corridor.start, c.corridor.goal, path.elements, c.radius_min, 1e-9, 1e-9),
        "");
    EXPECT_NEAR(JudgeTime(path.elements, ReferenceLimits()), path.time_s,
                1e-9 * (1.0 + path.time_s));
    EXPECT_LE(
        path.extra_length,
        options.max_extra_length_fraction * (path.length - path.extra_length) + 1e-9 * path.length);
    for (const PathElement& e : path.elements) {
      EXPECT_LE(std::abs(e.curvature) * c.radius_min, 1.0 + 1e-12);
      if (e.kind == PathElementKind::kArc) {
        EXPECT_GE(std::abs(e.curvature) * c.radius_max, 1.0 - 1e-12);
      }
    }
    if (HasFailure()) break;
  }
}

// An agent that moves already keeps its direction, and still stops at few corners.
TEST(RoundingPropertyTest, MovingStartsKeepTheirFirstLine) {
  constexpr double kTolerance = 1e-6;
  int corners = 0;
  int stops = 0;
  int stops_at_rest = 0;
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    const RoundingCase c = RandomCase(seed);
    SCOPED_TRACE(c.id);
    if (c.taut.size() < 3 || c.taut[0] == c.taut[1]) continue;
    const Vec2 line = c.taut[1] - c.taut[0];
    RoundingOptions options;
    options.max_extra_length_fraction = std::numeric_limits<double>::infinity();
    stops_at_rest += static_cast<int>(Round(c, options).stop_count);
    options.start_direction = line * (1.0 / Norm(line));
    options.start_direction_tolerance_rad = kTolerance;
    DrivingLimits limits = ReferenceLimits();
    limits.start_speed = 0.5;
    const DrivenPath path = RoundCorners(c.corridor, {c.taut, {}}, TurningOf(c), limits, options);
    EXPECT_EQ(JudgeContainment(c.corridor, path.elements, 1e-7), "");
    EXPECT_EQ(
        JudgeSmoothness(c.corridor.start, c.corridor.goal, path.elements, c.radius_min, 1e-9, 1e-9),
        "");
    ASSERT_FALSE(path.elements.empty());
    EXPECT_LE(std::abs(TurnAngle(line, path.elements[0].direction)), kTolerance * (1.0 + 1e-6));
    corners += static_cast<int>(path.corners.size());
    stops += static_cast<int>(path.stop_count);
    if (HasFailure()) break;
  }
  std::printf("%d corners; %d stops at rest, %d in motion\n", corners, stops_at_rest, stops);
  EXPECT_LT(stops, corners / 4);
}

TEST(RoundingPropertyTest, LeastTimeIsNeverSlowerThanStoppingEverywhere) {
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const RoundingCase c = RandomCase(seed);
    SCOPED_TRACE(c.id);
    RoundingOptions options;
    options.objective = RoundingObjective::kLeastTime;
    options.work_budget = 30000;
    const DrivenPath path = Round(c, options);
    EXPECT_LE(path.time_s, path.time_stopping_s);
    EXPECT_EQ(JudgeContainment(c.corridor, path.elements, 1e-7), "");
    if (HasFailure()) break;
  }
}

TEST(RoundingPropertyTest, MirroredCorridorsTakeTheSameTime) {
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const RoundingCase c = RandomCase(seed);
    SCOPED_TRACE(c.id);
    const DrivenPath path = Round(c, {});
    for (const Image image :
         {Image::kMirrorX, Image::kMirrorY, Image::kSwapAxes, Image::kQuarterTurn}) {
      const DrivenPath mirrored = Round(ImageOf(c, image), {});
      EXPECT_EQ(path.stop_count, mirrored.stop_count) << static_cast<int>(image);
      EXPECT_NEAR(path.time_s, mirrored.time_s, 1e-9 * (1.0 + path.time_s))
          << static_cast<int>(image);
    }
    if (HasFailure()) break;
  }
}

TEST(RoundingPropertyTest, ReversedCorridorsTakeNearlyTheSameTime) {
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const RoundingCase c = RandomCase(seed);
    SCOPED_TRACE(c.id);
    const DrivenPath path = Round(c, {});
    const DrivenPath reversed = Round(ImageOf(c, Image::kReversed), {}, /*swap_limits=*/true);
    EXPECT_EQ(path.stop_count, reversed.stop_count);
    EXPECT_NEAR(path.time_s, reversed.time_s, 0.01 * path.time_s);
    if (HasFailure()) break;
  }
}

TEST(RoundingPropertyTest, SameInputGivesTheSameBits) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    const RoundingCase c = RandomCase(seed);
    SCOPED_TRACE(c.id);
    const DrivenPath a = Round(c, {});
    const DrivenPath b = Round(c, {});
    ASSERT_EQ(a.elements.size(), b.elements.size());
    EXPECT_EQ(a.work_used, b.work_used);
    for (size_t i = 0; i < a.elements.size(); ++i) {
      EXPECT_EQ(a.elements[i].start, b.elements[i].start);
      EXPECT_EQ(a.elements[i].curvature, b.elements[i].curvature);
      EXPECT_EQ(a.elements[i].length, b.elements[i].length);
    }
  }
}

TEST(RoundingPropertyTest, ClearanceIsKeptAsFarAsTheTautPathKeepsIt) {
  constexpr double kClearance = 0.2;
  constexpr double kSpacing = 0.01;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    const RoundingCase c = RandomLane(seed, kClearance);
    SCOPED_TRACE(c.id);
    AgentTurning turning = TurningOf(c);
    turning.clearance = kClearance;
    const DrivenPath path = RoundCorners(c.corridor, {c.taut, {}}, turning, ReferenceLimits(), {});
    EXPECT_EQ(JudgeContainment(c.corridor, path.elements, 1e-7), "");
    std::vector<PathElement> taut;
    for (size_t i = 0; i + 1 < c.taut.size(); ++i) {
      PathElement line;
      line.start = c.taut[i];
      line.length = Distance(c.taut[i], c.taut[i + 1]);
      line.direction = (c.taut[i + 1] - c.taut[i]) * (1.0 / line.length);
      taut.push_back(line);
    }
    const auto expect_kept = [&](Vec2 a, Vec2 b) {
      const double wanted = std::min(kClearance, JudgeDistance(taut, a, b, kSpacing));
      // A sampled distance exceeds the true one by at most half the spacing, and by its square over
      // the distance where the path passes sideways.
      EXPECT_GE(JudgeDistance(path.elements, a, b, kSpacing), wanted - 0.5 * kSpacing);
    };
    for (size_t k = 0; k < c.corridor.cell_count(); ++k) {
      const auto cell = c.corridor.cell(k);
      for (size_t i = 0; i < cell.size(); ++i) {
        const Vec2 a = cell[i];
        const Vec2 b = cell[(i + 1) % cell.size()];
        const auto is_portal = [&](size_t p) {
          return p < c.corridor.portals.size() &&
                 ((c.corridor.portals[p].left == a && c.corridor.portals[p].right == b) ||
                  (c.corridor.portals[p].left == b && c.corridor.portals[p].right == a));
        };
        if (!is_portal(k) && (k == 0 || !is_portal(k - 1))) expect_kept(a, b);
      }
    }
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace arclane::testing
