// SPDX-License-Identifier: Apache-2.0
// The distance of a line from the walls of its corridor, measured everywhere, and the stretches on
// which it is too small.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_CLEARANCE_MEASUREMENT_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_CLEARANCE_MEASUREMENT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/corridor_walls.h"
#include "server/planning/corridor/verification.h"
#include "server/planning/geometry/nearness.h"
#include "server/planning/geometry/stop_check.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// A stretch of a line whose measured distance from the walls is below the wanted clearance.
struct ClearanceShortfall {
  double begin_distance = 0.0;  // Along the line.
  double end_distance = 0.0;
  double measured = 0.0;  // The smallest distance from the walls within the stretch.
  double wanted = 0.0;    // The clearance asked for.
};

// Shortfalls below this part of the clearance are rounding.
inline constexpr double kClearanceAccuracy = 1e-9;

// Calls visit(cell) for the cells [first, last] and for those before and after them, as long as the
// portals on the way to them can be nearer to the box than `distance`, which `visit` may lower, and
// reach beyond the first of them: where the corridor winds on round the end of that one its walls
// are not seen any more.
template <typename Visit>
void VisitCellsNear(const Corridor& corridor, size_t first, size_t last, Vec2 low, Vec2 high,
                    const double& distance, const Visit& visit) {
  const auto is_near = [&](const Portal& portal) {
    if (portal.kind != PortalKind::kEdge) return false;
    const double x = std::max(std::min(portal.left.x, portal.right.x) - high.x,
                              low.x - std::max(portal.left.x, portal.right.x));
    const double y = std::max(std::min(portal.left.y, portal.right.y) - high.y,
                              low.y - std::max(portal.left.y, portal.right.y));
    return x < distance && y < distance;
  };
  // Travel crosses a portal from the side where this is positive.
  const auto is_beyond = [&](const Portal& gate, const Portal& portal, double side) {
    const Vec2 across = side * (gate.left - gate.right);
    const double least = corridor.tolerance * Norm(across);
    return Cross(across, portal.left - gate.right) > least ||
           Cross(across, portal.right - gate.right) > least;
  };
  for (size_t k = first; k <= last; ++k) visit(k);
  for (size_t k = first; k > 0; --k) {
    const Portal& portal = corridor.portals[k - 1];
    if (!is_near(portal)) break;
    if (k < first && !is_beyond(corridor.portals[first - 1], portal, 1.0)) break;
    visit(k - 1);
  }
  for (size_t k = last; k < corridor.portals.size(); ++k) {
    const Portal& portal = corridor.portals[k];
    if (!is_near(portal)) break;
    if (k > last && !is_beyond(corridor.portals[last], portal, -1.0)) break;
    visit(k + 1);
  }
}

// The walls of a corridor with their boxes, without the points that end another wall of the same
// side in the same cell. Keeps its buffers; not thread-safe.
class BoxedWalls {
 public:
  struct BoxedWall {
    Wall wall;
    Vec2 low, high;

    // Where the segment ab, whose box is [from, to], lies within `radius` of the wall.
    ParameterInterval Near(Vec2 a, Vec2 b, Vec2 from, Vec2 to, double radius) const;
    bool CanBeNear(Vec2 from, Vec2 to, double radius) const {
      return low.x - to.x <= radius && from.x - high.x <= radius && low.y - to.y <= radius &&
             from.y - high.y <= radius;
    }
  };

  // O(vertices).
  void Collect(const Corridor& corridor);
  // Of cell k, valid until the next Collect.
  std::span<const BoxedWall> cell(size_t k) const {
    return {boxed_.data() + begin_[k], boxed_.data() + begin_[k + 1]};
  }

 private:
  CorridorWalls walls_;
  std::vector<BoxedWall> boxed_;
  std::vector<uint32_t> begin_;
};

// Keeps its buffers; not thread-safe; one for each thread.
class ClearanceMeter {
 public:
  // Lists, ascending, the stretches of a line of the corridor where the distance from its walls,
  // `walls`, is below `clearance` by more than the corridor's tolerance or `slack`. Start and goal
  // near a wall count. `distances`: of the points, along what the line stands for. `crossings` as
  // VerifyLine gives them. Incomplete once `stop` says so. O(portals + points, times the cells
  // within the clearance or as near as the nearest wall).
  void Measure(const Corridor& corridor, const BoxedWalls& walls, std::span<const Vec2> points,
               std::span<const double> distances, std::span<const PortalCrossing> crossings,
               double clearance, double slack, PacedStopCheck& stop,
               std::vector<ClearanceShortfall>* shortfalls);

 private:
  struct NearStretch {
    double begin, end, distance;
  };
  void MeasurePiece(const Corridor& corridor, const BoxedWalls& walls, size_t cell, Vec2 a, Vec2 b,
                    double begin, double end, double radius);

  std::vector<NearStretch> stretches_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_CLEARANCE_MEASUREMENT_H_
