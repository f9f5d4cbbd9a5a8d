// SPDX-License-Identifier: Apache-2.0
// A line through the corridor that keeps a distance from its walls, and where it could not be kept.
//
// Method: a section is a segment from the left wall to the right one inside a cell; the portals are
// the first. (1) Each section is shortened until all that is left lies the clearance, and a margin,
// from the walls near by on either side; where they overlap it is the point as far from the left as
// from the right. (2) The funnel finds the shortest line through what is left. (3) Between two
// sections the line may still come too near to a wall: round a vertex, or where the corridor widens
// between narrow places. There a section is added, across the middle of what is too near, and the
// funnel asked again, until every piece keeps its distance or could not be moved by more than a
// hundredth of the clearance. (4) The distance of the result from the walls is measured,
// everywhere, and what is below the clearance is reported.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_CLEARANCE_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_CLEARANCE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/clearance_measurement.h"
#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/corridor_walls.h"
#include "server/planning/corridor/funnel.h"
#include "server/planning/corridor/portal_sections.h"
#include "server/planning/geometry/stop_check.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// Keeps its buffers; not thread-safe; one for each thread.
class ClearancePlanner {
 public:
  // The line that keeps `clearance` >= 0 from the walls where the corridor has room for it, and
  // half of the room elsewhere. Clearance 0 is the shortest line. The line always lies in the
  // corridor, as VerifyLine understands it, whatever the clearance. Corners that lead round a
  // vertex carry the portal whose end it is. *shortfalls is overwritten: see ClearanceMeter. Where
  // the clearance decides, the line is up to 4% of it further out than need be. O(portals * cells
  // within the smaller of the clearance and the width there, for each of at most kMaxRounds
  // rounds). False, with nothing to be used, when `stop` says so on the way. `placed`, if given,
  // receives the sections of the portals, which `known` of a corridor with the same portals and
  // cells but for the first and the last cell, start and goal may be, to save work: the line is the
  // same bits.
  bool FindPath(const Corridor& corridor, double clearance, CorridorPath* path,
                std::vector<ClearanceShortfall>* shortfalls, StopCheck stop = NeverStop,
                const PortalSections* known = nullptr, PortalSections* placed = nullptr);

  // ClearanceMeter::Measure for another line through the corridor of the last FindPath with a
  // clearance. False when stopped.
  bool Measure(const Corridor& corridor, std::span<const Vec2> points,
               std::span<const double> distances, std::span<const PortalCrossing> crossings,
               double clearance, double slack, std::vector<ClearanceShortfall>* shortfalls,
               StopCheck stop = NeverStop);

 private:
  // From the left wall to the right; what may be crossed are the parameters [low, high].
  struct Section {
    Vec2 left, right;
    uint32_t cell = 0;    // A portal is a section of the cell before it.
    uint32_t portal = 0;  // The portal itself, or the last one before the section.
    bool is_portal = true;
    bool is_open = true;   // Links and portals of no length are points.
    bool settled = false;  // The piece to the next section was found to be right as it is.
    double low = 0.0;
    double high = 1.0;
    Vec2 crossing;  // Of the present line.

    Vec2 At(double t) const { return left + (right - left) * t; }
  };

  void FindPathUnlessStopped(const Corridor& corridor, double clearance, CorridorPath* path,
                             std::vector<ClearanceShortfall>* shortfalls,
                             const PortalSections* known, PortalSections* placed);
  void PlacePortals(const Corridor& corridor, const PortalSections* known, PortalSections* placed);
  // Whether no wall of the first or the last cell had a say.
  bool PlaceSection(const Corridor& corridor, uint32_t first_cell, uint32_t last_cell,
                    Section& section);
  double MiddleOf(const Section& section, double low, double high) const;
  void RunFunnel(const Corridor& corridor, CorridorPath* path);
  void CrossSections(const CorridorPath& path);
  bool AddSections(const Corridor& corridor);
  void AddSectionsBetween(const Corridor& corridor, size_t index);
  void AddSectionsAcross(const Corridor& corridor, size_t index, uint32_t cell,
                         ParameterInterval stretch, const Wall& wall);
  bool CutAcross(const Corridor& corridor, const Section& before, const Section& after,
                 Vec2 through, const Wall& wall, Section& section) const;
  bool CutCell(const Corridor& corridor, uint32_t cell, Vec2 through, Vec2 along,
               Section& section) const;
  uint32_t PortalOfEnd(const Corridor& corridor, const Section& section, bool is_left) const;
  void NameCorners(const Corridor& corridor, CorridorPath* path) const;
  bool Stopped(uint64_t steps) { return stop_->After(steps); }

  double clearance_ = 0.0;
  PacedStopCheck* stop_ = nullptr;  // During a call.
  Funnel funnel_;
  BoxedWalls walls_;
  ClearanceMeter meter_;
  std::vector<Section> sections_, merged_;
  struct Added {
    size_t after = 0;  // The index of the section before it.
    Section section;
  };
  std::vector<Added> added_;
  std::vector<Portal> open_;  // What may be crossed of each section.
  std::vector<Wall> near_left_, near_right_;
  std::vector<Vec2> points_;
  std::vector<double> distances_;
  std::vector<PortalCrossing> crossings_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_CLEARANCE_H_
