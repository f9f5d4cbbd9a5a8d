// SPDX-License-Identifier: Apache-2.0
// The backward pass along a curve under a coupled budget. Internal to the speed planner.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_BRAKING_STEPS_H_
#define ARCLANE_SERVER_PLANNING_SPEED_BRAKING_STEPS_H_

#include <cstdint>
#include <vector>

#include "server/planning/speed/curve_parts.h"
#include "server/planning/speed/curve_phase_writer.h"
#include "server/planning/speed/step_allowance.h"

namespace arclane {

// A stretch of one interval and the braking curve over it: x = x_to + 2 f_to e + (f_from - f_to)
// e^2 / length at distance e before its end.
template <typename Real>
struct BrakeStep {
  Real start = 0;  // along the request's distances
  Real length = 0;
  Real k_from = 0;  // |curvature| at both ends
  Real k_to = 0;
  Real k_slope = 0;
  Real cap_from = 0;  // squared speed caps at both ends, linear between
  Real cap_to = 0;
  Real cap_slope = 0;
  Real x_to = 0;
  Real f_to = 0;
  Real f_from = 0;
  Real f_slope = 0;
  std::uint32_t interval = 0;  // the request's
  std::uint32_t node = 0;      // in driving order: the interval's first node
  bool first = false;          // starts at that node
  bool binds = false;          // false: every speed under the caps can meet what is ahead
};

// Fills `steps` from the curve's end to its start; returns the largest squared speed at the start.
// Where the allowance ends it stops, and what it leaves behind means nothing.
template <typename Real>
Real PassBackwardCoupled(const CurveOrder& order, Real x_end, const CoupledBudget<Real>& budget,
                         StepAllowance& allowance, std::vector<CurvePart<Real>>& parts,
                         std::vector<BrakeStep<Real>>& steps);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_BRAKING_STEPS_H_
