// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/planning/rounding/rounding_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "nlohmann/json.hpp"
#include "server/planning/rounding/inset_path.h"
#include "tests/support/reference_data.h"

namespace arclane::testing {
namespace {

using nlohmann::json;

double SignedArea(const std::vector<Vec2>& polygon) {
  double twice = 0.0;
  for (size_t i = 0; i < polygon.size(); ++i) {
    twice += Cross(polygon[i] - polygon[0], polygon[(i + 1) % polygon.size()] - polygon[0]);
  }
  return 0.5 * twice;
}

// Detour's plane is (x, z); its numbers are float32.
Vec2 FromDetour(const json& p) {
  return {static_cast<double>(p[0].get<float>()), static_cast<double>(p[2].get<float>())};
}

void FillCase(const json& record, RoundingCase& result) {
  result.id = record["id"];
  result.radius_max = record["Rp"];
  result.radius_min = record["Rmin"];
  result.corners_total = record["corners_total"];
  result.taut_stop_time = record["taut_stop_time"];
  result.best_known_time = record["best_known_time"];
  result.best_known_time_stops = record["best_known_time_stops"];
  result.best_known_rounded_count = record["best_known_rounded_count"];
  result.best_known_rounded_time = record["best_known_rounded_time"];
  if (!record["best_known_time_ext5"].is_null()) {
    result.best_known_time_ext5 = record["best_known_time_ext5"];
  }
}

RoundingCase FromDetourRecord(const json& record) {
  std::vector<std::vector<Vec2>> polygons;
  for (const json& polygon : record["polygons"]) {
    std::vector<Vec2>& vertices = polygons.emplace_back();
    for (const json& p : polygon) vertices.push_back(FromDetour(p));
  }
  std::vector<Portal> portals;
  for (const json& portal : record["portals"]) {
    portals.push_back({FromDetour(portal["left"]), FromDetour(portal["right"])});
  }
  return MakeCase(record["id"], FromDetour(record["start"]), FromDetour(record["goal"]),
                  std::move(polygons), std::move(portals));
}

RoundingCase FromMapRecord(const json& mesh, const json& query) {
  const auto vertex = [&](const json& index) {
    const json& v = mesh["vertices"][index.get<size_t>()];
    return Vec2{v[0].get<double>(), v[1].get<double>()};
  };
  const json& chain = query["corridor_optimal"]["polygons"];
  std::vector<std::vector<Vec2>> polygons;
  std::vector<Portal> portals;
  for (size_t i = 0; i < chain.size(); ++i) {
    const size_t id = chain[i];
    const json& polygon = mesh["polygons"][id];
    std::vector<Vec2>& vertices = polygons.emplace_back();
    for (const json& index : polygon) vertices.push_back(vertex(index));
    if (i + 1 == chain.size()) break;
    // The union of the collinear edges shared with the next polygon; left is the end of an edge's
    // counter-clockwise run.
    const int next = chain[i + 1];
    Portal portal;
    bool found = false;
    for (size_t e = 0; e < vertices.size(); ++e) {
      if (mesh["neighbours"][id][e].get<int>() != next) continue;
      const Vec2 right = vertices[e];
      const Vec2 left = vertices[(e + 1) % vertices.size()];
      if (!found) {
        portal.left = left;
        portal.right = right;
        found = true;
      } else {
        const Vec2 along = portal.left - portal.right;
        if (Dot(left - portal.left, along) > 0) portal.left = left;
        if (Dot(right - portal.right, along) < 0) portal.right = right;
      }
    }
    portals.push_back(portal);
  }
  const Vec2 start = {query["start"][0].get<double>(), query["start"][1].get<double>()};
  const Vec2 goal = {query["goal"][0].get<double>(), query["goal"][1].get<double>()};
  return MakeCase(query["id"], start, goal, std::move(polygons), std::move(portals));
}

}  // namespace

DrivingLimits ReferenceLimits() {
  DrivingLimits limits;
  limits.max_speed = 6.0;
  limits.max_acceleration = 3.0;
  limits.max_braking = 4.0;
  limits.max_lateral_acceleration = 4.0;
  return limits;
}

RoundingCase MakeCase(std::string id, Vec2 start, Vec2 goal,
                      std::vector<std::vector<Vec2>> polygons, std::vector<Portal> portals) {
  RoundingCase result;
  result.id = std::move(id);
  Corridor& corridor = result.corridor;
  corridor.start = start;
  corridor.goal = goal;
  corridor.portals = std::move(portals);
  corridor.has_polygons = true;
  double largest = 0.0;
  corridor.cell_begin.push_back(0);
  for (std::vector<Vec2>& polygon : polygons) {
    if (SignedArea(polygon) < 0.0) std::reverse(polygon.begin(), polygon.end());
    for (const Vec2 p : polygon) {
      corridor.cell_vertices.push_back(p);
      largest = std::max({largest, std::abs(p.x), std::abs(p.y)});
    }
    corridor.cell_begin.push_back(static_cast<uint32_t>(corridor.cell_vertices.size()));
  }
  for (size_t i = 0; i + 1 < corridor.portals.size(); ++i) {
    const Portal& a = corridor.portals[i];
    const Portal& b = corridor.portals[i + 1];
    if (a.left == b.right && a.right == b.left) corridor.turns_back = true;
  }
  corridor.cell_heights.assign(corridor.cell_vertices.size(), 0.0);
  // Four units in the last place of float32 at the largest coordinate.
  corridor.tolerance = 4.0 * std::numeric_limits<float>::epsilon() * largest;
  result.taut = TautInsetPath(corridor, 0.0, /*reversed=*/false).points;
  return result;
}

std::vector<RoundingCase> ReadCornerCases(const std::string& reference_dir,
                                          const std::string& file) {
  std::map<std::string, json> corridors;
  std::map<std::string, json> meshes;
  std::vector<RoundingCase> cases;
  for (const json& record : ReadRecords(reference_dir + "/corners/" + file)) {
    const std::string id = record["id"];
    const size_t colon = id.find(':');
    RoundingCase result;
    if (colon == std::string::npos) {
      if (corridors.empty()) {
        for (json& corridor : ReadRecords(reference_dir + "/detour/corridors_dev.jsonl.gz")) {
          corridors.emplace(corridor["id"], std::move(corridor));
        }
      }
      result = FromDetourRecord(corridors.at(id));
    } else {
      if (corridors.empty()) {
        for (json& query : ReadRecords(reference_dir + "/maps/queries_dev.jsonl.gz")) {
          std::string key = query["map"].get<std::string>() + ":" + query["id"].get<std::string>();
          corridors.emplace(std::move(key), std::move(query));
        }
      }
      const std::string map = id.substr(0, colon);
      if (!meshes.contains(map)) {
        meshes[map] = json::parse(ReadFile(reference_dir + "/maps/meshes/" + map + ".json.gz"));
      }
      result = FromMapRecord(meshes[map], corridors.at(id));
    }
    FillCase(record, result);
    cases.push_back(std::move(result));
  }
  return cases;
}

}  // namespace arclane::testing
