// SPDX-License-Identifier: Apache-2.0
// The profile that a curve's speed plan is made on: nodes with an envelope of the curvature, the
// wished speed, and stops. Internal to the curve planner.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_CURVE_PROFILE_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_CURVE_PROFILE_H_

#include "server/planning/route/curve_speed.h"

namespace arclane {

// Fills distance, curvature, cap and node_stops from result.knots and result.wish.
void BuildCurveProfile(const CurveSpeedRequest& request, CurveSpeed& result);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_CURVE_PROFILE_H_
