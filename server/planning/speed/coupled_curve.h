// SPDX-License-Identifier: Apache-2.0
// The plan along piecewise linear curvature under a coupled budget A: a_t^2 + (kappa x)^2 <= A^2, x
// = v^2. Internal to the speed planner.
//
// A step has acceleration linear in distance, with both ends on the edge of the admissible set (the
// disc, cut off at the limit on |a_t|). From x0, a0 over d to curvature k1:
//   x1 = x0 + d (a0 + a1),  a1^2 + (k1 x1)^2 = A^2:  one quadratic, the implicit trapezoidal rule.
// The set is convex, so a step whose lateral acceleration changes linearly stays inside; what
// changing curvature adds is checked inside the step.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_COUPLED_CURVE_H_
#define ARCLANE_SERVER_PLANNING_SPEED_COUPLED_CURVE_H_

#include <cstdint>
#include <vector>

#include "server/planning/speed/curve_phase_writer.h"
#include "server/planning/speed/piece_motion.h"

namespace arclane {

// Largest relative excess of the coupled budget between nodes.
inline constexpr double kBudgetExcess = 1e-6;

// A stretch of one interval and the braking curve over it: x = x_to + 2 f_to e + (f_from - f_to)
// e^2 / length at distance e before its end.
struct BrakeStep {
  double start = 0.0;  // along the request's distances
  double length = 0.0;
  double k_from = 0.0;  // |curvature| at both ends
  double k_to = 0.0;
  double k_slope = 0.0;
  double cap_from = 0.0;  // squared speed caps at both ends, linear between
  double cap_to = 0.0;
  double cap_slope = 0.0;
  double x_to = 0.0;
  double f_to = 0.0;
  double f_from = 0.0;
  double f_slope = 0.0;
  std::uint32_t interval = 0;  // the request's
  std::uint32_t node = 0;      // in driving order: the interval's first node
  bool first = false;          // starts at that node
  bool binds = false;          // false: every speed under the caps can meet what is ahead
};

// A part of an interval where |curvature| and the speed cap are linear. Offsets are from the
// interval's start.
struct CurvePart {
  double from, to;
  double k_from, k_to;
  double cap_from, cap_to;

  double k_slope, cap_slope;

  double K(double d) const { return d >= to ? k_to : k_from + k_slope * (d - from); }
  double Cap(double d) const { return d >= to ? cap_to : cap_from + cap_slope * (d - from); }
  void SetSlopes() {
    const double per_length = 1.0 / (to - from);
    k_slope = (k_to - k_from) * per_length;
    cap_slope = cap_to == cap_from ? 0.0 : (cap_to - cap_from) * per_length;
  }
};

struct CoupledBudget {
  CoupledBudget(const MotionBudget& motion_in, double resolution_in)
      : motion(motion_in), resolution(resolution_in), lateral(motion.lateral) {
    if (motion.lateral < motion.total) lateral = motion.lateral / (1.0 + resolution);
  }

  const MotionBudget& motion;
  double resolution;  // relative depth of a step inside the disc that is accepted
  // A separate lateral limit below the total is a hyperbola in x; chords over parts of ratio rho in
  // curvature exceed it by (rho - 1)^2 / (4 rho), which is kept below `resolution` and taken off
  // the limit.
  double lateral;
};

// Fills `steps` from the curve's end to its start; returns the largest squared speed at the start.
double PassBackwardCoupled(const CurveOrder& order, double x_end, const CoupledBudget& budget,
                           std::vector<CurvePart>& parts, std::vector<BrakeStep>& steps);

// Writes phases and node speeds (driving order); returns the squared speed reached at the end.
double WriteCoupledPhases(const std::vector<BrakeStep>& steps, const CurveOrder& order,
                          double v_start, double x_start, const CoupledBudget& budget,
                          std::vector<double>& node_speed, CurvePhaseWriter& writer);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_COUPLED_CURVE_H_
