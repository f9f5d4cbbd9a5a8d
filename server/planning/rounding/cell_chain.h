// SPDX-License-Identifier: Apache-2.0
// Exact containment of lines and arcs in the chain of a corridor's cells.
//
// Cell k here is the convex hull of the corridor's cell k, its two portals, and start or goal; that
// closes the seams between tiles. A path is contained when it can be cut into stretches, each
// inside one cell, whose cells begin with 0, step by one at points that lie in both cells, and end
// with the last. (Membership in the union of the cells is not enough: where cells overlap or repeat
// it would accept short cuts.) An element is cut at all its intersections with the half-planes of a
// cell, in closed form; nothing is sampled. Steps back are not used: the test is exact for paths
// that go forward from cell to cell and refuses the few that must step back.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_CELL_CHAIN_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_CELL_CHAIN_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/geometry/stop_check.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// The cells, at one point of a path, that the path can be in: a few runs of successive cells,
// ascending. Runs beyond the capacity are dropped, which can only refuse more.
struct CellRuns {
  struct Run {
    uint32_t first = 0;
    uint32_t last = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  static constexpr int kCapacity = 4;
  std::array<Run, kCapacity> run;
  int count = 0;

  bool empty() const { return count == 0; }
  // Appends a cell larger than all present ones.
  void Append(uint32_t cell) {
    if (count > 0 && run[count - 1].last + 1 == cell) {
      run[count - 1].last = cell;
    } else if (count < kCapacity) {
      run[count++] = {cell, cell};
    }
  }
  bool Contains(uint32_t cell) const;
  // Whether every cell of `other` is one of these.
  bool Includes(const CellRuns& other) const;
  friend bool operator==(const CellRuns& a, const CellRuns& b);
};

class CellChain {
 public:
  // `reversed`: the chain from goal to start. O(v log v) a cell of v vertices. Incomplete, and not
  // to be used, when `stop` says so on the way.
  CellChain(const Corridor& corridor, bool reversed, PacedStopCheck* stop = nullptr);

  size_t cell_count() const { return begin_.size() - 1; }
  // The distance by which every half-plane is widened: a bound of the rounding errors of the test
  // itself.
  double tolerance() const { return tolerance_; }

  // The cells that hold the start: cell 0 and those that can be stepped to at the point.
  CellRuns RunsAtStart(Vec2 start, uint64_t& work) const;
  // The cells that the path can be in at the end of the line from `from` to `to` when it can be in
  // `runs` at its begin. Empty: not contained. `work` grows by the number of half-planes tested.
  CellRuns AlongLine(const CellRuns& runs, Vec2 from, Vec2 to, uint64_t& work) const;
  // The same for an arc on a disc of signed radius (positive: to the left), from direction `in` to
  // direction `out`, turning by `sweep` in [0, 2 pi).
  CellRuns AlongArc(const CellRuns& runs, Vec2 center, double radius, Vec2 in, Vec2 out,
                    double sweep, uint64_t& work) const;
  bool EndsInLastCell(const CellRuns& runs) const {
    return runs.count > 0 && runs.run[runs.count - 1].last + 1 == cell_count();
  }

 private:
  // Inside: x * nx + y * ny + offset >= 0, with the tolerance already added to the offset.
  struct HalfPlane {
    double nx = 0.0;
    double ny = 0.0;
    double offset = 0.0;
  };
  std::vector<HalfPlane> planes_;
  std::vector<uint32_t> begin_;
  double tolerance_ = 0.0;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_CELL_CHAIN_H_
