// SPDX-License-Identifier: Apache-2.0
// Curvature profiles that never lie below the curve's own curvature: what a speed planner must have
// to keep a lateral limit everywhere, not only at the knots.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_CURVATURE_ENVELOPE_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_CURVATURE_ENVELOPE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/spline/arc_length.h"
#include "server/planning/spline/curvature_knots.h"

namespace arclane {

// Cuts interval i of the knots into parts[i] >= 1 even parts, fewer where they would be shorter
// than 1e-12 of the length; excess and deviation of the parts are measured anew. Halving a part
// takes its deviation to a quarter. The stops stay. Preconditions: knots of RefineCurvature on the
// same map, or cut further; as many parts as intervals. Cost: two samples with curvature a part.
void CutIntervals(const ArcLengthMap& map, const CurvatureKnots& knots,
                  std::span<const uint32_t> parts, CurvatureKnots& finer);

// The curvature at the knots, raised by the excess of the intervals beside them: between knots of
// one sign |linear(s)| >= |kappa(s)|, except within 1e-9 of the length of a place where the
// curvature is infinite. It lies above by less than the two excesses and the deviation.
void RaiseToEnvelope(const CurvatureKnots& knots, std::vector<double>& curvature);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_CURVATURE_ENVELOPE_H_
