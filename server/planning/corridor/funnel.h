// SPDX-License-Identifier: Apache-2.0
// The shortest line through a corridor's portals: exact, and linear in the number of portals.
//
// Method: the funnel of Lee and Preparata, "Euclidean Shortest Paths in the Presence of Rectilinear
// Barriers" (1984), and Chazelle (1982), with both concave chains kept: each portal end is pushed
// once and popped at most once, so no portal is scanned twice (the widespread variant that keeps
// the apex and two sides only must rescan after each corner and is quadratic on gentle arcs).
// Departures:
//  - A portal end within the tolerance of the previous portal's end on the same side is that end
//  (tile seams). Copies of one vertex may drift, each within the tolerance of the one before: they
//  are that end up to four tolerances from the first, and so is an end no farther from it that does
//  not lie in front of the previous portal.
//  - Orientation that is certain by more than the tolerance is taken from the plain cross product.
//  Within it, ends that
//    lie on the previous portal's line are ordered along that line, a line that runs back upon
//    itself is a turn about its end, and all else is decided by the exact predicate.
//  - Collinear in the same direction is no corner; the later portal's end and index are kept.
//  - Where a portal is its predecessor with the ends exchanged (Corridor::turns_back) the rest of
//  the corridor is reflected
//    in it, so that the line goes straight on through it; the point where it does is where the line
//    touches the portal.
//  - A portal of no length (links) is a point of the line, and a corner even where the line does
//  not turn.
//
// The result minimises sum |p[i+1] - p[i]| with p[i] on portal i. It is exact up to the rounding of
// that sum for portals that are edges of convex cells; ends merged at seams change it by at most
// twice the tolerance for each merged corner.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_FUNNEL_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_FUNNEL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// How many tolerances copies of one vertex may lie apart in all: the direction from one to the next
// means nothing.
inline constexpr double kPortalNoiseTolerances = 4.0;

enum class CornerSide : uint8_t {
  kLeft,   // The line turns left round the left end of the portal.
  kRight,  // The line turns right round the right end.
  kPoint,  // The portal has no length: the line passes it whether it turns or not. Or the line
           // touches the portal, which is its predecessor with the ends exchanged, and turns back.
};

struct PathCorner {
  Vec2 point;
  uint32_t portal = 0;  // The last portal that has `point` as its end.
  CornerSide side = CornerSide::kPoint;
};

// A line through the corridor: start, corners, goal. A corner never equals the corner before it;
// the first may equal the start and the last the goal only as kPoint.
struct CorridorPath {
  Vec2 start;
  Vec2 goal;
  std::vector<PathCorner> corners;
  double length = 0.0;

  void clear() {
    corners.clear();
    length = 0.0;
  }
};

// The sum of the distances from start over the corners to goal, compensated. FindShortestPath sets
// `length` to it.
double PathLength(const CorridorPath& path);

// Keeps its buffers: no allocation once it has seen a corridor as large. Not thread-safe; one for
// each thread.
class Funnel {
 public:
  // Overwrites *path, whose buffer is reused. O(portals).
  void FindShortestPath(const Corridor& corridor, CorridorPath* path) {
    FindShortestPath(corridor.start, corridor.goal, corridor.portals, corridor.tolerance,
                     corridor.turns_back, path);
  }
  // With the portals, their tolerance >= 0 and whether they turn back as Corridor has them.
  void FindShortestPath(Vec2 start, Vec2 goal, std::span<const Portal> portals, double tolerance,
                        bool turns_back, CorridorPath* path);

 private:
  struct ChainEnd {
    Vec2 point;
    uint32_t portal;
  };
  class Run;

  void FindStraightOn(Vec2 start, Vec2 goal, std::span<const Portal> portals, double tolerance,
                      CorridorPath* path);
  void FindTurningBack(Vec2 start, Vec2 goal, std::span<const Portal> portals, double tolerance,
                       CorridorPath* path);

  std::vector<ChainEnd> left_;
  std::vector<ChainEnd> right_;
  // For corridors that turn back: the portals as reflected, and for each whether an odd number of
  // reflections applies.
  std::vector<Portal> unfolded_;
  std::vector<uint8_t> is_mirrored_;
  std::vector<PathCorner> unfolded_corners_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_FUNNEL_H_
