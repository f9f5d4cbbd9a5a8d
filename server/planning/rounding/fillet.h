// SPDX-License-Identifier: Apache-2.0
// Fillet radii of a polyline's corners, decided jointly: the fewest stops, then the
// lexicographically largest sorted radii (max-min fairness), independent of the order of visits.
//
// Corner i turns by theta_i; an arc of radius R takes a trim R * k_i, k_i = tan(|theta_i| / 2),
// from both lines beside it. Line j lies between corners j - 1 and j; the two trims on a line
// together fit its length:
//   R_(j-1) k_(j-1) + R_j k_j <= length_j.
// Max-min fairness by progressive filling (Bertsekas & Gallager, Data Networks, 1992,
// section 6.5.2), executed at local minima of the freezing levels, which makes it linear on a
// chain; stops by dynamic programming over the conflicts.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_FILLET_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_FILLET_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/geometry/stop_check.h"

namespace arclane {

// Allowed radii of one corner: [low, high], low <= high. low = 0 means any radius above 0.
struct RadiusInterval {
  double low = 0.0;
  double high = 0.0;
};

// The allowed radii of every corner: corner i owns intervals [begin[i], begin[i + 1]), disjoint and
// ascending. A corner without an interval is always a stop. More than one interval occurs where
// polygons have holes: containment is not monotone in the radius.
struct FilletProblem {
  std::span<const double>
      tan_half;  // k_i >= 0, infinite for a reversal (which then has no interval). Size n.
  std::span<const double>
      line_length;  // >= 0. Size n + 1; on a closed loop n: line j ends at corner j.
  std::span<const uint32_t> begin;  // Size n + 1.
  std::span<const RadiusInterval> intervals;
  bool closed = false;
};

struct FilletRadii {
  std::vector<double> radius;   // 0 at stops. Size n.
  std::vector<uint32_t> stops;  // Ascending.
};

// Of all smallest stop sets the one whose sorted radii are lexicographically largest; of equal ones
// the lowest indices. Linear in n where every corner has one interval; corners that share a stretch
// without stops and have several intervals are searched together, at most kMaxIntervalChoices
// combinations of them (then the lower intervals are kept); on loops without stops radii in a gap
// fall to the lower interval. Conflicts are decided together where their radii touch; where they
// leave more than kMaxIntervalChoices stop sets, or more work than a fixed number of radii a
// corner, the choice is made run by run. Once `stop` says so the radii mean nothing.
FilletRadii ChooseFilletRadii(const FilletProblem& problem, PacedStopCheck& stop);

inline constexpr int kMaxIntervalChoices = 4096;

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_FILLET_H_
