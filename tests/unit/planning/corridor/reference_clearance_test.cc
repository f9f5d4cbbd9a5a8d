// SPDX-License-Identifier: Apache-2.0
// Lines with clearance through every corridor of the reference set: they stay in the corridor, and
// an independent measurement, at points along the line against all walls of the cells near by,
// finds nothing too near that is not reported.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/corridor/clearance.h"
#include "server/planning/corridor/corridor_builder.h"
#include "server/planning/corridor/verification.h"
#include "server/planning/geometry/distance.h"
#include "tests/support/reference_data.h"
#include "tests/unit/planning/corridor/corridor_records.h"

namespace arclane {
namespace {

using testing::FromDetourRecord;
using testing::LineOf;
using testing::ReadRecords;

// The distance of p, which lies in cell k, from walls seen straight on: of cells k - 1, k, k + 1.
double WallDistance(const Corridor& corridor, const CorridorWalls& walls, size_t k, Vec2 p,
                    bool is_left) {
  double distance = std::numeric_limits<double>::infinity();
  const size_t first = k == 0 ? 0 : k - 1;
  const size_t last = std::min(k + 1, corridor.cell_count() - 1);
  for (size_t cell = first; cell <= last; ++cell) {
    for (const Wall& wall : walls.cell(cell)) {
      if (wall.is_left == is_left) {
        distance = std::min(distance, DistanceToSegment(p, wall.a, wall.b));
      }
    }
  }
  return distance;
}

struct Tally {
  double length = 0.0;
  double short_with_room = 0.0;
  double short_reported = 0.0;
  double stretch = 0.0;
};

class ReferenceClearanceTest : public ::testing::TestWithParam<double> {};

TEST_P(ReferenceClearanceTest, IsKeptOrReported) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  const double clearance = GetParam();
  Tally tally;
  CorridorBuilder builder;
  Corridor corridor;
  ClearancePlanner planner;
  CorridorPath path;
  CorridorPath shortest;
  Funnel funnel;
  CorridorWalls walls;
  std::vector<ClearanceShortfall> shortfalls;
  std::vector<PortalCrossing> crossings;
  for (const nlohmann::json& record : ReadRecords(dir + "/detour/corridors_dev.jsonl.gz")) {
    SCOPED_TRACE(record.at("id").get<std::string>());
    const auto source = FromDetourRecord(record);
    CorridorInput input = source.input(true, false);
    input.precision = CoordinatePrecision::Float32();
    input.max_end_shift = 1e-3;
    Violations violations;
    ASSERT_TRUE(builder.Build(input, CorridorLimits{}, &corridor, &violations));
    planner.FindPath(corridor, clearance, &path, &shortfalls);
    funnel.FindShortestPath(corridor, &shortest);
    EXPECT_GE(path.length, shortest.length - 4.0 * corridor.tolerance);
    tally.stretch = std::max(tally.stretch, path.length - shortest.length);
    const std::vector<Vec2> points = LineOf(path);
    EXPECT_LE(VerifyLine(corridor, points, 2.0 * corridor.tolerance, &crossings).distance,
              2.0 * corridor.tolerance);
    walls.Collect(corridor);
    double begin = 0.0;
    size_t k = 0;
    constexpr int kSamples = 64;
    for (size_t j = 0; j + 1 < points.size(); ++j) {
      const double length = Distance(points[j], points[j + 1]);
      for (int s = 0; s < kSamples; ++s) {
        const double t = (s + 0.5) / kSamples;
        const double at = begin + t * length;
        while (k < crossings.size() && crossings[k].distance < at) ++k;
        const Vec2 p = Lerp(points[j], points[j + 1], t);
        const double left = WallDistance(corridor, walls, k, p, true);
        const double right = WallDistance(corridor, walls, k, p, false);
        const double measured = std::min(left, right);
        tally.length += length / kSamples;
        if (measured >= clearance - 2.0 * corridor.tolerance) continue;
        const auto reported =
            std::find_if(shortfalls.begin(), shortfalls.end(), [&](const ClearanceShortfall& f) {
              return f.begin_distance <= at && at <= f.end_distance &&
                     f.measured <= measured + 2.0 * corridor.tolerance;
            });
        EXPECT_NE(reported, shortfalls.end()) << "at " << at << " measured " << measured;
        tally.short_reported += length / kSamples;
        // From an end near a wall the line leads straight on.
        const bool near_end = j == 0 || j + 2 == points.size();
        if (left + right >= 2.02 * clearance && !near_end) {
          tally.short_with_room += length / kSamples;
        }
      }
      begin += length;
    }
  }
  // What is left lies between narrow places, where the room grows from one to the next.
  EXPECT_LE(tally.short_with_room, 0.01 * tally.length);
  std::printf(
      "clearance %g: %.4f%% of the length short, %.4f%% although both sides have room; at most %g "
      "longer\n",
      clearance, 100.0 * tally.short_reported / tally.length,
      100.0 * tally.short_with_room / tally.length, tally.stretch);
}

INSTANTIATE_TEST_SUITE_P(Clearances, ReferenceClearanceTest,
                         ::testing::Values(0.05, 0.3, 1.0, 4.0));

}  // namespace
}  // namespace arclane
