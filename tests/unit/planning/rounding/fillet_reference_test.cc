// SPDX-License-Identifier: Apache-2.0
// The reference records of corner rounding on polylines.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/rounding/fillet_polyline.h"
#include "server/planning/rounding/polygon_union.h"
#include "tests/support/reference_data.h"

namespace arclane::testing {
namespace {

using nlohmann::json;

struct FilletRecord {
  std::vector<Vec2> waypoints;
  std::vector<double> request;
  std::vector<Vec2> vertices;
  std::vector<uint32_t> begin;
  FilletPolylineOptions options;

  explicit FilletRecord(const json& record) {
    for (const json& p : record["waypoints"]) waypoints.push_back({ToDouble(p[0]), ToDouble(p[1])});
    for (const json& r : record["radius_request"]) request.push_back(ToDouble(r));
    options.radius_min = record["radius_min"];
    options.can_turn_in_place = record["can_turn_in_place"];
    if (!record["polygons"].is_null()) {
      begin.push_back(0);
      for (const json& polygon : record["polygons"]) {
        for (const json& p : polygon) vertices.push_back({ToDouble(p[0]), ToDouble(p[1])});
        begin.push_back(static_cast<uint32_t>(vertices.size()));
      }
      options.polygon_vertices = vertices;
      options.polygon_begin = begin;
    }
  }
};

TEST(FilletReferenceTest, StatusStopsAndMaxMinRadiiMatch) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  int count = 0;
  for (const json& record : ReadRecords(dir + "/speed/fillet_dev.jsonl.gz")) {
    SCOPED_TRACE(record["id"].get<std::string>() + " " + record["name"].get<std::string>());
    const FilletRecord input(record);
    const json& expect = record["expect"];
    const auto result = FilletPolyline(input.waypoints, input.request, input.options);
    ASSERT_TRUE(result.ok()) << result.status();
    const bool needs_planning = expect["status"] == "NEEDS_MOTION_PLANNING";
    EXPECT_EQ(result->path.status == RoundingStatus::kNeedsMotionPlanning, needs_planning);
    EXPECT_EQ(result->path.stop_count, expect["min_stops"].get<uint32_t>());
    std::vector<int> stops;
    ASSERT_EQ(result->path.corners.size(), expect["turn_angle"].size());
    for (size_t i = 0; i < result->path.corners.size(); ++i) {
      const CornerOutcome& corner = result->path.corners[i];
      EXPECT_NEAR(corner.turn_rad, ToDouble(expect["turn_angle"][i]), 1e-12);
      if (corner.kind == CornerKind::kStopped) stops.push_back(static_cast<int>(i));
    }
    EXPECT_NE(std::find(expect["stop_sets"].begin(), expect["stop_sets"].end(), json(stops)),
              expect["stop_sets"].end())
        << json(stops).dump();
    if (!expect.contains("radius_maxmin") || json(stops) != expect["stop_corners_used"]) continue;
    for (size_t i = 0; i < result->path.corners.size(); ++i) {
      const double radius = ToDouble(expect["radius_maxmin"][i]);
      EXPECT_NEAR(result->path.corners[i].radius, radius, 1e-9 * std::max(1.0, radius))
          << "corner " << i;
    }
    ++count;
  }
  EXPECT_GT(count, 0);
}

TEST(FilletReferenceTest, ContainmentRowsAndFeasibleIntervalsMatch) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  int rows = 0;
  for (const json& record : ReadRecords(dir + "/speed/fillet_dev.jsonl.gz")) {
    if (record["polygons"].is_null()) continue;
    SCOPED_TRACE(record["id"].get<std::string>() + " " + record["name"].get<std::string>());
    const FilletRecord input(record);
    PacedStopCheck never(NeverStop);
    const PolygonUnion polygons(input.vertices, input.begin, never);
    const json& expect = record["expect"];
    const auto direction = [&](size_t line) {
      const Vec2 step = input.waypoints[line + 1] - input.waypoints[line];
      return step * (1.0 / Norm(step));
    };
    for (const json& row : expect["containment"]) {
      const size_t corner = row["corner"];
      const double radius = ToDouble(row["radius"]);
      const Vec2 in = direction(corner);
      const double turn = TurnAngle(in, direction(corner + 1));
      const double side = turn < 0 ? -1 : 1;
      const Vec2 center = input.waypoints[corner + 1] - radius * std::tan(std::abs(turn) / 2) * in +
                          side * radius * LeftNormal(in);
      EXPECT_EQ(polygons.ContainsArc(center, side * radius, in, std::abs(turn)),
                row["contained"].get<bool>())
          << "corner " << corner << " radius " << radius;
      ++rows;
    }
    for (size_t corner = 0; corner + 2 < input.waypoints.size(); ++corner) {
      const Vec2 in = direction(corner);
      const Vec2 out = direction(corner + 1);
      const double fit =
          std::min(Distance(input.waypoints[corner], input.waypoints[corner + 1]),
                   Distance(input.waypoints[corner + 1], input.waypoints[corner + 2])) /
          std::tan(std::abs(TurnAngle(in, out)) / 2);
      const auto intervals = polygons.FilletRadii(input.waypoints[corner + 1], in, out,
                                                  std::min(fit, input.request[corner]));
      const json& expected = expect["radius_feasible_intervals"][corner];
      ASSERT_EQ(intervals.size(), expected.size());
      for (size_t i = 0; i < intervals.size(); ++i) {
        EXPECT_NEAR(intervals[i].low, ToDouble(expected[i][0]), 1e-9);
        EXPECT_NEAR(intervals[i].high, ToDouble(expected[i][1]), 1e-9);
      }
    }
  }
  EXPECT_GT(rows, 0);
}

}  // namespace
}  // namespace arclane::testing
