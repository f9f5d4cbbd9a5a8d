// SPDX-License-Identifier: Apache-2.0
// A line through the corridor that keeps a distance from its walls, the measured distance, and where it could not be
// kept. Walls are the parts of the cells' edges that are not covered by the cells' portals, and the ends of portals.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_CLEARANCE_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_CLEARANCE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/funnel.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// A stretch of a line whose measured distance from the walls is below the wanted clearance.
struct ClearanceShortfall {
  double begin_distance = 0.0;  // Along the line.
  double end_distance = 0.0;
  double measured = 0.0;  // The smallest distance from the walls within the stretch.
  double wanted = 0.0;    // The clearance asked for.
};

// Keeps its buffers; not thread-safe; one for each thread.
class ClearancePlanner {
 public:
  // The line that keeps `clearance` >= 0 from the walls where the corridor has room for it, and passes the middle of the
  // portals where it has not. Clearance 0 is the shortest line. *shortfalls lists, ascending, the stretches where the
  // measured distance is below `clearance` by more than the corridor's tolerance (start and goal near a wall included).
  void FindPath(const Corridor& corridor, double clearance, CorridorPath* path,
                std::vector<ClearanceShortfall>* shortfalls);

 private:
  struct Wall {
    Vec2 a, b;
    uint32_t cell;
  };
  void CollectWalls(const Corridor& corridor);

  Funnel funnel_;
  std::vector<Wall> walls_;
  std::vector<uint32_t> wall_begin_;
  std::vector<Portal> inset_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_CLEARANCE_H_
