// SPDX-License-Identifier: Apache-2.0
// The walls of a corridor: the parts of the cells' edges that no portal of the cell covers, and the
// ends of the portals. A corridor sent as portals has as walls the lines between the ends of
// successive portals on either side; nothing is known of the first and last cell beyond their
// portal. Links have no walls.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_WALLS_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_WALLS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

struct Wall {
  Vec2 a, b;             // Equal for the end of a portal.
  bool is_left = false;  // On the left of an agent that travels through the cell.
};

// Keeps its buffers. Not thread-safe.
class CorridorWalls {
 public:
  // O(vertices).
  void Collect(const Corridor& corridor);

  // Of cell k, valid until the next Collect.
  std::span<const Wall> cell(size_t k) const {
    return {walls_.data() + begin_[k], walls_.data() + begin_[k + 1]};
  }

 private:
  void AddPolygonWalls(const Corridor& corridor, size_t k);
  void AddPortalWalls(const Corridor& corridor, size_t k);
  void AddPortalEnds(const Portal& portal);

  std::vector<Wall> walls_;
  std::vector<uint32_t> begin_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_WALLS_H_
