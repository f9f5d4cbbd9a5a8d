// SPDX-License-Identifier: Apache-2.0
// The distance that a driven path keeps to the corridor's walls. A wall is a part of a cell's edge
// that no portal covers. The path keeps from each wall the smaller of the wanted clearance and the
// distance the taut path has to it, so that the taut path itself always does.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_WALL_CLEARANCE_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_WALL_CLEARANCE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/rounding/cell_chain.h"

namespace arclane {

class WallClearance {
 public:
  // `reversed`: cells are numbered from the goal. O(edges * points of the taut path), once.
  WallClearance(const Corridor& corridor, std::span<const Vec2> taut, double clearance,
                bool reversed);

  // Whether the line, or the arc on a disc from `begin` turning by `sweep`, keeps its distance to
  // the walls of the cells [first, last]. `work` grows by the walls looked at.
  bool LineKeeps(Vec2 from, Vec2 to, uint32_t first, uint32_t last, uint64_t& work) const;
  bool ArcKeeps(Vec2 center, double radius, Vec2 in, Vec2 out, double sweep, uint32_t first,
                uint32_t last, uint64_t& work) const;

 private:
  struct Wall {
    Vec2 a;
    Vec2 b;
    double wanted = 0.0;
  };
  std::vector<Wall> walls_;
  std::vector<uint32_t> begin_;  // Walls of cell k: [begin_[k], begin_[k + 1]).
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_WALL_CLEARANCE_H_
