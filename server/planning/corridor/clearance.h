// SPDX-License-Identifier: Apache-2.0
// A line through the corridor that keeps a distance from its walls, and where it could not be kept.
//
// Method: (1) Each portal is shortened at either end until all that is left lies `clearance` from
// the walls near by on that side, at most to its middle. (2) The funnel finds the shortest line
// through what is left. (3) That line still passes some wall vertices too closely, between two
// portals or after the last portal of a turn (a line that leaves the inset end at an angle a passes
// the vertex at clearance * sin(a)); there it is led round the vertex on tangents of the circle of
// that radius, corners outside the circle. (4) The distance of the result from the walls is
// measured, everywhere, and what is below the clearance is reported.
//
// The radius about a vertex is the clearance, or half of the gap between the vertex and the walls
// opposite where that is less: the local half-width.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_CLEARANCE_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_CLEARANCE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/corridor_walls.h"
#include "server/planning/corridor/funnel.h"
#include "server/planning/corridor/verification.h"
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

// Keeps its buffers; not thread-safe; one for each thread.
class ClearancePlanner {
 public:
  // The line that keeps `clearance` >= 0 from the walls where the corridor has room for it.
  // Clearance 0 is the shortest line. The line always lies in the corridor, as VerifyLine
  // understands it, whatever the clearance. Corners that lead round a vertex carry the portal whose
  // end it is. *shortfalls is overwritten: see MeasureClearance. O(portals * portals within one
  // clearance of each).
  // False, with nothing to be used, when `stop` says so on the way.
  bool FindPath(const Corridor& corridor, double clearance, CorridorPath* path,
                std::vector<ClearanceShortfall>* shortfalls, StopCheck stop = NeverStop);

  // Lists, ascending, the stretches of a line of the corridor where the distance from its walls is
  // below `clearance` by more than the corridor's tolerance. Start and goal near a wall count.
  // `crossings` as VerifyLine gives them for the line.
  void MeasureClearance(const Corridor& corridor, std::span<const Vec2> points,
                        std::span<const PortalCrossing> crossings, double clearance,
                        std::vector<ClearanceShortfall>* shortfalls);

 private:
  // A vertex that the line keeps away from.
  struct WallVertex {
    Vec2 point;
    double radius = 0.0;
  };
  struct NearStretch {
    double begin, end, distance;
  };

  void FindPathUnlessStopped(const Corridor& corridor, double clearance, CorridorPath* path,
                             std::vector<ClearanceShortfall>* shortfalls);
  void FindRadii(const Corridor& corridor, double clearance);
  WallVertex VertexOf(const Corridor& corridor, size_t portal, bool is_left,
                      double clearance) const;
  void InsetPortals(const Corridor& corridor);
  double InsetOf(const Corridor& corridor, size_t portal, bool is_left) const;
  bool RoundVertices(const Corridor& corridor);
  bool RoundVerticesOfSegment(const Corridor& corridor, size_t first_portal, size_t portal_limit,
                              Vec2 a, const PathCorner& b);
  void DropStraightCorners(const Corridor& corridor, std::vector<PathCorner>* corners) const;
  void MeasurePiece(const Corridor& corridor, size_t k, Vec2 a, Vec2 b, double begin,
                    double clearance);

  bool Stopped(uint64_t steps) const { return stop_ != nullptr && stop_->After(steps); }
  // Calls visit(cell) for cell k and the cells before and after it that a piece of line in cell k
  // can be near to.
  template <typename Visit>
  void VisitCellsNear(const Corridor& corridor, size_t k, Vec2 a, Vec2 b, double distance,
                      const Visit& visit) const;

  Funnel funnel_;
  CorridorWalls walls_;
  std::vector<WallVertex> left_, right_;  // For each portal.
  std::vector<Portal> inset_;
  std::vector<PathCorner> corners_, rounded_;
  std::vector<Vec2> points_;
  std::vector<PortalCrossing> crossings_;
  std::vector<NearStretch> stretches_;
  PacedStopCheck* stop_ = nullptr;  // During a call that can be stopped.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_CLEARANCE_H_
