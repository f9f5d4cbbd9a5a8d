// SPDX-License-Identifier: Apache-2.0
// The distance that a driven path keeps to the corridor's walls. The path keeps from each wall the
// smaller of the wanted clearance and the distance that the taut path has to it, so that the taut
// path itself always does.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_WALL_CLEARANCE_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_WALL_CLEARANCE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/corridor_walls.h"
#include "server/planning/geometry/stop_check.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/rounding/box_tree.h"

namespace arclane {

// A line of the taut path and the cells that it can be in.
struct TautLine {
  Vec2 from;
  Vec2 to;
  uint32_t first_cell = 0;
  uint32_t last_cell = 0;
};

class WallClearance {
 public:
  // `reversed`: cells are numbered from the goal. `taut`: in order. O(vertices + cells within the
  // clearance of each line); incomplete when stopped.
  WallClearance(const Corridor& corridor, std::span<const TautLine> taut, double clearance,
                bool reversed, PacedStopCheck& stop);

  // Whether the line, or the arc on a disc from direction `in` to direction `out` turning by
  // `sweep`, which can be in the cells [first, last], keeps its distance to the walls that are
  // near those cells along the corridor. `work` grows by the walls looked at.
  bool LineKeeps(Vec2 from, Vec2 to, uint32_t first, uint32_t last, uint64_t& work) const;
  bool ArcKeeps(Vec2 center, double radius, Vec2 in, Vec2 out, double sweep, uint32_t first,
                uint32_t last, uint64_t& work) const;

 private:
  struct KeptWall {
    Vec2 a;
    Vec2 b;
    double wanted = 0.0;
    Box box;  // Of the points nearer than `wanted`, and more.
  };

  void Collect(const Corridor& corridor, double clearance, bool reversed);
  // Lowers what is wanted of the walls of the cells [first, last] to their distance from the line.
  void LowerTo(const TautLine& line, uint32_t first, uint32_t last);
  // From where the walls of each cell can be nearer than what is wanted of them.
  void FindReach(const Corridor& corridor, bool reversed, PacedStopCheck& stop);
  void DropUnwanted(double tolerance);
  std::span<const KeptWall> Near(uint32_t first, uint32_t last) const;

  std::vector<KeptWall> walls_;
  std::vector<uint32_t> begin_;  // Walls of cell k: [begin_[k], begin_[k + 1]).
  // Elements in cell k look at the walls of the cells [near_first_[k], near_last_[k]]; ascending.
  std::vector<uint32_t> near_first_;
  std::vector<uint32_t> near_last_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_WALL_CLEARANCE_H_
