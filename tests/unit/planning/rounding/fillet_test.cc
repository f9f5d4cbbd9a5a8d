// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/fillet.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/rounding/fillet_polyline.h"
#include "tests/unit/planning/rounding/path_judge.h"

namespace arclane::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Problem {
  std::vector<double> k;
  std::vector<double> length;
  std::vector<uint32_t> begin = {0};
  std::vector<RadiusInterval> intervals;
  bool closed = false;

  void AddCorner(double tan_half, std::vector<RadiusInterval> allowed) {
    k.push_back(tan_half);
    intervals.insert(intervals.end(), allowed.begin(), allowed.end());
    begin.push_back(static_cast<uint32_t>(intervals.size()));
  }
  FilletRadii Choose() const {
    PacedStopCheck never(NeverStop);
    return ChooseFilletRadii({k, length, begin, intervals, closed}, never);
  }
};

bool Allowed(const Problem& p, size_t i, double radius) {
  for (uint32_t j = p.begin[i]; j < p.begin[i + 1]; ++j) {
    if (radius >= p.intervals[j].low * (1 - 1e-9) && radius <= p.intervals[j].high * (1 + 1e-9))
      return true;
  }
  return false;
}

bool Fits(const Problem& p, const std::vector<double>& radius) {
  const size_t n = p.k.size();
  for (size_t line = 0; line < p.length.size(); ++line) {
    double used = 0.0;
    if (p.closed || line > 0) {
      const size_t before = p.closed ? (line + n - 1) % n : line - 1;
      if (radius[before] > 0) used += radius[before] * p.k[before];
    }
    if (line < n && radius[line] > 0) used += radius[line] * p.k[line];
    if (used > p.length[line] * (1 + 1e-9)) return false;
  }
  return true;
}

// No radius can grow by giving way of larger ones only: the mark of max-min fairness on a convex
// problem.
bool IsMaxMin(const Problem& p, const std::vector<double>& radius,
              const std::vector<uint8_t>& stopped) {
  const size_t n = p.k.size();
  for (size_t i = 0; i < n; ++i) {
    if (stopped[i]) continue;
    if (radius[i] >= p.intervals[p.begin[i]].high * (1 - 1e-9)) continue;
    bool bottleneck = false;
    for (const size_t line : {i, p.closed ? (i + 1) % n : i + 1}) {
      const bool is_before = line == i;
      const bool has_other = p.closed || (is_before ? i > 0 : i + 1 < n);
      const size_t other = is_before ? (i + n - 1) % n : (i + 1) % n;
      const double other_radius = has_other && !stopped[other] ? radius[other] : 0.0;
      const double used = radius[i] * p.k[i] +
                          (has_other ? other_radius * (stopped[other] ? 0.0 : p.k[other]) : 0.0);
      if (used < p.length[line] * (1 - 1e-9)) continue;
      // Full, and the other is not larger, or cannot shrink.
      const double other_low = has_other && !stopped[other] ? p.intervals[p.begin[other]].low : 0.0;
      if (!has_other || other_radius <= radius[i] * (1 + 1e-9) ||
          other_radius <= other_low * (1 + 1e-9))
        bottleneck = true;
    }
    if (!bottleneck) return false;
  }
  return true;
}

