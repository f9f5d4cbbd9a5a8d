// SPDX-License-Identifier: Apache-2.0
// Proof that a line is a route through a corridor, by code that shares nothing with the code that
// found it: it knows the corridor's original portals and cells, and the line's points, nothing
// else.
//
// A line is a route when parameters t_0 <= t_1 <= ... exist such that it stands on portal i at t_i
// and lies in cell i from t_(i-1) to t_i. The deviation is the largest distance by which the line
// then misses a portal or leaves a cell.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_VERIFICATION_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_VERIFICATION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

enum class DeviationKind : uint8_t {
  kNone,    // Nothing deviates.
  kPortal,  // The line misses portal `index`.
  kCell,    // The line leaves cell `index`.
  kEnd,     // The line does not begin at start (index 0) or end at goal (index 1).
};

struct Deviation {
  double distance = 0.0;  // 0: the line is a route.
  DeviationKind kind = DeviationKind::kNone;
  uint32_t index = 0;
  Vec2 where;          // The point of the line that deviates most.
  double along = 0.0;  // Its distance along the line.
};

// Where a line crosses a portal.
struct PortalCrossing {
  double distance = 0.0;  // Along the line.
  Vec2 point;
};

// Corridors of more portals are spared the second look of VerifyLine.
inline constexpr size_t kMaxPortalsOfSecondLook = 4096;

// The largest deviation of the line through `points`, start and goal included (one point is a line
// of no length; none deviates infinitely). It is a route within the tolerance exactly when the
// result's distance is <= `tolerance` > 0.
//
// First look, O(portals + points): each portal is crossed where the line first passes its line,
// which is right for every line without needless turns. Cells are convex and contain their portals,
// so only the line's points and crossings are looked at. When that exceeds the tolerance, a second
// look finds the smallest possible deviation over all parameters, to within 1e-6 of itself, by
// bisection over sets of parameters (corridors above kMaxPortalsOfSecondLook portals keep the first
// look's result, an upper bound). `where` and `index` are then those of the first portal or cell
// that demands that much.
//
// When `crossings` is given it receives one crossing for each portal, ascending in distance; its
// buffer is reused.
Deviation VerifyLine(const Corridor& corridor, std::span<const Vec2> points, double tolerance,
                     std::vector<PortalCrossing>* crossings = nullptr);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_VERIFICATION_H_
