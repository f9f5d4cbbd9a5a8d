// SPDX-License-Identifier: Apache-2.0
// Corridors for tests: points written in place or taken from reference records, as columns that the
// builder borrows.
#ifndef ARCLANE_TESTS_UNIT_PLANNING_CORRIDOR_CORRIDOR_RECORDS_H_
#define ARCLANE_TESTS_UNIT_PLANNING_CORRIDOR_CORRIDOR_RECORDS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "server/planning/corridor/corridor_builder.h"
#include "server/planning/corridor/corridor_input.h"
#include "server/planning/corridor/funnel.h"
#include "server/planning/geometry/vec2.h"

namespace arclane::testing {

struct Point3 {
  double a = 0.0;
  double b = 0.0;
  double height = 0.0;
};

// Owns what CorridorInput borrows. Fill, then take input().
class CorridorSource {
 public:
  struct Columns {
    std::vector<double> a, b, height;
    void Add(Point3 p) {
      a.push_back(p.a);
      b.push_back(p.b);
      height.push_back(p.height);
    }
    PointColumns view() const { return {a, b, height}; }
    size_t size() const { return a.size(); }
  };

  void SetStart(Point3 p) { start_ = p; }
  void SetGoal(Point3 p) { goal_ = p; }
  void AddPolygon(const std::vector<Point3>& points) {
    for (const Point3& p : points) vertices_.Add(p);
    vertex_count_.push_back(static_cast<uint32_t>(points.size()));
  }
  void AddPortal(Point3 left, Point3 right) {
    left_.Add(left);
    right_.Add(right);
  }
  void AddLinkEntry(uint32_t portal) { link_entries_.push_back(portal); }
  size_t portal_count() const { return left_.size(); }

  // Applies a map of the plane to every point.
  template <typename Map>
  void Transform(const Map& map) {
    const auto apply = [&map](double* a, double* b) {
      const Vec2 p = map(Vec2{*a, *b});
      *a = p.x;
      *b = p.y;
    };
    apply(&start_.a, &start_.b);
    apply(&goal_.a, &goal_.b);
    for (Columns* columns : {&vertices_, &left_, &right_}) {
      for (size_t i = 0; i < columns->size(); ++i) apply(&columns->a[i], &columns->b[i]);
    }
  }

  CorridorInput input(bool with_polygons, bool with_portals) const {
    CorridorInput input;
    input.start = {start_.a, start_.b};
    input.goal = {goal_.a, goal_.b};
    input.start_height = start_.height;
    input.goal_height = goal_.height;
    input.has_polygons = with_polygons;
    input.has_portals = with_portals;
    if (with_polygons) input.polygons = {vertices_.view(), vertex_count_};
    if (with_portals) input.portals = {left_.view(), right_.view(), link_entries_};
    return input;
  }

 private:
  Point3 start_, goal_;
  Columns vertices_, left_, right_;
  std::vector<uint32_t> vertex_count_, link_entries_;
};

// A point of a record of detour/: y up, float32 values.
inline Point3 DetourPoint(const nlohmann::json& point) {
  const auto value = [&point](int i) {
    return static_cast<double>(static_cast<float>(point.at(i).get<double>()));
  };
  return {value(0), value(2), value(1)};
}

inline CorridorSource FromDetourRecord(const nlohmann::json& record) {
  CorridorSource source;
  source.SetStart(DetourPoint(record.at("start")));
  source.SetGoal(DetourPoint(record.at("goal")));
  const nlohmann::json& polygons = record.at("polygons");
  for (size_t k = 0; k < polygons.size(); ++k) {
    std::vector<Point3> points;
    for (const nlohmann::json& vertex : polygons[k]) points.push_back(DetourPoint(vertex));
    source.AddPolygon(points);
    if (points.size() == 2 && k > 0) source.AddLinkEntry(static_cast<uint32_t>(k - 1));
  }
  for (const nlohmann::json& portal : record.at("portals")) {
    source.AddPortal(DetourPoint(portal.at("left")), DetourPoint(portal.at("right")));
  }
  return source;
}

inline std::vector<Vec2> LineOf(const CorridorPath& path) {
  std::vector<Vec2> points{path.start};
  for (const PathCorner& corner : path.corners) points.push_back(corner.point);
  points.push_back(path.goal);
  return points;
}

}  // namespace arclane::testing

#endif  // ARCLANE_TESTS_UNIT_PLANNING_CORRIDOR_CORRIDOR_RECORDS_H_