// Fewest stops by trying all sets, largest sorted radii among those that this library's own filling
// gives each set.
TEST(FilletTest, FewestStopsAndFairnessOnRandomChains) {
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    Problem p;
    p.closed = seed % 3 == 0;
    const size_t n = 3 + random() % 7;
    const double minimum = seed % 4 == 0 ? 0.0 : 0.3 + 0.4 * unit(random);
    for (size_t i = 0; i < n; ++i) {
      const double request = 0.2 + 2 * unit(random);
      std::vector<RadiusInterval> allowed;
      if (request >= minimum && unit(random) > 0.1) allowed.push_back({minimum, request});
      p.AddCorner(0.3 + unit(random), allowed);
    }
    for (size_t i = 0; i < n + (p.closed ? 0 : 1); ++i) p.length.push_back(0.3 + unit(random));
    const FilletRadii chosen = p.Choose();
    ASSERT_EQ(chosen.radius.size(), n);
    EXPECT_TRUE(Fits(p, chosen.radius));
    std::vector<uint8_t> stopped(n, 0);
    for (const uint32_t i : chosen.stops) stopped[i] = 1;
    for (size_t i = 0; i < n; ++i) {
      EXPECT_EQ(chosen.radius[i] == 0.0, stopped[i] != 0);
      EXPECT_TRUE(stopped[i] || Allowed(p, i, chosen.radius[i]));
    }
    EXPECT_TRUE(IsMaxMin(p, chosen.radius, stopped));
    // Brute force over stop sets: feasible when all lower bounds fit.
    size_t fewest = n;
    std::vector<double> best;
    for (uint32_t set = 0; set < (1u << n); ++set) {
      std::vector<double> lows(n, 0.0);
      bool possible = true;
      Problem reduced;
      reduced.closed = p.closed;
      reduced.length = p.length;
      for (size_t i = 0; i < n; ++i) {
        const bool stop = (set >> i) & 1;
        const bool has = p.begin[i] < p.begin[i + 1];
        possible = possible && (stop || has);
        lows[i] = stop || !has ? 0.0 : std::max(1e-9, p.intervals[p.begin[i]].low);
        if (stop || !has) {
          reduced.AddCorner(p.k[i], {});
        } else {
          reduced.AddCorner(p.k[i], {p.intervals[p.begin[i]]});
        }
      }
      if (!possible || !Fits(p, lows)) continue;
      const size_t stops = static_cast<size_t>(__builtin_popcount(set));
      if (stops > fewest) continue;
      FilletRadii radii = reduced.Choose();
      if (radii.stops.size() != stops) continue;
      std::sort(radii.radius.begin(), radii.radius.end());
      if (stops < fewest || radii.radius > best) best = radii.radius;
      fewest = stops;
    }
    EXPECT_EQ(chosen.stops.size(), fewest);
    std::vector<double> sorted = chosen.radius;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < n && best.size() == n; ++i) {
      EXPECT_NEAR(sorted[i], best[i], 1e-9);
      if (std::abs(sorted[i] - best[i]) > 1e-9) break;
    }
  }
}

TEST(FilletTest, ReversedChainGivesReversedRadii) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0.05, 1.0);
    Problem p;
    for (size_t i = 0; i < 40; ++i) p.AddCorner(unit(random), {{0.0, 3 * unit(random)}});
    for (size_t i = 0; i < 41; ++i) p.length.push_back(unit(random));
    Problem reversed;
    for (size_t i = 40; i-- > 0;) reversed.AddCorner(p.k[i], {p.intervals[i]});
    reversed.length.assign(p.length.rbegin(), p.length.rend());
    const FilletRadii a = p.Choose();
    const FilletRadii b = reversed.Choose();
    for (size_t i = 0; i < 40; ++i)
      EXPECT_NEAR(a.radius[i], b.radius[39 - i], 1e-12) << "seed " << seed;
  }
}

TEST(FilletTest, GapBetweenIntervalsIsNeverUsed) {
  // Together 1.0 each would fit; corner 0 may only be below 0.4 or above 1.5. The higher interval
  // leaves 0.5 to corner 1, the lower one 1.6: 0.5 as smallest radius beats 0.4.
  Problem p;
  p.AddCorner(1.0, {{0.0, 0.4}, {1.5, 2.0}});
  p.AddCorner(1.0, {{0.0, 2.0}});
  p.length = {5.0, 2.0, 5.0};
  const FilletRadii radii = p.Choose();
  EXPECT_NEAR(radii.radius[0], 1.5, 1e-12);
  EXPECT_NEAR(radii.radius[1], 0.5, 1e-12);
}

