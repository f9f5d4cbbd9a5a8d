// SPDX-License-Identifier: Apache-2.0
// Cells are strictly convex: the polygons, or where rounding makes it differ, the hull of a polygon
// with its two portals and start or goal. So cells close the seams between tiles. Without polygons
// cell k is the hull of portals k - 1 and k with start or goal; such a cell has one or two vertices
// when all these points are equal or collinear.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_CELLS_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_CELLS_H_

#include <cstdint>
#include <vector>

#include "server/planning/corridor/clean_polygons.h"
#include "server/planning/corridor/corridor.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// Buffers that are kept from one corridor to the next.
struct HullWorkspace {
  std::vector<Vec2> points;
  std::vector<double> heights;
  std::vector<uint32_t> hull;
};

// Fills the cells of a corridor whose portals, start and goal are known. Preconditions: no cell
// yet; the polygons, if the corridor has them, are usable. Cost: linear in the vertices, O(v log v)
// for single hulls of many.
void EmitCells(CleanPolygons& polygons, HullWorkspace& workspace, Corridor& corridor);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_CELLS_H_
