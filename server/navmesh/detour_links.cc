// SPDX-License-Identifier: Apache-2.0
// Detour's rules for links between tiles, in float32, so that portals come out bit for bit as in
// the game that published the mesh (Recast Navigation, DetourNavMesh.cpp: connectExtLinks,
// findConnectingPolyAreas, baseOffMeshLinks).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "server/navmesh/linked_tile.h"

namespace arclane {
namespace {

using Float3 = std::array<float, 3>;

Float3 ToFloat(const MeshPoint& p) {
  return {static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)};
}
MeshPoint ToPoint(const Float3& p) { return {p[0], p[1], p[2]}; }
Float3 Lerp(const Float3& a, const Float3& b, float t) {
  return {a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t};
}

// Edges on a tile's border lie within this distance of one plane (length units; the constant of the
// format).
constexpr float kPlaneReach = 0.01f;
constexpr size_t kMaxLinksPerEdge = 4;

// An edge seen along its border's plane: from `low` to `high` along the border, with heights there.
struct Slab {
  float plane = 0.0f;
  float low = 0.0f, low_height = 0.0f;
  float high = 0.0f, high_height = 0.0f;
};

// Sides 0 and 4 are planes of constant x, 2 and 6 of constant z.
size_t AlongAxis(uint8_t side) { return side == 0 || side == 4 ? 2 : 0; }

Slab SlabOf(const Float3& a, const Float3& b, uint8_t side) {
  const size_t along = AlongAxis(side);
  const Float3& first = a[along] < b[along] ? a : b;
  const Float3& second = a[along] < b[along] ? b : a;
  return {a[2 - along], first[along], first[1], second[along], second[1]};
}

// True when the slabs overlap by more than a touch and come within `climb` of each other in height
// there.
bool Overlap(const Slab& a, const Slab& b, float climb) {
  const float low = std::max(a.low + kPlaneReach, b.low + kPlaneReach);
  const float high = std::min(a.high - kPlaneReach, b.high - kPlaneReach);
  if (low > high) return false;
  const float a_slope = (a.high_height - a.low_height) / (a.high - a.low);
  const float a_base = a.low_height - a_slope * a.low;
  const float b_slope = (b.high_height - b.low_height) / (b.high - b.low);
  const float b_base = b.low_height - b_slope * b.low;
  const float at_low = (b_slope * low + b_base) - (a_slope * low + a_base);
  const float at_high = (b_slope * high + b_base) - (a_slope * high + a_base);
  if (at_low * at_high < 0) return true;
  const float reach = (climb * 2) * (climb * 2);
  return at_low * at_low <= reach || at_high * at_high <= reach;
}

struct BorderEdge {
  uint32_t polygon = 0;
  uint8_t side = 0;
  Slab slab;
};

// Border edges of ground polygons, by polygon and edge.
std::vector<BorderEdge> BorderEdges(const Tile& tile) {
  std::vector<BorderEdge> edges;
  for (uint32_t p = 0; p < tile.ground_count; ++p) {
    const auto vertices = tile.vertices_of(p);
    const auto neighbours = tile.neighbours_of(p);
    for (size_t e = 0; e < vertices.size(); ++e) {
      if (neighbours[e] > kBorderEdge || neighbours[e] <= kOpenBorderEdge) continue;
      const auto side = static_cast<uint8_t>(kBorderEdge - neighbours[e]);
      const Float3 a = ToFloat(tile.vertices[vertices[e]]);
      const Float3 b = ToFloat(tile.vertices[vertices[(e + 1) % vertices.size()]]);
      edges.push_back({p, side, SlabOf(a, b, side)});
    }
  }
  return edges;
}

uint8_t ToByte(float fraction) {
  const float clamped = fraction < 0.0f ? 0.0f : (fraction > 1.0f ? 1.0f : fraction);
  // A fraction that is no number comes from an edge of no length along the border.
  return std::isnan(clamped) ? 0 : static_cast<uint8_t>(std::round(clamped * 255.0f));
}

// Links of one edge, in the order in which they are found.
void LinkEdge(const Tile& from, uint32_t polygon, uint32_t edge, uint8_t side,
              const std::vector<BorderEdge>& targets, float climb, std::vector<BorderLink>& links) {
  const auto vertices = from.vertices_of(polygon);
  const Float3 a = ToFloat(from.vertices[vertices[edge]]);
  const Float3 b = ToFloat(from.vertices[vertices[(edge + 1) % vertices.size()]]);
  const Slab slab = SlabOf(a, b, side);
  const uint8_t opposite = (side + 4) & 7;
  size_t found = 0;
  uint32_t done = kNoIndex;  // Only the first edge of a target polygon is linked.
  for (const BorderEdge& target : targets) {
    if (target.side != opposite || target.polygon == done) continue;
    if (std::fabs(slab.plane - target.slab.plane) > kPlaneReach) continue;
    if (!Overlap(slab, target.slab, climb)) continue;
    done = target.polygon;
    if (found == kMaxLinksPerEdge) return;
    ++found;
    const size_t along = AlongAxis(side);
    float low = (std::max(slab.low, target.slab.low) - a[along]) / (b[along] - a[along]);
    float high = (std::min(slab.high, target.slab.high) - a[along]) / (b[along] - a[along]);
    if (low > high) std::swap(low, high);
    BorderLink link;
    link.from = polygon;
    link.to = target.polygon;
    link.edge = static_cast<uint16_t>(edge);
    link.side = side;
    link.low = ToByte(low);
    link.high = ToByte(high);
    links.push_back(link);
  }
}

// Even-odd test in plan.
bool Contains(const std::vector<Float3>& polygon, const Float3& p) {
  bool inside = false;
  for (size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++) {
    const Float3& a = polygon[i];
    const Float3& b = polygon[j];
    if ((a[2] > p[2]) != (b[2] > p[2]) &&
        p[0] < (b[0] - a[0]) * (p[2] - a[2]) / (b[2] - a[2]) + a[0]) {
      inside = !inside;
    }
  }
  return inside;
}

// Height of the triangle at p, where p lies over it in plan.
std::optional<float> TriangleHeight(const Float3& p, const std::array<Float3, 3>& t) {
  constexpr float kDegenerate = 1e-6f;
  const float ux = t[2][0] - t[0][0], uy = t[2][1] - t[0][1], uz = t[2][2] - t[0][2];
  const float vx = t[1][0] - t[0][0], vy = t[1][1] - t[0][1], vz = t[1][2] - t[0][2];
  const float px = p[0] - t[0][0], pz = p[2] - t[0][2];
  float area = ux * vz - uz * vx;
  if (std::fabs(area) < kDegenerate) return std::nullopt;
  float u = vz * px - vx * pz;
  float v = ux * pz - uz * px;
  if (area < 0) {
    area = -area;
    u = -u;
    v = -v;
  }
  if (u < 0.0f || v < 0.0f || u + v > area) return std::nullopt;
  return t[0][1] + (uy * u + vy * v) / area;
}

// A ground polygon with its heights, as landing points see it.
class Ground {
 public:
  Ground(const Tile& tile, uint32_t polygon) {
    for (const uint32_t v : tile.vertices_of(polygon))
      outline_.push_back(ToFloat(tile.vertices[v]));
    if (tile.detail_polygons.empty()) return;
    const DetailPolygon& detail = tile.detail_polygons[polygon];
    for (uint32_t i = 0; i < detail.triangle_count; ++i) {
      const auto& corners = tile.detail_triangles[detail.triangle_begin + i];
      Triangle triangle{{}, corners};
      for (size_t k = 0; k < 3; ++k) {
        triangle.points[k] =
            corners[k] < outline_.size()
                ? outline_[corners[k]]
                : tile.detail_vertices[detail.vertex_begin + corners[k] - outline_.size()];
      }
      triangles_.push_back(triangle);
    }
  }

