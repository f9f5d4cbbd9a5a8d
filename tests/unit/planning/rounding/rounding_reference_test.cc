// SPDX-License-Identifier: Apache-2.0
// The reference corridors: every row at least nearly as good as the best known, every path
// contained.
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "server/planning/rounding/round_corners.h"
#include "tests/support/reference_data.h"
#include "tests/unit/planning/rounding/path_judge.h"
#include "tests/unit/planning/rounding/rounding_cases.h"

namespace arclane::testing {
namespace {

constexpr double kFiveDegrees = 5.0 * 3.14159265358979323846 / 180.0;
// The containment tolerance of the reference records.
constexpr double kTolerance = 1e-7;

class RoundingReferenceTest : public ::testing::TestWithParam<const char*> {};

int RoundedCount(const RoundingCase& c, const DrivenPath& path) {
  int stops = 0;
  for (const PathElement& e : path.elements) {
    if (e.kind == PathElementKind::kTurn && std::abs(e.turn_rad) > kFiveDegrees) ++stops;
  }
  return c.corners_total - stops;
}

bool Passes(const RoundingCase& c, const DrivenPath& path, double factor) {
  return (RoundedCount(c, path) >= c.best_known_rounded_count &&
          path.time_s <= factor * c.best_known_rounded_time) ||
         (path.time_s <= factor * c.best_known_time &&
          static_cast<int>(path.stop_count) <= c.best_known_time_stops);
}

void ExpectValid(const RoundingCase& c, const DrivenPath& path) {
  EXPECT_EQ(JudgeContainment(c.corridor, path.elements, kTolerance), "");
  EXPECT_EQ(
      JudgeSmoothness(c.corridor.start, c.corridor.goal, path.elements, c.radius_min, 1e-9, 1e-3),
      "");
  EXPECT_NEAR(JudgeTime(path.elements, ReferenceLimits()), path.time_s, 1e-9 * path.time_s);
  for (const PathElement& e : path.elements) {
    if (e.kind == PathElementKind::kArc) {
      EXPECT_LE(1.0 / std::abs(e.curvature), c.radius_max * (1.0 + 1e-12));
    }
  }
}

TEST_P(RoundingReferenceTest, NearlyBestKnownWithoutABoundOnLength) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  int within = 0;
  double time = 0.0;
  double best = 0.0;
  const auto cases = ReadCornerCases(dir, GetParam());
  for (const RoundingCase& c : cases) {
    SCOPED_TRACE(c.id);
    AgentTurning turning;
    turning.radius_max = c.radius_max;
    turning.radius_min = c.radius_min;
    RoundingOptions options;
    options.max_extra_length_fraction = std::numeric_limits<double>::infinity();
    options.work_budget = 20000 * kWorkUnitsPerMicrosecond;
    const DrivenPath path =
        RoundCorners(c.corridor, {c.taut, {}}, turning, ReferenceLimits(), options);
    ExpectValid(c, path);
    EXPECT_TRUE(Passes(c, path, 1.05)) << path.time_s << " against " << c.best_known_rounded_time;
    within += Passes(c, path, 1.02) ? 1 : 0;
    time += path.time_s;
    best += c.best_known_rounded_time;
  }
  EXPECT_GE(within, 0.95 * static_cast<double>(cases.size()));
  EXPECT_LE(time, 1.01 * best);
}

TEST_P(RoundingReferenceTest, DefaultBoundOnExtraLengthHolds) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  for (const RoundingCase& c : ReadCornerCases(dir, GetParam())) {
    SCOPED_TRACE(c.id);
    AgentTurning turning;
    turning.radius_max = c.radius_max;
    turning.radius_min = c.radius_min;
    const DrivenPath path = RoundCorners(c.corridor, {c.taut, {}}, turning, ReferenceLimits(), {});
    ExpectValid(c, path);
    EXPECT_LE(path.extra_length, 0.05 * (path.length - path.extra_length) * (1.0 + 1e-9));
    EXPECT_LE(path.work_used, RoundingOptions().work_budget * 3 / 2);
  }
}

TEST_P(RoundingReferenceTest, NoWorkGivesAValidPath) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  for (const RoundingCase& c : ReadCornerCases(dir, GetParam())) {
    SCOPED_TRACE(c.id);
    AgentTurning turning;
    turning.radius_max = c.radius_max;
    turning.radius_min = c.radius_min;
    for (const uint64_t budget : {0, 1, 3000, 10000}) {
      RoundingOptions options;
      options.work_budget = budget;
      ExpectValid(c, RoundCorners(c.corridor, {c.taut, {}}, turning, ReferenceLimits(), options));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, RoundingReferenceTest,
                         ::testing::Values("corners_dev.jsonl.gz", "corners_maps_dev.jsonl.gz"),
                         [](const auto& info) {
                           return std::string(info.param).substr(8, 4) == "dev." ? "Detour"
                                                                                 : "Maps";
                         });

}  // namespace
}  // namespace arclane::testing
