// SPDX-License-Identifier: Apache-2.0
// The polygons of a corridor as they are worked with: counter-clockwise, without repeated vertices,
// less the origin, and known to be convex.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_CLEAN_POLYGONS_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_CLEAN_POLYGONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor_input.h"
#include "server/planning/corridor/shared_edge.h"
#include "server/planning/geometry/polygon.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/geometry/violation.h"

namespace arclane {

struct CleanPolygon {
  uint32_t begin = 0;
  uint32_t size = 0;
  bool strictly_convex = false;  // See PolygonView.
  bool usable = false;           // Without faults of its own.
  // The cell is more than the polygon: a portal end or start or goal may lie off it, or it is
  // weakly convex.
  bool needs_hull = false;

  bool is_link() const { return size == 2; }
};

// Keeps its buffers. Not thread-safe.
class CleanPolygons {
 public:
  void clear();

  // Takes over the input's polygons. A polygon that is not convex within the tolerance, or has no
  // area, is a violation at "polygons[k]" and not usable. Links, of two vertices, keep their order.
  // Preconditions: the columns are valid.
  void Assign(const CorridorInput& input, double tolerance, Violations* violations);

  size_t size() const { return polygons_.size(); }
  CleanPolygon& operator[](size_t k) { return polygons_[k]; }
  const CleanPolygon& operator[](size_t k) const { return polygons_[k]; }
  std::span<Vec2> Vertices(size_t k) {
    return {vertices_.data() + polygons_[k].begin, polygons_[k].size};
  }
  std::span<double> Heights(size_t k) {
    return {heights_.data() + polygons_[k].begin, polygons_[k].size};
  }
  PolygonView View(size_t k) { return {Vertices(k), Heights(k), polygons_[k].strictly_convex}; }

 private:
  void Add(const CorridorInput& input, size_t first, size_t count, double tolerance);
  bool CheckShape(const CorridorInput& input, size_t k, double tolerance, Violations* violations);

  std::vector<CleanPolygon> polygons_;
  std::vector<Vec2> vertices_;
  std::vector<double> heights_;
  PolygonShapeWorkspace shape_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_CLEAN_POLYGONS_H_