  // The closest point, and whether p lies over the polygon.
  Float3 ClosestPoint(const Float3& p, bool& over) const {
    over = Contains(outline_, p);
    if (!over) return OnEdges(p, /*boundary_only=*/true);
    for (const Triangle& triangle : triangles_) {
      if (const auto height = TriangleHeight(p, triangle.points)) return {p[0], *height, p[2]};
    }
    return {p[0], OnEdges(p, /*boundary_only=*/false)[1], p[2]};
  }

 private:
  struct Triangle {
    std::array<Float3, 3> points;
    std::array<uint8_t, 4>
        corners;  // The fourth holds two flag bits an edge; bit 0: on the outline.
  };

  struct Nearest {
    float distance = std::numeric_limits<float>::max();
    float t = 0.0f;
    const Float3* a = nullptr;
    const Float3* b = nullptr;
  };

  static void Consider(const Float3& p, const Float3& a, const Float3& b, Nearest& best) {
    const float ex = b[0] - a[0], ez = b[2] - a[2];
    const float squared = ex * ex + ez * ez;
    float t = ex * (p[0] - a[0]) + ez * (p[2] - a[2]);
    if (squared > 0) t /= squared;
    t = t < 0 ? 0 : (t > 1 ? 1 : t);
    const float dx = a[0] + t * ex - p[0], dz = a[2] + t * ez - p[2];
    const float distance = dx * dx + dz * dz;
    if (distance < best.distance) best = {distance, t, &a, &b};
  }

