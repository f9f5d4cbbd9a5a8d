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

#include <vector>

#include "server/planning/speed/cap_segments.h"
#include "server/planning/speed/curve_phase_writer.h"
#include "server/planning/speed/piece_motion.h"

namespace arclane {

// Squared speeds at segment starts (and the end) from which everything ahead can be met.
template <typename Real>
void PassBackwardOverCaps(const std::vector<CapSegment<Real>>& segments, const CurveOrder& order,
                          Real x_end, const BasicMotionBudget<Real>& budget,
                          std::vector<Real>& backward);

// Writes phases and node speeds (driving order); returns the squared speed reached at the end.
template <typename Real>
Real WriteCapPhases(const std::vector<CapSegment<Real>>& segments, const CurveOrder& order,
                    Real v_start, const BasicMotionBudget<Real>& budget,
                    const std::vector<Real>& backward, std::vector<double>& node_speed,
                    CurvePhaseWriter<Real>& writer);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_LATERAL_CAP_CURVE_H_
