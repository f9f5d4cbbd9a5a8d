// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/clean_polygons.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

// True when every vertex turns left by clearly more than the tolerance and the boundary winds once:
// x then rises and falls once. The sum of the two edges' extents bounds the distance over which a
// vertex stands out.
bool TurnsStrictlyLeftOnce(std::span<const Vec2> vertices, double tolerance) {
  const size_t n = vertices.size();
  Vec2 edge = vertices[0] - vertices[n - 1];
  bool was_rising = edge.x > 0.0 || (edge.x == 0.0 && edge.y > 0.0);
  int changes = 0;
  bool is_strict = true;
  for (size_t i = 0; i < n; ++i) {
    const Vec2 next = vertices[i + 1 == n ? 0 : i + 1] - vertices[i];
    const double extent = std::abs(edge.x) + std::abs(edge.y) + std::abs(next.x) + std::abs(next.y);
    is_strict &= Cross(edge, next) > tolerance * extent;
    const bool is_rising = next.x > 0.0 || (next.x == 0.0 && next.y > 0.0);
    changes += is_rising != was_rising;
    was_rising = is_rising;
    edge = next;
  }
  return is_strict && changes == 2;
}

}  // namespace

void CleanPolygons::clear() {
  polygons_.clear();
  vertices_.clear();
  heights_.clear();
}

void CleanPolygons::Assign(const CorridorInput& input, double tolerance, Violations* violations) {
  clear();
  size_t first = 0;
  for (size_t k = 0; k < input.polygons.vertex_count.size(); ++k) {
    const size_t count = input.polygons.vertex_count[k];
    Add(input, first, count, tolerance);
    polygons_[k].usable = count == 2 || CheckShape(input, k, tolerance, violations);
    first += count;
  }
}

void CleanPolygons::Add(const CorridorInput& input, size_t first, size_t count, double tolerance) {
  CleanPolygon polygon;
  polygon.begin = static_cast<uint32_t>(vertices_.size());
  const PointColumns& columns = input.polygons.vertices;
  const double height_origin = columns.has_height() ? input.origin_height : 0.0;
  const double squared_tolerance = tolerance * tolerance;
  vertices_.resize(polygon.begin + count);
  heights_.resize(polygon.begin + count);
  size_t end = polygon.begin;
  for (size_t v = first; v < first + count; ++v) {
    const Vec2 point = columns.point(v) - input.origin;
    const bool repeats = count > 2 && end > polygon.begin &&
                         SquaredNorm(point - vertices_[end - 1]) <= squared_tolerance;
    if (repeats) continue;
    vertices_[end] = point;
    heights_[end] = columns.height_at(v) - height_origin;
    ++end;
  }
  vertices_.resize(end);
  heights_.resize(end);
  while (count > 2 && vertices_.size() > polygon.begin + 1 &&
         SquaredNorm(vertices_.back() - vertices_[polygon.begin]) <= squared_tolerance) {
    vertices_.pop_back();
    heights_.pop_back();
  }
  polygon.size = static_cast<uint32_t>(vertices_.size()) - polygon.begin;
  polygons_.push_back(polygon);
}

// Turns the polygon counter-clockwise; false, with a violation, when it is not convex.
bool CleanPolygons::CheckShape(const CorridorInput& input, size_t k, double tolerance,
                               Violations* violations) {
  CleanPolygon& polygon = polygons_[k];
  const auto fault = [&](ViolationReason reason, std::string description) {
    violations->Add(reason, absl::StrCat("polygons[", k, "]"), std::move(description));
    return false;
  };
  if (polygon.size < 3) {
    // Two distinct points left of a polygon of more are no link.
    return fault(ViolationReason::kDegenerate,
                 "has no area: its vertices are not three distinct points");
  }
  const std::span<Vec2> vertices = Vertices(k);
  if (TwiceSignedArea(vertices) < 0.0) {
    std::reverse(vertices.begin(), vertices.end());
    std::reverse(Heights(k).begin(), Heights(k).end());
  }
  if (TurnsStrictlyLeftOnce(vertices, tolerance)) {
    polygon.strictly_convex = true;
    return true;
  }
  polygon.needs_hull = true;
  size_t offending = 0;
  const PolygonShape shape = ClassifyPolygon(vertices, tolerance, &shape_, &offending);
  const auto vertex = [&] {
    const Vec2 at = vertices[offending] + input.origin;
    return absl::StrCat("the vertex (", at.x, ", ", at.y, ")");
  };
  switch (shape) {
    case PolygonShape::kConvex:
      break;
    case PolygonShape::kNotConvex:
      return fault(ViolationReason::kNotConvex, absl::StrCat("is not convex at ", vertex()));
    case PolygonShape::kSelfCrossing:
      return fault(ViolationReason::kSelfCrossing,
                   absl::StrCat("crosses itself or winds more than once, at ", vertex()));
    case PolygonShape::kDegenerate:
      return fault(ViolationReason::kDegenerate, "has no area: its vertices lie on one line");
  }
  return true;
}

}  // namespace arclane
