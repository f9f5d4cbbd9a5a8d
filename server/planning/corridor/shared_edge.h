// SPDX-License-Identifier: Apache-2.0
// The edge, or the overlap of edges, along which two convex polygons meet.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_SHARED_EDGE_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_SHARED_EDGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/planning/geometry/vec2.h"

namespace arclane {

// A counter-clockwise convex polygon without repeated vertices.
struct PolygonView {
  std::span<const Vec2> vertices;
  std::span<const double> heights;
  // Every vertex turns by clearly more than the tolerance: no two edges lie on one line.
  bool strictly_convex = false;
};

struct SharedEdge {
  // Along the first polygon's counter-clockwise boundary: who leaves the first polygon has `to` on
  // the left. Both are vertices of one of the polygons.
  Vec2 from, to;
  double from_height = 0.0;
  double to_height = 0.0;
  // Both are vertices of both polygons, exactly.
  bool is_whole_edge = false;
};

// Keeps its buffers. Not thread-safe.
class SharedEdgeFinder {
 public:
  // The union of the overlaps, longer than the tolerance, of edges of p and q that run against one
  // another within `tolerance` of each other; nullopt when there is none. Two convex polygons that
  // meet so lie on different sides of one line, hence the union is one segment. Polygons that lie
  // above one another (the same plan position on two floors) do not qualify where they overlap in
  // the plane, whatever their heights: an edge qualifies only for a neighbour across it. Heights
  // never decide. O(n + m) to O(n m) for small polygons, O((n + m) log (n + m)) for large ones.
  std::optional<SharedEdge> Find(const PolygonView& p, const PolygonView& q, double tolerance);

 private:
  struct Overlap {
    SharedEdge edge;
    double length;
  };
  struct EdgeSpan {
    double low, high;
    uint32_t index;
  };

  void CollectOverlaps(const PolygonView& p, const PolygonView& q, double tolerance);
  void SweepOverlaps(const PolygonView& p, const PolygonView& q, double tolerance);
  void AddOverlap(const PolygonView& p, size_t i, const PolygonView& q, size_t j, double tolerance);

  std::vector<Overlap> overlaps_;
  std::vector<uint32_t> edges_p_, edges_q_;
  std::vector<EdgeSpan> spans_p_, spans_q_;
  std::vector<uint32_t> active_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_SHARED_EDGE_H_
