// SPDX-License-Identifier: Apache-2.0
// Stretches of a curve under one smooth cap on x = v^2: a line, or the hyperbola 1 / (|kappa| /
// a_lat). Internal to the speed planner, for a separate lateral limit.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_CAP_SEGMENTS_H_
#define ARCLANE_SERVER_PLANNING_SPEED_CAP_SEGMENTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/planning/speed/curve_phase_writer.h"
#include "server/planning/speed/piece_motion.h"

namespace arclane {

// A stretch of one interval under one smooth cap.
template <typename Real>
struct CapSegment {
  Real start = 0;   // along the request's distances
  Real length = 0;  // > 0
  Real cap0 = 0;    // squared speed caps at both ends
  Real cap1 = 0;
  // Hyperbola: cap = 1 / (k0 + k1 d), k1 != 0. Linear cap: k0 = k1 = 0.
  Real k0 = 0;
  Real k1 = 0;
  std::uint32_t interval = 0;  // the request's
  std::uint32_t node = 0;      // in driving order: the interval's first node
};

// Cuts the curve into segments, in driving order.
template <typename Real>
void CutIntoCapSegments(const CurveOrder& order, const BasicMotionBudget<Real>& budget,
                        std::vector<CapSegment<Real>>& segments);

// Appends the segments of interval j (driving order), at least one.
template <typename Real>
void CutIntervalIntoCapSegments(const CurveOrder& order, std::size_t j,
                                const BasicMotionBudget<Real>& budget,
                                std::vector<CapSegment<Real>>& segments);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_CAP_SEGMENTS_H_
