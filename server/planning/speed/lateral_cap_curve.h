// SPDX-License-Identifier: Apache-2.0
// The exact plan along piecewise linear curvature when the lateral limit is separate: x = v^2 under
// the cap 1 / (|kappa| / a_lat), a hyperbola on each stretch, and under linear caps. Internal to
// the speed planner.
//
// On a stretch where the cap falls along the way, braking at 2 b per distance can follow it while
// its slope is below 2 b, so backward in distance the largest speed runs along the braking line to
// the cap, along the cap to the point of slope 2 b, and from there along the tangent. Where the cap
// rises the same holds forward with the acceleration.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_LATERAL_CAP_CURVE_H_
#define ARCLANE_SERVER_PLANNING_SPEED_LATERAL_CAP_CURVE_H_

#include <cstdint>
#include <vector>

#include "server/planning/speed/curve_phase_writer.h"
#include "server/planning/speed/piece_motion.h"

namespace arclane {

// A stretch of one interval under one smooth cap.
struct CapSegment {
  double start = 0.0;   // along the request's distances
  double length = 0.0;  // > 0
  double cap0 = 0.0;    // squared speed caps at both ends
  double cap1 = 0.0;
  // Hyperbola: cap = 1 / (k0 + k1 d), k1 != 0. Linear cap: k0 = k1 = 0.
  double k0 = 0.0;
  double k1 = 0.0;
  std::uint32_t interval = 0;  // the request's
  std::uint32_t node = 0;      // in driving order: the interval's first node
};

// Cuts the curve into segments, in driving order.
void CutIntoCapSegments(const CurveOrder& order, const MotionBudget& budget,
                        std::vector<CapSegment>& segments);

// Squared speeds at segment starts (and the end) from which everything ahead can be met.
void PassBackwardOverCaps(const std::vector<CapSegment>& segments, const CurveOrder& order,
                          double x_end, const MotionBudget& budget, std::vector<double>& backward);

// Writes phases and node speeds (driving order); returns the squared speed reached at the end.
double WriteCapPhases(const std::vector<CapSegment>& segments, const CurveOrder& order,
                      double v_start, const MotionBudget& budget,
                      const std::vector<double>& backward, std::vector<double>& node_speed,
                      CurvePhaseWriter& writer);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_LATERAL_CAP_CURVE_H_