  Float3 OnEdges(const Float3& p, bool boundary_only) const {
    Nearest best;
    for (const Triangle& triangle : triangles_) {
      for (size_t k = 0, j = 2; k < 3; j = k++) {
        const bool boundary = (triangle.corners[3] >> (j * 2)) & 1;
        if (!boundary && (boundary_only || triangle.corners[j] < triangle.corners[k])) continue;
        Consider(p, triangle.points[j], triangle.points[k], best);
      }
    }
    if (best.a == nullptr) {  // No heights of its own: the outline's.
      for (size_t k = 0, j = outline_.size() - 1; k < outline_.size(); j = k++) {
        Consider(p, outline_[j], outline_[k], best);
      }
    }
    // Squares that overflow leave nothing nearest.
    return best.a == nullptr ? outline_[0] : Lerp(*best.a, *best.b, best.t);
  }

  std::vector<Float3> outline_;
  std::vector<Triangle> triangles_;
};

// Ground polygons whose bounds meet the box, in the order of the tile's bounding volume tree.
std::vector<uint32_t> PolygonsInBox(const Tile& tile, const Float3& low, const Float3& high) {
  std::vector<uint32_t> found;
  if (!tile.bounds.empty()) {
    std::array<uint16_t, 3> box_low, box_high;
    for (size_t k = 0; k < 3; ++k) {
      const float bottom = static_cast<float>(tile.low[k]), top = static_cast<float>(tile.high[k]);
      const float a = std::clamp(low[k], bottom, top) - bottom;
      const float b = std::clamp(high[k], bottom, top) - bottom;
      constexpr float kLargest = 65535.0f;
      box_low[k] = static_cast<uint16_t>(std::min(tile.quantisation * a, kLargest)) & 0xfffe;
      box_high[k] = static_cast<uint16_t>(std::min(tile.quantisation * b + 1, kLargest)) | 1;
    }
    for (const QuantisedBounds& leaf : tile.bounds) {
      bool meets = leaf.polygon < tile.ground_count;
      for (size_t k = 0; k < 3; ++k) {
        meets = meets && box_low[k] <= leaf.high[k] && box_high[k] >= leaf.low[k];
      }
      if (meets) found.push_back(leaf.polygon);
    }
    return found;
  }
  for (uint32_t p = 0; p < tile.ground_count; ++p) {
    Float3 bottom = ToFloat(tile.vertices[tile.vertices_of(p)[0]]), top = bottom;
    for (const uint32_t v : tile.vertices_of(p)) {
      const Float3 vertex = ToFloat(tile.vertices[v]);
      for (size_t k = 0; k < 3; ++k) {
        bottom[k] = std::min(bottom[k], vertex[k]);
        top[k] = std::max(top[k], vertex[k]);
      }
    }
    bool meets = true;
    for (size_t k = 0; k < 3; ++k) meets = meets && low[k] <= top[k] && high[k] >= bottom[k];
    if (meets) found.push_back(p);
  }
  return found;
}

}  // namespace

