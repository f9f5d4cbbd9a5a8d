// SPDX-License-Identifier: Apache-2.0
// The backward pass along a curve under a coupled budget. Internal to the speed planner.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_BRAKING_STEPS_H_
#define ARCLANE_SERVER_PLANNING_SPEED_BRAKING_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/planning/speed/curve_parts.h"
#include "server/planning/speed/curve_phase_writer.h"
#include "server/planning/speed/step_allowance.h"

namespace arclane {

// A step of the braking curve: x = x_to + 2 f_to e + f_slope e^2 at distance e before its end.
template <typename Real>
struct BrakeStep {
  Real from = 0;  // where it starts and ends, from the part's start on
  Real to = 0;
  Real x_to = 0;
  Real f_to = 0;
  Real f_slope = 0;
  bool binds = false;  // false: every speed under the caps can meet what is ahead
};

// A part of an interval and the steps of the braking curve over it.
template <typename Real>
struct BrakedPart {
  CurvePart<Real> part;
  Real start = 0;  // along the request's distances
  // Its steps, last ones first: steps[begin] ends the part.
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint32_t interval = 0;  // the request's
  std::uint32_t node = 0;      // in driving order: the interval's first node
  bool first = false;          // starts at that node

  Real length() const { return part.to - part.from; }
};

// The braking curve along the whole curve, from its end to its start.
template <typename Real>
struct BrakingCurve {
  std::vector<BrakedPart<Real>> parts;
  std::vector<BrakeStep<Real>> steps;
};

// Fills `curve`; returns the largest squared speed at the start. Where the allowance ends it stops,
// and what it leaves behind means nothing.
template <typename Real>
Real PassBackwardCoupled(const CurveOrder& order, Real x_end, const CoupledBudget<Real>& budget,
                         StepAllowance& allowance, std::vector<CurvePart<Real>>& cuts,
                         BrakingCurve<Real>& curve);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_BRAKING_STEPS_H_