// Chains of many corners with a few conflicts: which corners stop is decided where it matters, and
// agrees with solving the whole chain for every combination.
TEST(FilletTest, ConflictsAreDecidedAsIfAllCombinationsWereTried) {
  int decided_late = 0;  // Cases in which the lowest indices are not the best.
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    const size_t n = 30 + random() % 60;
    // Lines so tight, or loose, that a choice matters far, or near.
    const double slack = 0.2 + 1.5 * unit(random);
    Problem p;
    for (size_t i = 0; i < n; ++i)
      p.AddCorner(0.6 + 0.4 * unit(random), {{0.4, 0.5 + unit(random)}});
    for (size_t i = 0; i <= n; ++i) p.length.push_back(0.8 + slack * unit(random));
    std::vector<size_t> conflicts;
    for (size_t i = 3; i + 3 < n && conflicts.size() < 5; i += 4 + random() % 20) {
      p.length[i] = 0.45;  // Room for either of the corners i - 1 and i, not for both.
      conflicts.push_back(i);
    }
    const FilletRadii chosen = p.Choose();
    EXPECT_EQ(chosen.stops.size(), conflicts.size());
    std::vector<double> sorted = chosen.radius;
    std::sort(sorted.begin(), sorted.end());
    std::vector<double> best;
    uint32_t best_set = 0;
    for (uint32_t set = 0; set < (1u << conflicts.size()); ++set) {
      Problem reduced;
      reduced.length = p.length;
      for (size_t i = 0; i < n; ++i) {
        bool stops = false;
        for (size_t c = 0; c < conflicts.size(); ++c) {
          stops = stops || i == conflicts[c] - ((set >> c) & 1 ? 0 : 1);
        }
        if (stops) {
          reduced.AddCorner(p.k[i], {});
        } else {
          reduced.AddCorner(p.k[i], {p.intervals[p.begin[i]]});
        }
      }
      std::vector<double> radii = reduced.Choose().radius;
      std::sort(radii.begin(), radii.end());
      if (best.empty() || radii > best) {
        best = radii;
        best_set = set;
      }
    }
    decided_late += best_set != 0 ? 1 : 0;
    for (size_t i = 0; i < n; ++i) {
      ASSERT_NEAR(sorted[i], best[i], 1e-9) << i;
      if (std::abs(sorted[i] - best[i]) > 1e-12) break;
    }
  }
  EXPECT_GT(decided_late, 100);
}

TEST(FilletTest, HundredThousandConflictingCornersStopAtEverySecond) {
  Problem p;
  for (size_t i = 0; i < 100001; ++i) p.AddCorner(1.0, {{0.6, 5.0}});
  p.length.assign(100002, 1.0);
  const FilletRadii radii = p.Choose();
  EXPECT_EQ(radii.stops.size(), 50000u);
}

std::string Smooth(std::span<const Vec2> waypoints, const FilletedPolyline& filleted) {
  return JudgeSmoothness(waypoints.front(), waypoints.back(), filleted.path.elements, 0.0, 1e-9,
                         1e-9);
}

TEST(FilletPolylineTest, OneMetreWithTrimsOfPointSevenBecomesHalfAndHalf) {
  const std::vector<Vec2> waypoints = {{-5, 0}, {0, 0}, {0, 1}, {5, 1}};
  const auto result = FilletPolyline(waypoints, std::vector<double>{0.7}, {});
  ASSERT_TRUE(result.ok());
  EXPECT_NEAR(result->path.corners[0].radius, 0.5, 1e-12);
  EXPECT_NEAR(result->path.corners[1].radius, 0.5, 1e-12);
  EXPECT_EQ(Smooth(waypoints, *result), "");
}

