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

#include <span>
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

// The largest squared speed at the start of the segments from which x_end at their end can be met,
// and at their end after x_start at their start.
template <typename Real>
Real LargestAtStart(std::span<const CapSegment<Real>> segments, Real x_end, Real twice_b);
template <typename Real>
Real LargestAtEnd(std::span<const CapSegment<Real>> segments, Real x_start, Real twice_a);

// Writes the phases from x0 = v0^2 to x1 = v1^2 under the segments of one interval, both met by the
// largest speeds of each other.
template <typename Real>
void WriteUnderSegments(std::span<const CapSegment<Real>> segments, Real x0, Real v0, Real x1,
                        Real v1, const BasicMotionBudget<Real>& budget,
                        CurvePhaseWriter<Real>& writer);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_LATERAL_CAP_CURVE_H_
