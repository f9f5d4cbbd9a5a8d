// SPDX-License-Identifier: Apache-2.0
// Every corridor of the reference set, with portals given and with polygons given, against its
// optimum.
#include <cmath>
#include <cstdio>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/planning/corridor/corridor_builder.h"
#include "server/planning/corridor/funnel.h"
#include "server/planning/corridor/verification.h"
#include "tests/support/reference_data.h"
#include "tests/unit/planning/corridor/corridor_records.h"

namespace arclane {
namespace {

using testing::CorridorSource;
using testing::FromDetourRecord;
using testing::LineOf;
using testing::ReadRecords;

// Ends of the records lie up to 3.4e-4 outside their polygons.
constexpr double kMaxEndShift = 1e-3;

struct Expectation {
  double length;
  double tolerance;
};

// What quantised border portals and seams leave open, as the reference set documents it.
Expectation ExpectationOf(const nlohmann::json& record, bool with_polygons) {
  const nlohmann::json& stats = record.at("stats");
  const double length = record.at("shortest_length_xz").get<double>();
  double tolerance = 1e-5 + 1e-7 * length;
  const bool is_partial = stats.at("partial_portals").get<double>() > 0;
  if (with_polygons) {
    if (stats.at("tile_borders").get<double>() > 0) tolerance = 0.002;
    if (is_partial) tolerance = 0.02;
  } else if (stats.at("seam_eps").get<double>() > 0 || is_partial) {
    tolerance = 0.002;
  }
  return {length, tolerance};
}

class ReferenceCorridorsTest : public ::testing::TestWithParam<const char*> {
 protected:
  bool Build(const CorridorSource& source, bool with_polygons, bool with_portals) {
    CorridorInput input = source.input(with_polygons, with_portals);
    input.up_axis = UpAxis::kY;
    input.precision = CoordinatePrecision::Float32();
    input.max_end_shift = kMaxEndShift;
    Violations violations;
    const bool built = builder_.Build(input, CorridorLimits{}, &corridor_, &violations);
    EXPECT_TRUE(built) << violations.ToString();
    return built;
  }

  void CheckAgainstReference(bool with_polygons, bool with_portals) {
    ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
    size_t count = 0;
    double worst = 0.0;
    for (const nlohmann::json& record : ReadRecords(dir + "/detour/" + GetParam())) {
      SCOPED_TRACE(record.at("id").get<std::string>());
      ++count;
      const CorridorSource source = FromDetourRecord(record);
      if (!Build(source, /*with_polygons=*/true, /*with_portals=*/false)) continue;
      const double shift = corridor_.start_shift + corridor_.goal_shift;
      if (!Build(source, with_polygons, with_portals)) continue;
      funnel_.FindShortestPath(corridor_, &path_);
      Expectation expected = ExpectationOf(record, with_polygons && !with_portals);
      expected.tolerance += 2.0 * shift;
      EXPECT_NEAR(path_.length, expected.length, expected.tolerance);
      worst = std::max(worst, std::abs(path_.length - expected.length) / expected.tolerance);
      const Deviation deviation = VerifyLine(corridor_, LineOf(path_), 2.0 * corridor_.tolerance);
      EXPECT_LE(deviation.distance, 2.0 * corridor_.tolerance)
          << "kind " << static_cast<int>(deviation.kind) << " index " << deviation.index << " of "
          << corridor_.portals.size();
    }
    EXPECT_GT(count, 0u);
    std::printf("%zu records, worst deviation %.3g of its tolerance\n", count, worst);
  }

  CorridorBuilder builder_;
  Corridor corridor_;
  Funnel funnel_;
  CorridorPath path_;
};

TEST_P(ReferenceCorridorsTest, ShortestLineWithPortalsGiven) { CheckAgainstReference(false, true); }
TEST_P(ReferenceCorridorsTest, ShortestLineWithPolygonsGiven) {
  CheckAgainstReference(true, false);
}
TEST_P(ReferenceCorridorsTest, ShortestLineWithBothGiven) { CheckAgainstReference(true, true); }

// Off-mesh links have no reference optimum: both ends of every link are corners of the line, in
// order.
TEST(ReferenceLinksTest, BothEndsOfEveryLinkStandOnTheLineInOrder) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  size_t links = 0;
  for (const nlohmann::json& record : ReadRecords(dir + "/detour/corridors_offmesh.jsonl.gz")) {
    const CorridorSource source = FromDetourRecord(record);
    for (const auto& [with_polygons, with_portals] :
         {std::pair(true, false), std::pair(false, true), std::pair(true, true)}) {
      SCOPED_TRACE(record.at("id").get<std::string>());
      CorridorInput input = source.input(with_polygons, with_portals);
      input.up_axis = UpAxis::kY;
      input.precision = CoordinatePrecision::Float32();
      input.max_end_shift = kMaxEndShift;
      CorridorBuilder builder;
      Corridor corridor;
      Violations violations;
      ASSERT_TRUE(builder.Build(input, CorridorLimits{}, &corridor, &violations))
          << violations.ToString();
      CorridorPath path;
      Funnel funnel;
      funnel.FindShortestPath(corridor, &path);
      EXPECT_LE(VerifyLine(corridor, LineOf(path), 2.0 * corridor.tolerance).distance,
                2.0 * corridor.tolerance);
      size_t corner = 0;
      for (size_t k = 0; k < record.at("polygons").size(); ++k) {
        if (record.at("polygons")[k].size() != 2) continue;
        ++links;
        EXPECT_EQ(corridor.portals[k - 1].kind, PortalKind::kLinkEntry);
        EXPECT_EQ(corridor.portals[k].kind, PortalKind::kLinkExit);
        while (corner < path.corners.size() && path.corners[corner].portal != k - 1) ++corner;
        ASSERT_LT(corner + 1, path.corners.size());
        EXPECT_EQ(path.corners[corner].side, CornerSide::kPoint);
        EXPECT_EQ(path.corners[corner].point, corridor.portals[k - 1].left);
        EXPECT_EQ(path.corners[corner + 1].portal, k);
        EXPECT_EQ(path.corners[corner + 1].point, corridor.portals[k].left);
      }
      // Detour's own answer is an upper bound where it is right, and here it is.
      EXPECT_LE(path.length, record.at("length_xz").get<double>() + 1e-3);
    }
  }
  EXPECT_GT(links, 0u);
}

INSTANTIATE_TEST_SUITE_P(Detour, ReferenceCorridorsTest,
                         ::testing::Values("corridors_dev.jsonl.gz",
                                           "corridors_synthetic.jsonl.gz"),
                         [](const auto& info) {
                           return std::string(info.param).find("dev") != std::string::npos
                                      ? "Dev"
                                      : "Synthetic";
                         });

}  // namespace
}  // namespace arclane
