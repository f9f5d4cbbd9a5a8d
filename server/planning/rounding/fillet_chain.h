// SPDX-License-Identifier: Apache-2.0
// Stops and radii on an open chain of corners; internal to fillet.h.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_FILLET_CHAIN_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_FILLET_CHAIN_H_

#include <cstdint>
#include <vector>

#include "server/planning/geometry/stop_check.h"
#include "server/planning/rounding/fillet.h"
#include "server/planning/rounding/max_min_radii.h"

namespace arclane {

// Two smallest trims that overlap by less than this part of their line fit it: tangents and lengths
// are rounded.
inline constexpr double kFitRelative = 1e-12;

// Corners beside one another, their lines, and each corner's intervals, clipped to its two lines:
// corner i owns [begin[i], begin[i + 1]). None: always a stop.
struct FilletChain {
  RadiusChain radii;  // tan_half and line_length are set.
  std::vector<RadiusInterval> intervals;
  std::vector<uint32_t> begin = {0};
};

// The radius of each corner, 0 at stops, as ChooseFilletRadii promises them. Uses up the chain.
// Once `stop` says so the radii mean nothing.
std::vector<double> SolveFilletChain(FilletChain& chain, PacedStopCheck& stop);

// Whether two corners cannot both be rounded. A smallest radius of 0 stands for any radius above
// it: the other corner may not use up the line.
bool LowsConflict(double low, double k, double next_low, double next_k, double length);

// Ascending sequences of equal size: 1 where a is lexicographically larger by more than rounding,
// -1 where b is, else 0.
int CompareSorted(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_FILLET_CHAIN_H_