std::shared_ptr<const Border> LinkDetourBorder(const Tile& from, const Tile& to, uint8_t side,
                                               uint32_t target_slot, LinkBudget& budget) {
  // Diagonal neighbours share no edge.
  if (side != kNoSide && side % 2 != 0) return nullptr;
  const std::vector<BorderEdge> targets = BorderEdges(to);
  if (targets.empty()) return nullptr;
  auto border = std::make_shared<Border>();
  border->target_slot = target_slot;
  const auto climb = static_cast<float>(to.walkable_climb);
  for (uint32_t p = 0; p < from.ground_count; ++p) {
    const auto neighbours = from.neighbours_of(p);
    const size_t first = border->links.size();
    for (uint32_t e = 0; e < neighbours.size(); ++e) {
      if (neighbours[e] > kBorderEdge || neighbours[e] <= kOpenBorderEdge) continue;
      const auto edge_side = static_cast<uint8_t>(kBorderEdge - neighbours[e]);
      if (side != kNoSide && edge_side != side) continue;
      if (!budget.Spend(targets.size())) return nullptr;
      LinkEdge(from, p, e, edge_side, targets, climb, border->links);
    }
    // Detour pushes each new link to the front of its polygon's list: the last one found is the one
    // it takes first.
    std::reverse(border->links.begin() + static_cast<ptrdiff_t>(first), border->links.end());
  }
  if (border->links.empty()) return nullptr;
  border->links.shrink_to_fit();
  return border;
}

std::optional<Landing> LandOnDetourTile(const Tile& tile, const MeshPoint& point, double radius,
                                        double climb, LinkBudget& budget) {
  if (!budget.Spend(tile.polygon_count())) return std::nullopt;
  const Float3 p = ToFloat(point);
  const Float3 reach = {static_cast<float>(radius), static_cast<float>(climb),
                        static_cast<float>(radius)};
  const Float3 low = {p[0] - reach[0], p[1] - reach[1], p[2] - reach[2]};
  const Float3 high = {p[0] + reach[0], p[1] + reach[1], p[2] + reach[2]};
  std::optional<Landing> best;
  Float3 best_point{};
  float best_distance = std::numeric_limits<float>::max();
  for (const uint32_t polygon : PolygonsInBox(tile, low, high)) {
    bool over = false;
    const Float3 closest = Ground(tile, polygon).ClosestPoint(p, over);
    const float dx = p[0] - closest[0], dy = p[1] - closest[1], dz = p[2] - closest[2];
    float distance = dx * dx + dy * dy + dz * dz;
    if (over) {  // Standing over it within the climb counts as being on it.
      const float beyond = std::fabs(dy) - static_cast<float>(tile.walkable_climb);
      distance = beyond > 0 ? beyond * beyond : 0;
    }
    if (distance < best_distance) {
      best_distance = distance;
      best_point = closest;
      best = Landing{polygon, {}, 0.0, 0.0};
    }
  }
  if (!best) return std::nullopt;
  const float dx = best_point[0] - p[0], dz = best_point[2] - p[2];
  if (dx * dx + dz * dz > reach[0] * reach[0]) return std::nullopt;
  best->point = ToPoint(best_point);
  return best;
}

PortalEnds EdgePortal(const Tile& tile, uint32_t polygon, uint32_t edge, uint8_t low,
                      uint8_t high) {
  const auto vertices = tile.vertices_of(polygon);
  const MeshPoint& first = tile.vertices[vertices[edge]];
  const MeshPoint& second = tile.vertices[vertices[(edge + 1) % vertices.size()]];
  if (low == 0 && high == 255) return {first, second};
  const Float3 a = ToFloat(first), b = ToFloat(second);
  constexpr float kUnit = 1.0f / 255.0f;
  const auto at = [&](uint8_t fraction) {
    if (fraction == 0) return first;
    if (fraction == 255) return second;
    return ToPoint(Lerp(a, b, static_cast<float>(fraction) * kUnit));
  };
  return {at(low), at(high)};
}

}  // namespace arclane