TEST(FilletPolylineTest, ReversalOverARoundingSizedStepStops) {
  const std::vector<Vec2> waypoints = {{0, 0}, {100, 0}, {100, 1e-12}, {0, 0}};
  const auto result = FilletPolyline(waypoints, std::vector<double>{1.0}, {});
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->path.stop_count, 1u);
  EXPECT_EQ(result->path.corners[0].reason, StopReason::kHairpin);
}

TEST(FilletPolylineTest, ClosedSquareRoundsEveryCorner) {
  const std::vector<Vec2> waypoints = {{0, 0}, {4, 0}, {4, 4}, {0, 4}};
  FilletPolylineOptions options;
  options.closed = true;
  const auto result = FilletPolyline(waypoints, std::vector<double>{kInfinity}, options);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->path.corners.size(), 4u);
  for (const CornerOutcome& corner : result->path.corners) EXPECT_NEAR(corner.radius, 2.0, 1e-12);
  EXPECT_NEAR(result->path.length, 4 * std::acos(-1.0), 1e-9);
}

TEST(FilletPolylineTest, DegenerateWaypoints) {
  for (const std::vector<Vec2>& waypoints :
       std::vector<std::vector<Vec2>>{{{1, 2}},
                                      {{1, 2}, {1, 2}},
                                      {{1, 2}, {1, 2}, {1, 2}},
                                      {{0, 0}, {1, 0}},
                                      {{0, 0}, {1, 0}, {2, 0}}}) {
    const auto result = FilletPolyline(waypoints, std::vector<double>{1.0}, {});
    ASSERT_TRUE(result.ok()) << waypoints.size();
    EXPECT_EQ(result->path.stop_count, 0u);
    EXPECT_NEAR(result->path.length, Distance(waypoints.front(), waypoints.back()), 1e-12);
  }
}

TEST(FilletPolylineTest, RefusesBadNumbers) {
  const std::vector<Vec2> waypoints = {{0, 0}, {1, 0}, {1, 1}};
  EXPECT_FALSE(FilletPolyline({}, std::vector<double>{1.0}, {}).ok());
  EXPECT_FALSE(FilletPolyline(waypoints, std::vector<double>{-1.0}, {}).ok());
  EXPECT_FALSE(FilletPolyline(waypoints, std::vector<double>{std::nan("")}, {}).ok());
  EXPECT_FALSE(FilletPolyline(waypoints, std::vector<double>{1.0, 2.0}, {}).ok());
  EXPECT_TRUE(FilletPolyline(waypoints, std::vector<double>{1e9}, {}).ok());
  const std::vector<Vec2> infinite = {{0, 0}, {kInfinity, 0}, {1, 1}};
  EXPECT_FALSE(FilletPolyline(infinite, std::vector<double>{1.0}, {}).ok());
}

TEST(FilletPolylineTest, ReportsLinesOutsideThePolygons) {
  const std::vector<Vec2> waypoints = {{0.5, 0.5}, {3.5, 0.5}, {3.5, 0.8}};
  const std::vector<Vec2> square = {{0, 0}, {2, 0}, {2, 1}, {0, 1}};
  const std::vector<uint32_t> begin = {0, 4};
  FilletPolylineOptions options;
  options.polygon_vertices = square;
  options.polygon_begin = begin;
  const auto result = FilletPolyline(waypoints, std::vector<double>{0.2}, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->uncontained_lines, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(result->path.corners[0].reason, StopReason::kNoRoom);
}

TEST(FilletPolylineTest, HundredThousandWaypointsStaySmooth) {
  std::vector<Vec2> waypoints;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  for (int i = 0; i < 100000; ++i) waypoints.push_back({static_cast<double>(i), unit(random)});
  const auto result = FilletPolyline(waypoints, std::vector<double>{2.0}, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->path.stop_count, 0u);
  EXPECT_EQ(result->path.corners.size(), 99998u);
  EXPECT_EQ(Smooth(waypoints, *result), "");
}

}  // namespace
}  // namespace arclane::testing
