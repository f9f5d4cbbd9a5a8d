// SPDX-License-Identifier: Apache-2.0
// A plan along a curve as a route that can be followed: lines between its samples.
#ifndef ARCLANE_SERVER_CODEC_CURVE_ROUTE_CODEC_H_
#define ARCLANE_SERVER_CODEC_CURVE_ROUTE_CODEC_H_

#include "arclane/v1/geometry.pb.h"
#include "arclane/v1/route.pb.h"
#include "arclane/v1/spline.pb.h"
#include "server/planning/geometry/violation.h"

namespace arclane {

// The route through the samples of a curve, with the speed that they have, changing at constant
// acceleration between them, and a turn at each stop. Without corridor: there are no half-planes,
// and nothing that could go stale. An agent on it is beside the curve by at most
// curvature * spacing^2 / 8. Heights do not count: distances and speeds are those in the plane.
//
// The plan must have been made with an agent and sampled with positions, distances and speeds, from
// the curve's start to its end, two samples or more; of a curve with stops, at each of them. Adds a
// violation where it was not, and returns false. O(samples).
bool RouteOfCurve(const v1::CurvePlan& plan, const v1::Frame& frame, Violations& violations,
                  v1::Route* route);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_CURVE_ROUTE_CODEC_H_
