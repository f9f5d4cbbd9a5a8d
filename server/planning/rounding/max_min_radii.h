// SPDX-License-Identifier: Apache-2.0
// Max-min fair radii on a chain of corners whose stops are known.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_MAX_MIN_RADII_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_MAX_MIN_RADII_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/geometry/stop_check.h"

namespace arclane {

// Corner i lies between line i and line i + 1 (closed: line (i + 1) mod n).
struct RadiusChain {
  std::vector<double> tan_half;     // k_i > 0.
  std::vector<double> line_length;  // n + 1 of them; closed: n.
  std::vector<double> low;          // Bounds of the radii, low <= high.
  std::vector<double> high;
  std::vector<uint8_t> stopped;  // Radius 0, whatever the bounds.
  bool closed = false;

  size_t size() const { return tan_half.size(); }
  size_t line_after(size_t i) const { return closed && i + 1 == size() ? 0 : i + 1; }
};

// The radii whose ascending sequence is lexicographically largest under R_i k_i + R_(i+1) k_(i+1)
// <= length and low <= R <= high, for the corners [first, limit) (all of them on a closed chain);
// corners outside count as stopped. Unique. Precondition: the lower bounds fit together. O(limit -
// first). Progressive filling: all radii rise together (from their lower bounds on) until a bound
// or a full line freezes one. An event that comes before all others of the corners it touches can
// be executed at once, since later levels of a line only rise when one of its ends freezes; so a
// work list replaces the priority queue.
// Once `stop` says so the radii mean nothing.
void FillMaxMin(const RadiusChain& chain, size_t first, size_t limit, PacedStopCheck& stop,
                std::vector<double>& radius);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_MAX_MIN_RADII_H_
