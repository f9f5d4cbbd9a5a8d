// SPDX-License-Identifier: Apache-2.0
// Exact containment of lines and arcs in the plain union of simple polygons, and the radii of a
// corner's fillet that are contained. A line or arc is cut at all its intersections with polygon
// edges; between successive cuts the mid-point decides. Containment of a fillet is not monotone in
// its radius (holes), so the radii at which it can change, where the arc meets a vertex, touches an
// edge or ends on one, are formed in closed form and the stretches between are tested.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_POLYGON_UNION_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_POLYGON_UNION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/geometry/stop_check.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/rounding/box_tree.h"
#include "server/planning/rounding/fillet.h"

namespace arclane {

class PolygonUnion {
 public:
  // Polygon k: vertices [begin[k], begin[k + 1]), simple, any winding; convex or not. Borrows
  // `stop` only, which is asked on the way; once it has said so, answers mean nothing. O(v log v).
  PolygonUnion(std::span<const Vec2> vertices, std::span<const uint32_t> begin,
               PacedStopCheck& stop);

  // Boundaries belong to the union: points within tolerance() of an edge are inside.
  double tolerance() const { return tolerance_; }

  // O(log v + c log c) for c edges near the line.
  bool ContainsLine(Vec2 from, Vec2 to) const;
  // The arc round `center` from direction of travel `in`, turning by `sweep` in [0, pi] to the side
  // of the signed radius.
  bool ContainsArc(Vec2 center, double radius, Vec2 in, double sweep) const;

  // All radii in (0, radius_max] for which the arc tangent to both lines at `apex` is contained,
  // ascending, as closed intervals; an interval from 0 means all small radii. in, out: unit
  // directions, |turn| < pi. Isolated single radii are left out. O(m^2 e) for the e edges and m
  // vertices and crossings near the corner.
  std::vector<RadiusInterval> FilletRadii(Vec2 apex, Vec2 in, Vec2 out, double radius_max) const;

 private:
  struct Edge {
    Vec2 a;
    Vec2 b;
  };
  bool ContainsPoint(Vec2 p) const;
  bool PolygonContains(size_t polygon, Vec2 p) const;
  // Calls visit(edge) for the edges of one polygon, or of all, whose boxes meet(box) holds for.
  template <typename Meets, typename Visit>
  bool ForEachEdgeOf(size_t polygon, const Meets& meets, const Visit& visit) const;
  template <typename Meets, typename Visit>
  void ForEachEdge(const Meets& meets, const Visit& visit) const;
  // Whether all mid-points between the cuts, sorted here, lie inside; `at(t)` is the point at
  // parameter t.
  template <typename At>
  bool MidPointsInside(std::vector<double>& cuts, const At& at) const;

  std::vector<Edge> edges_;
  std::vector<uint32_t> begin_;
  // The polygons in an order that follows their places, and their boxes in it.
  std::vector<uint32_t> order_;
  BoxTree polygons_;
  // The edges of polygons of many: edge_tree_[k] is an index of edge_trees_, or kNoTree.
  static constexpr uint32_t kNoTree = UINT32_MAX;
  std::vector<uint32_t> edge_tree_;
  std::vector<BoxTree> edge_trees_;
  double tolerance_ = 0.0;
  PacedStopCheck& stop_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_POLYGON_UNION_H_
