// SPDX-License-Identifier: Apache-2.0
// What a request for a plan along a curve must be. Internal to the speed planner.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_CURVE_REQUEST_H_
#define ARCLANE_SERVER_PLANNING_SPEED_CURVE_REQUEST_H_

#include <vector>

#include "server/planning/speed/curvature_profile.h"
#include "server/planning/speed/speed_limits.h"

namespace arclane {

// Whether the columns fit one another, are valid, and have numbers that need no more than double
// (numeric_range.h; curves multiply more quantities than pieces do: half the exponents). Fast,
// unlike finding out what is wrong.
bool HasOrdinaryColumns(const CurvatureProfileRequest& request);

// The same for limits and speeds; valid ones only.
bool HasOrdinaryMotion(const CurvatureProfileRequest& request);

// One violation for every rule that the request breaks; the columns distance, curvature and
// speed_cap are left out where they are known to be valid.
void AppendCurveViolations(const CurvatureProfileRequest& request, bool columns_are_valid,
                           std::vector<SpeedViolation>& violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_CURVE_REQUEST_H_
