// SPDX-License-Identifier: Apache-2.0
// The corridors of the game and street maps: the exact shortest length in each, as sent and under
// transformations that are exact in doubles.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/corridor/corridor_builder.h"
#include "server/planning/corridor/funnel.h"
#include "server/planning/corridor/verification.h"
#include "tests/support/reference_data.h"
#include "tests/unit/planning/corridor/corridor_records.h"

namespace arclane {
namespace {

using testing::CorridorSource;
using testing::LineOf;
using testing::Point3;
using testing::ReadFile;
using testing::ReadRecords;

constexpr const char* kCorridorKinds[] = {"corridor_optimal", "corridor_astar_centroid",
                                          "corridor_astar_edgemid"};

struct Mesh {
  std::vector<Vec2> vertices;
  std::vector<std::vector<uint32_t>> polygons;
};

Mesh LoadMesh(const std::string& path) {
  const nlohmann::json json = nlohmann::json::parse(ReadFile(path));
  Mesh mesh;
  for (const nlohmann::json& v : json.at("vertices")) {
    mesh.vertices.push_back({v[0].get<double>(), v[1].get<double>()});
  }
  mesh.polygons = json.at("polygons").get<std::vector<std::vector<uint32_t>>>();
  return mesh;
}

CorridorSource SourceOf(const Mesh& mesh, const nlohmann::json& record,
                        const std::vector<uint32_t>& polygons) {
  CorridorSource source;
  const auto point = [](const nlohmann::json& p) {
    return Point3{p[0].get<double>(), p[1].get<double>(), 0.0};
  };
  source.SetStart(point(record.at("start")));
  source.SetGoal(point(record.at("goal")));
  for (const uint32_t polygon : polygons) {
    std::vector<Point3> points;
    for (const uint32_t v : mesh.polygons[polygon]) {
      points.push_back({mesh.vertices[v].x, mesh.vertices[v].y, 0.0});
    }
    source.AddPolygon(points);
  }
  return source;
}

class ReferenceMapsTest : public ::testing::Test {
 protected:
  // The length of the shortest line, or NaN when the corridor was refused; the line must pass the
  // verification.
  double ShortestLength(const CorridorSource& source) {
    CorridorInput input = source.input(/*with_polygons=*/true, /*with_portals=*/false);
    input.precision = CoordinatePrecision::Double();
    input.max_end_shift = 1e-5;
    Violations violations;
    if (!builder_.Build(input, CorridorLimits{}, &corridor_, &violations)) {
      ADD_FAILURE() << violations.ToString();
      return std::nan("");
    }
    funnel_.FindShortestPath(corridor_, &path_);
    const double tolerance = 4.0 * corridor_.tolerance;
    EXPECT_LE(VerifyLine(corridor_, LineOf(path_), tolerance).distance, tolerance);
    return path_.length;
  }

  CorridorBuilder builder_;
  Corridor corridor_;
  Funnel funnel_;
  CorridorPath path_;
};

struct Transformation {
  const char* name;
  double scale;
  Vec2 (*map)(Vec2);
};

constexpr double kOffset = 1073741824.0;  // 2^30
constexpr Transformation kTransformations[] = {
    {"offset", 1.0,
     [](Vec2 p) {
       return Vec2{p.x + kOffset, p.y + kOffset};
     }},
    {"negative offset", 1.0,
     [](Vec2 p) {
       return Vec2{p.x - kOffset, p.y + 4096.0};
     }},
    {"mirror", 1.0,
     [](Vec2 p) {
       return Vec2{-p.x, p.y};
     }},
    {"quarter turn", 1.0,
     [](Vec2 p) {
       return Vec2{-p.y, p.x};
     }},
    {"scale 2^20", 1048576.0, [](Vec2 p) { return p * 1048576.0; }},
    {"scale 2^-20", 0x1p-20, [](Vec2 p) { return p * 0x1p-20; }},
};

bool IsExactClass(const nlohmann::json& record) {
  const std::string name = record.at("class").get<std::string>();
  return name == "scen_cell_centre" || name == "scen_lattice_point" ||
         name == "both_on_corner_vertex";
}

TEST_F(ReferenceMapsTest, LengthsAreOptimalAsSentAndUnderExactTransformations) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  std::map<std::string, Mesh> meshes;
  size_t corridors = 0;
  size_t transformed = 0;
  double worst = 0.0;
  for (const nlohmann::json& record : ReadRecords(dir + "/maps/queries_dev.jsonl.gz")) {
    const std::string map = record.at("map").get<std::string>();
    if (!meshes.count(map)) meshes[map] = LoadMesh(dir + "/maps/meshes/" + map + ".json.gz");
    for (const char* kind : kCorridorKinds) {
      if (!record.contains(kind) || record.at(kind).is_null()) continue;
      SCOPED_TRACE(record.at("id").get<std::string>() + " " + kind);
      const nlohmann::json& expected = record.at(kind);
      const double length = expected.at("length").get<double>();
      const CorridorSource source =
          SourceOf(meshes[map], record, expected.at("polygons").get<std::vector<uint32_t>>());
      ++corridors;
      const double found = ShortestLength(source);
      EXPECT_NEAR(found, length, 1e-9 * length);
      if (length > 0.0) worst = std::max(worst, std::abs(found - length) / length);
      if (!IsExactClass(record) || map == "ih_mp2p01") continue;
      for (const Transformation& transformation : kTransformations) {
        SCOPED_TRACE(transformation.name);
        CorridorSource changed = source;
        changed.Transform(transformation.map);
        ++transformed;
        const double scaled = length * transformation.scale;
        EXPECT_NEAR(ShortestLength(changed), scaled, 1e-9 * scaled);
      }
    }
  }
  EXPECT_GT(corridors, 0u);
  std::printf("%zu corridors, %zu transformed, worst relative difference %.3g\n", corridors,
              transformed, worst);
}

}  // namespace
}  // namespace arclane
