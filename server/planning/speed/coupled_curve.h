// SPDX-License-Identifier: Apache-2.0
// The plan along piecewise linear curvature under a coupled budget A: a_t^2 + (kappa x)^2 <= A^2, x
// = v^2, forward below the braking steps. Internal to the speed planner.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_COUPLED_CURVE_H_
#define ARCLANE_SERVER_PLANNING_SPEED_COUPLED_CURVE_H_

#include <vector>

#include "server/planning/speed/braking_steps.h"
#include "server/planning/speed/curve_parts.h"
#include "server/planning/speed/curve_phase_writer.h"
#include "server/planning/speed/disc_edge.h"
#include "server/planning/speed/step_allowance.h"

namespace arclane {

// Writes phases and node speeds (driving order); returns the squared speed reached at the end.
// Where the allowance ends it stops, and what it leaves behind means nothing.
template <typename Real>
Real WriteCoupledPhases(const BrakingCurve<Real>& braking, const CurveOrder& order, Real v_start,
                        Real x_start, const CoupledBudget<Real>& budget, StepAllowance& allowance,
                        std::vector<double>& node_speed, CurvePhaseWriter<Real>& writer);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_COUPLED_CURVE_H_
