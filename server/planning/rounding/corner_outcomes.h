// SPDX-License-Identifier: Apache-2.0
// What a string of discs says to its caller: lines, arcs and turns from start to goal, and what
// became of each corner of the taut path.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_CORNER_OUTCOMES_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_CORNER_OUTCOMES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/geometry/vec2.h"
#include "server/planning/rounding/disc_string.h"
#include "server/planning/rounding/driven_path.h"

namespace arclane {

// Appends the elements of the string, in the direction of travel: `reversed` strings run from the
// goal. Lines and arcs of no length are left out. Cells are numbered from the start; there are
// `cell_count`.
void AppendElements(const DiscString& string, bool reversed, uint32_t cell_count,
                    std::vector<PathElement>& elements);

// One outcome for every inner point of `taut` that turns, in order. A corner belongs to the nearest
// disc or stop that follows the one before it; of several corners of one disc the nearest is
// rounded and the others are merged. Incomplete when `stop` says so on the way. The string is the
// same afterwards; its scratch memory is used.
std::vector<CornerOutcome> CornerOutcomes(std::span<const Vec2> taut,
                                          const DiscStringContext& context, DiscString& string,
                                          bool reversed, PacedStopCheck& stop);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_CORNER_OUTCOMES_H_
