// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/corridor_cells.h"

#include <cstddef>
#include <span>

#include "server/planning/geometry/polygon.h"
#include "server/planning/geometry/predicates.h"

namespace arclane {
namespace {

class CellEmitter {
 public:
  CellEmitter(CleanPolygons& polygons, HullWorkspace& workspace, Corridor& corridor)
      : polygons_(polygons), workspace_(workspace), corridor_(corridor) {}

  void EmitAll() {
    const size_t count = corridor_.portals.size() + 1;
    corridor_.cell_begin.reserve(count + 1);
    corridor_.cell_begin.push_back(0);
    for (size_t k = 0; k < count; ++k) {
      if (!corridor_.has_polygons) {
        EmitPortalCell(k);
      } else if (polygons_[k].is_link() || !polygons_[k].needs_hull) {
        AppendCell(Vertices(k), Heights(k));
      } else {
        EmitHullCell(k);
      }
      corridor_.cell_begin.push_back(static_cast<uint32_t>(corridor_.cell_vertices.size()));
    }
  }

 private:
  std::span<Vec2> Vertices(size_t k) { return polygons_.Vertices(k); }
  std::span<double> Heights(size_t k) { return polygons_.Heights(k); }

  void AppendCell(std::span<const Vec2> vertices, std::span<const double> heights) {
    corridor_.cell_vertices.insert(corridor_.cell_vertices.end(), vertices.begin(), vertices.end());
    corridor_.cell_heights.insert(corridor_.cell_heights.end(), heights.begin(), heights.end());
  }

  void EmitHullCell(size_t k) {
    ClearHullPoints();
    const std::span<const Vec2> vertices = Vertices(k);
    const std::span<const double> heights = Heights(k);
    workspace_.points.assign(vertices.begin(), vertices.end());
    workspace_.heights.assign(heights.begin(), heights.end());
    AddPortalsAndEnds(k);
    EmitHull();
  }

  void EmitPortalCell(size_t k) {
    ClearHullPoints();
    AddPortalsAndEnds(k);
    const bool is_link = k > 0 && corridor_.portals[k - 1].kind == PortalKind::kLinkEntry;
    if (is_link && k < corridor_.portals.size()) {
      const Portal& entry = corridor_.portals[k - 1];
      const Portal& exit = corridor_.portals[k];
      const Vec2 ends[] = {entry.left, exit.left};
      const double heights[] = {entry.left_height, exit.left_height};
      AppendCell(ends, heights);
      return;
    }
    EmitHull();
  }

  void ClearHullPoints() {
    workspace_.points.clear();
    workspace_.heights.clear();
  }

  void AddHullPoint(Vec2 point, double height) {
    workspace_.points.push_back(point);
    workspace_.heights.push_back(height);
  }

  // Counter-clockwise when the portals are two edges of a convex cell.
  void AddPortalsAndEnds(size_t k) {
    const std::vector<Portal>& portals = corridor_.portals;
    if (k == 0) {
      AddHullPoint(corridor_.start, corridor_.start_height);
    } else {
      AddHullPoint(portals[k - 1].left, portals[k - 1].left_height);
      AddHullPoint(portals[k - 1].right, portals[k - 1].right_height);
    }
    if (k == portals.size()) {
      AddHullPoint(corridor_.goal, corridor_.goal_height);
    } else {
      AddHullPoint(portals[k].right, portals[k].right_height);
      AddHullPoint(portals[k].left, portals[k].left_height);
    }
  }

  void EmitHull() {
    const std::vector<Vec2>& points = workspace_.points;
    if (!AreTheirOwnHull(points)) {
      ConvexHull(points, &workspace_.hull);
    }
    for (const uint32_t index : workspace_.hull) {
      corridor_.cell_vertices.push_back(points[index]);
      corridor_.cell_heights.push_back(workspace_.heights[index]);
    }
  }

  // True for the common case of portals that are edges of a convex cell: three or four distinct
  // points that turn left at every one. (Left turns of less than half a circle at four points make
  // one turn in all.) Sets hull_ then.
  bool AreTheirOwnHull(std::span<const Vec2> points) {
    std::vector<uint32_t>& hull = workspace_.hull;
    hull.clear();
    for (size_t i = 0; i < points.size(); ++i) {
      if (points[i] != points[i == 0 ? points.size() - 1 : i - 1]) {
        hull.push_back(static_cast<uint32_t>(i));
      }
    }
    const size_t n = hull.size();
    if (n != 3 && n != 4) return false;
    for (size_t i = 0; i < n; ++i) {
      const Vec2 a = points[hull[i]];
      const Vec2 b = points[hull[i + 1 < n ? i + 1 : i + 1 - n]];
      const Vec2 c = points[hull[i + 2 < n ? i + 2 : i + 2 - n]];
      if (Orient2D(a, b, c) <= 0) return false;
    }
    return true;
  }

  CleanPolygons& polygons_;
  HullWorkspace& workspace_;
  Corridor& corridor_;
};

}  // namespace

void EmitCells(CleanPolygons& polygons, HullWorkspace& workspace, Corridor& corridor) {
  CellEmitter(polygons, workspace, corridor).EmitAll();
}

}  // namespace arclane
