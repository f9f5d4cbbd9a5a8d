// SPDX-License-Identifier: Apache-2.0
// A caller that gives up is heard after a bounded amount of work, wherever the work is done.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/corridor/clearance.h"
#include "server/planning/geometry/stop_check.h"
#include "server/planning/rounding/fillet_polyline.h"
#include "server/planning/rounding/round_corners.h"
#include "tests/unit/planning/rounding/rounding_cases.h"

namespace arclane::testing {
namespace {

// Quads between upright portals whose middles go up and down: a corner in about every third.
RoundingCase Zigzag(int polygons) {
  std::vector<Portal> portals;
  std::vector<std::vector<Vec2>> cells;
  const auto at = [](int i) {
    const double x = 2.0 * i;
    const double y = 3.0 * std::abs(std::remainder(static_cast<double>(i), 6.0));
    return Portal{{x, y + 1.5}, {x, y - 1.5}};
  };
  for (int i = 0; i < polygons; ++i) {
    const Portal a = at(i);
    const Portal b = at(i + 1);
    cells.push_back({a.right, b.right, b.left, a.left});
    if (i > 0) portals.push_back(a);
  }
  const Portal first = at(0);
  const Portal last = at(polygons);
  return MakeCase("zigzag", (first.left + first.right) * 0.5, (last.left + last.right) * 0.5,
                  std::move(cells), std::move(portals));
}

// Runs `plan` with checks that say so at their n-th look, for n = 1, 2, 4, ..., until one is never
// asked so often. plan(stop): whether it was stopped. No look may follow one that said so. Returns
// how often a check that never says so is asked.
uint64_t ExpectHeard(const std::function<bool(StopCheck)>& plan) {
  uint64_t total = 0;
  EXPECT_FALSE(plan([&total] {
    ++total;
    return false;
  }));
  for (uint64_t last = 1; last <= total;
       last = 2 * last < total || last == total ? 2 * last : total) {
    SCOPED_TRACE(last);
    uint64_t looks = 0;
    EXPECT_TRUE(plan([&] { return ++looks >= last; }));
    EXPECT_EQ(looks, last);
  }
  return total;
}

AgentTurning Turning() {
  AgentTurning turning;
  turning.radius_max = 2.0;
  turning.radius_min = 0.25;
  return turning;
}

TEST(RoundingStopTest, TheRoundingHearsEveryLook) {
  const RoundingCase c = Zigzag(1000);
  for (const double clearance : {0.0, 0.3}) {
    AgentTurning turning = Turning();
    turning.clearance = clearance;
    RoundingOptions options;
    options.work_budget = 2'000'000;
    DrivenPath path;
    const uint64_t looks = ExpectHeard([&](StopCheck stop) {
      path = RoundCorners(c.corridor, {c.taut, {}}, turning, ReferenceLimits(), options, stop);
      const bool stopped = path.status == RoundingStatus::kStopped;
      EXPECT_EQ(stopped, path.elements.empty());
      return stopped;
    });
    EXPECT_GE(looks, options.work_budget / PacedStopCheck::kStepsPerLook / 2);
  }
}

TEST(RoundingStopTest, ATautPathThatLeavesTheCellsIsMendedUnderTheSameCheck) {
  const RoundingCase c = Zigzag(2000);
  const std::vector<Vec2> taut = {c.corridor.start, c.corridor.goal};
  RoundingOptions options;
  options.work_budget = 0;
  const uint64_t looks = ExpectHeard([&](StopCheck stop) {
    return RoundCorners(c.corridor, {taut, {}}, Turning(), ReferenceLimits(), options, stop)
               .status == RoundingStatus::kStopped;
  });
  EXPECT_GE(looks, 8u);
}

// The deadline is heard long before the budget of ten seconds is spent.
TEST(RoundingStopTest, TwentyThousandPortalsAndADeadline) {
  const RoundingCase c = Zigzag(20'001);
  ASSERT_EQ(c.corridor.portals.size(), 20'000u);
  RoundingOptions options;
  options.work_budget = 10'000'000 * kWorkUnitsPerMicrosecond;
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&begin] {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin;
    return since.count();
  };
  constexpr uint64_t kManyLooks = 1 << 20;  // A machine too slow for the deadline to matter.
  uint64_t looks = 0;
  double longest = 0.0;
  double before = 0.0;
  uint64_t looks_after = 0;
  bool over = false;
  const DrivenPath path =
      RoundCorners(c.corridor, {c.taut, {}}, Turning(), ReferenceLimits(), options, [&] {
        if (over) ++looks_after;
        const double now = spent();
        longest = std::max(longest, now - before);
        before = now;
        over = ++looks >= kManyLooks || now > 0.1;
        return over;
      });
  EXPECT_EQ(path.status, RoundingStatus::kStopped);
  EXPECT_EQ(looks_after, 0u);
  std::printf(
      "20,000 portals, deadline 100 ms: ended after %.1f ms and %llu looks, at most %.2f ms "
      "apart\n",
      1e3 * spent(), static_cast<unsigned long long>(looks), 1e3 * longest);
}

TEST(RoundingStopTest, ClearanceHearsEveryLook) {
  const RoundingCase c = Zigzag(3000);
  // The large one is everywhere more than the corridor is wide.
  for (const double clearance : {0.3, 500.0}) {
    ClearancePlanner planner;
    CorridorPath path;
    std::vector<ClearanceShortfall> shortfalls;
    const uint64_t looks = ExpectHeard([&](StopCheck stop) {
      return !planner.FindPath(c.corridor, clearance, &path, &shortfalls, stop);
    });
    EXPECT_GE(looks, 8u);
  }
}

TEST(RoundingStopTest, FilletsHearEveryLook) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  std::vector<Vec2> waypoints;
  for (int i = 0; i < 20'000; ++i) waypoints.push_back({static_cast<double>(i), unit(random)});
  for (const bool closed : {false, true}) {
    FilletPolylineOptions options;
    options.radius_min = 0.2;
    options.closed = closed;
    const uint64_t looks = ExpectHeard([&](StopCheck stop) {
      const auto filleted = FilletPolyline(waypoints, std::vector<double>{2.0}, options, stop);
      if (filleted.ok()) return false;
      EXPECT_EQ(filleted.status().code(), absl::StatusCode::kCancelled);
      return true;
    });
    EXPECT_GE(looks, 16u);
  }
}

TEST(RoundingStopTest, ContainmentHearsEveryLook) {
  // A fan of polygons over one corner: every pair of edges is looked at.
  std::vector<Vec2> vertices;
  std::vector<uint32_t> begin = {0};
  for (int i = 0; i < 200; ++i) {
    const double x = 0.01 * i;
    for (const Vec2 p : {Vec2{x - 12, -3}, Vec2{x + 7.5, -3}, Vec2{x + 6.2, 9}, Vec2{x - 11, 9}}) {
      vertices.push_back(p);
    }
    begin.push_back(static_cast<uint32_t>(vertices.size()));
  }
  FilletPolylineOptions options;
  options.polygon_vertices = vertices;
  options.polygon_begin = begin;
  const std::vector<Vec2> waypoints = {{-10, 0}, {8, 0}, {8, 8}};
  const uint64_t looks = ExpectHeard([&](StopCheck stop) {
    return !FilletPolyline(waypoints, std::vector<double>{5.0}, options, stop).ok();
  });
  EXPECT_GE(looks, 8u);
}

}  // namespace
}  // namespace arclane::testing
