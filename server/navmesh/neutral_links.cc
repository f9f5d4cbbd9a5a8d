// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "server/navmesh/edge_overlap.h"
#include "server/navmesh/linked_tile.h"
#include "server/navmesh/polygon_check.h"

namespace arclane {
namespace {

struct OpenEdge {
  uint32_t polygon = 0;
  uint32_t edge = 0;
  MeshPoint a, b;
};

std::vector<OpenEdge> OpenEdges(const Tile& tile) {
  std::vector<OpenEdge> edges;
  for (uint32_t p = 0; p < tile.ground_count; ++p) {
    const auto vertices = tile.vertices_of(p);
    const auto neighbours = tile.neighbours_of(p);
    for (uint32_t e = 0; e < vertices.size(); ++e) {
      if (neighbours[e] != kOpenBorderEdge) continue;
      edges.push_back(
          {p, e, tile.vertices[vertices[e]], tile.vertices[vertices[(e + 1) % vertices.size()]]});
    }
  }
  return edges;
}

// The distance of a point from a polygon in plan; 0 inside or on it.
double PlanDistance(const Tile& tile, uint32_t polygon, Vec2 p, MeshUpAxis up) {
  const auto vertices = tile.vertices_of(polygon);
  bool inside = true;
  double nearest = std::numeric_limits<double>::infinity();
  for (size_t e = 0; e < vertices.size(); ++e) {
    const Vec2 a = PlanOf(tile.vertices[vertices[e]], up);
    const Vec2 b = PlanOf(tile.vertices[vertices[(e + 1) % vertices.size()]], up);
    inside = inside && Cross(b - a, p - a) <= 0;  // Clockwise: the inside is on the right.
    const double t = std::clamp(Dot(p - a, b - a) / SquaredNorm(b - a), 0.0, 1.0);
    nearest = std::min(nearest, Distance(p, Lerp(a, b, t)));
  }
  return inside ? 0.0 : nearest;
}

// The height of a polygon at a point: that of the triangle of its fan over which the point lies, or
// of its nearest vertex.
double HeightAt(const Tile& tile, uint32_t polygon, Vec2 p, MeshUpAxis up) {
  const auto vertices = tile.vertices_of(polygon);
  const MeshPoint& first = tile.vertices[vertices[0]];
  const Vec2 a = PlanOf(first, up);
  double height = HeightOf(first, up), nearest = Distance(p, a);
  for (size_t i = 1; i < vertices.size(); ++i) {
    const MeshPoint& vertex = tile.vertices[vertices[i]];
    const Vec2 b = PlanOf(vertex, up);
    if (const double distance = Distance(p, b); distance < nearest) {
      nearest = distance;
      height = HeightOf(vertex, up);
    }
    if (i + 1 == vertices.size()) break;
    const MeshPoint& next = tile.vertices[vertices[i + 1]];
    const Vec2 c = PlanOf(next, up);
    const double area = Cross(b - a, c - a);
    const double u = Cross(p - a, c - a), v = Cross(b - a, p - a);
    if (area >= 0 || u > 0 || v > 0 || u + v < area) continue;
    const double base = HeightOf(first, up);
    return base + (u * (HeightOf(vertex, up) - base) + v * (HeightOf(next, up) - base)) / area;
  }
  return height;
}

}  // namespace

std::optional<EdgeOverlap> OverlapOf(const MeshPoint& a, const MeshPoint& b, const MeshPoint& c,
                                     const MeshPoint& d, const OverlapRule& rule) {
  const Vec2 pa = PlanOf(a, rule.up), pb = PlanOf(b, rule.up);
  const Vec2 pc = PlanOf(c, rule.up), pd = PlanOf(d, rule.up);
  const Vec2 along = pb - pa;
  const double length = Norm(along);
  const double other_length = Distance(pc, pd);
  if (!(length > 0) || !(other_length > 0) || Dot(along, pd - pc) >= 0) return std::nullopt;
  // The longer edge's line is the better known: both ends of the shorter one must lie on it.
  const bool longer = length >= other_length;
  const Vec2 line_origin = longer ? pa : pc;
  const Vec2 line = longer ? along * (1 / length) : (pd - pc) * (1 / other_length);
  for (const Vec2 end : {longer ? pc : pa, longer ? pd : pb}) {
    if (std::fabs(Cross(line, end - line_origin)) > rule.tolerance) return std::nullopt;
  }
  // d is the end nearer to a, for the edges run against each other.
  double low = Dot(pd - pa, along) / length, high = Dot(pc - pa, along) / length;
  if (low < rule.tolerance) low = 0;
  if (high > length - rule.tolerance) high = length;
  if (high - low <= rule.tolerance) return std::nullopt;
  const EdgeOverlap overlap{low / length, high == length ? 1.0 : high / length};
  const double reach = std::max(rule.max_step, rule.tolerance);
  for (const double t : {overlap.low, overlap.high}) {
    const Vec2 p = Lerp(pa, pb, t);
    const double s = std::clamp(Dot(p - pc, pd - pc) / (other_length * other_length), 0.0, 1.0);
    const double here = std::lerp(HeightOf(a, rule.up), HeightOf(b, rule.up), t);
    const double there = std::lerp(HeightOf(c, rule.up), HeightOf(d, rule.up), s);
    if (std::fabs(here - there) > reach) return std::nullopt;
  }
  return overlap;
}

std::shared_ptr<const Border> LinkNeutralBorder(const Tile& from, const Tile& to, MeshUpAxis up,
                                                double tolerance, double max_step,
                                                uint32_t target_slot, LinkBudget& budget) {
  const std::vector<OpenEdge> edges = OpenEdges(from), targets = OpenEdges(to);
  if (!budget.Spend(edges.size() * targets.size())) return nullptr;
  auto border = std::make_shared<Border>();
  border->target_slot = target_slot;
  const OverlapRule rule{up, tolerance, max_step};
  for (const OpenEdge& edge : edges) {
    for (const OpenEdge& target : targets) {
      const auto overlap = OverlapOf(edge.a, edge.b, target.a, target.b, rule);
      if (!overlap) continue;
      BorderLink link;
      link.from = edge.polygon;
      link.to = target.polygon;
      link.edge = static_cast<uint16_t>(edge.edge);
      if (overlap->low > 0 || overlap->high < 1) {
        const auto at = [&](double t) {
          if (t <= 0) return edge.a;
          if (t >= 1) return edge.b;
          return MeshPoint{std::lerp(edge.a.x, edge.b.x, t), std::lerp(edge.a.y, edge.b.y, t),
                           std::lerp(edge.a.z, edge.b.z, t)};
        };
        link.portal = static_cast<uint32_t>(border->portals.size());
        border->portals.push_back({at(overlap->low), at(overlap->high)});
      }
      border->links.push_back(link);
    }
  }
  if (border->links.empty()) return nullptr;
  return border;
}

std::optional<Landing> LandOnNeutralTile(const Tile& tile, const MeshPoint& point, double radius,
                                         MeshUpAxis up, LinkBudget& budget) {
  if (!budget.Spend(tile.vertex_index.size())) return std::nullopt;
  const Vec2 p = PlanOf(point, up);
  std::optional<Landing> best;
  for (uint32_t polygon = 0; polygon < tile.ground_count; ++polygon) {
    const double distance = PlanDistance(tile, polygon, p, up);
    if (distance > radius) continue;
    const double height = std::fabs(HeightAt(tile, polygon, p, up) - HeightOf(point, up));
    if (best && std::pair(distance, height) >= std::pair(best->distance, best->height)) continue;
    best = Landing{polygon, point, distance, height};
  }
  return best;
}

}  // namespace arclane
