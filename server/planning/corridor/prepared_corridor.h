// SPDX-License-Identifier: Apache-2.0
// A corridor that is built once and planned in again and again with other starts and goals: all but
// its two end cells stays as it is.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_PREPARED_CORRIDOR_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_PREPARED_CORRIDOR_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/corridor_builder.h"
#include "server/planning/corridor/corridor_input.h"
#include "server/planning/corridor/portal_sections.h"

namespace arclane {

// Immutable; readable from many threads.
struct PreparedCorridor {
  Corridor corridor;        // As it was built first. Its ends are of no meaning.
  double magnitude = 0.0;   // The largest coordinate of polygons and portals, heights included.
  PortalSections sections;  // For the clearance that it was planned with first, if there was one.

  // All that it holds outside of itself, in bytes.
  size_t ByteSize() const;
};

// Fewer polygons are built anew faster.
inline constexpr size_t kLeastPreparedPolygons = 8;

// From a corridor that was built from `input`. nullopt for corridors that are not worth it or whose
// tolerance depends on start and goal: fewer than kLeastPreparedPolygons, portals or polygons not
// sent, ends outside the range of the corridor's coordinates. O(corridor).
std::optional<PreparedCorridor> PrepareCorridor(const CorridorInput& input, const Corridor& built);

// Builds corridors from prepared ones; buffers are kept. Not thread-safe.
class PreparedCorridorBuilder {
 public:
  // Fills *corridor with the bits that CorridorBuilder would give for `input`, which must be that
  // of the prepared corridor but for start, goal, their heights and max_end_shift. False, with
  // *corridor unspecified, when the corridor has to be built as a whole: the ends are refused, or
  // lie so far out that they change the tolerance. Cost: a copy of the corridor, and building three
  // polygons at each end.
  bool Build(const PreparedCorridor& prepared, const CorridorInput& input, Corridor* corridor);

 private:
  // The polygons [first, first + 3) as a corridor of their own.
  bool BuildEnd(const CorridorInput& input, double tolerance, size_t first, size_t first_vertex,
                const CorridorLimits& limits, Corridor* end);

  CorridorBuilder builder_;
  Corridor start_;
  Corridor goal_;
  std::vector<uint32_t> link_entries_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_PREPARED_CORRIDOR_H_
