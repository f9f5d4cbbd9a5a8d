// SPDX-License-Identifier: Apache-2.0
// Minimum-time speed plan along a curve that is known by its curvature: kappa(s) linear between
// nodes.
//
// kIndependent and kReserved budgets: exact. Under the lateral limit the cap is x = a_lat /
// |kappa(s)|, a hyperbola; braking and acceleration lines are tangent to it or cross it at roots of
// quadratics, so every phase is a closed form.
// kCoupled: dx/ds = 2 sqrt(A^2 - (kappa x)^2) has no
// closed form. Each node interval is cut into steps with acceleration linear in distance, whose
// ends lie on the edge of the disc a_t^2 + (v^2 kappa)^2 <= A^2 (an implicit trapezoidal rule, one
// square root a step). Such a step runs close to a chord of the disc; what changing curvature lifts
// it out is bounded and taken off its accelerations, and the interval is cut into as few equal
// steps as lie within budget_resolution of the edge. Where the speed is all but given by the
// curvature (the edge is stiff there) a step rides that level instead. The plan is feasible and so
// never faster than the optimum beyond kBudgetExcess; it is slower by less than budget_resolution,
// typically a fifth of it. A separate lateral limit below the total is kept with a margin of half
// of budget_resolution, since its cap is met by chords; where the budget allows following it, that
// is one closed form.
//
// Never exceeds a limit by more than kBudgetExcess relative, at nodes or between them.
// Cost: linear in nodes; coupled: times the steps per node (1 on curves sampled finely), within
// most_extra_phases.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_CURVATURE_PROFILE_H_
#define ARCLANE_SERVER_PLANNING_SPEED_CURVATURE_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "server/planning/geometry/stop_check.h"
#include "server/planning/speed/braking_steps.h"
#include "server/planning/speed/cap_segments.h"
#include "server/planning/speed/curve_parts.h"
#include "server/planning/speed/decoupled_curve.h"
#include "server/planning/speed/speed_limits.h"
#include "server/planning/speed/speed_phase.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {

struct CurvatureProfileRequest {
  std::span<const double> distance;   // n >= 2 nodes, finite, strictly ascending
  std::span<const double> curvature;  // n, finite, signed
  // Optional, n values >= 0: largest speed at each node, v^2 linear between nodes (constant
  // acceleration); infinity: no cap. A prescribed speed profile goes in here: it is followed except
  // where a limit forces a lower speed.
  std::span<const double> speed_cap;
  // The agent rests at these nodes (SpeedStop::boundary is a node index) for dwell_s, such as at
  // cusps. Ascending.
  std::span<const SpeedStop> stops;
  SpeedLimits limits;  // reaction_time_s must be 0
  // A flying lap of a closed curve: the last node is the first one again (equal cap and magnitude
  // of curvature), the speed there is free and periodic; start_speed and end_speed are ignored.
  // Otherwise the curve is driven from start to end speed.
  bool flying_lap = false;
  double start_speed = 0.0;
  double end_speed = 0.0;
  // kCoupled: by how much, relative, the plan may be slower than the optimum; it runs inside the
  // budget by up to twice as much. In [1e-6, 0.1].
  double budget_resolution = 1e-3;
  // kCoupled: the most phases, and steps, beyond kPhasesPerInterval for each interval between
  // nodes. Curvature that changes by orders of magnitude within an interval needs many.
  std::size_t most_extra_phases = std::numeric_limits<std::size_t>::max() / 2;
};

inline constexpr std::size_t kPhasesPerInterval = 4;

// A stretch where the plan stays below request.speed_cap.
struct ClippedInterval {
  double start_distance = 0.0;
  double end_distance = 0.0;
};

struct CurvatureSpeedPlan {
  SpeedPlanStatus status = SpeedPlanStatus::kInvalidArgument;
  std::vector<SpeedViolation> violations;
  double start_speed_max = 0.0;
  BrakeNow brake_now;
  double end_speed_max = 0.0;

  double length = 0.0;
  double duration_s = 0.0;
  std::vector<double> node_speed;  // n
  std::vector<SpeedPhase>
      phases;  // SpeedPhase::piece is the node interval; distances start at distance.front()
  std::vector<ClippedInterval> clipped;  // ascending, disjoint; only with a speed cap
};

template <typename Real>
struct CurveScratch {
  std::vector<CapSegment<Real>> segments;
  std::vector<CurvePart<Real>> parts;  // of one interval
  BrakingCurve<Real> braking;
  std::vector<Real> backward;
  DecoupledCurveScratch columns;
};

// Scratch memory; reuse one per thread. Its content means nothing between calls.
struct CurvatureWorkspace {
  CurveScratch<double> scratch;
  CurveScratch<long double> extreme;  // for numbers whose products double's range cannot hold
  std::vector<double> node_speed;
  std::vector<double> curvature;  // in driving order, flying laps only; likewise the next
  std::vector<double> speed_cap;
  std::vector<double> dwell;
};

// Statuses and their order as for PlanSpeed, and kTooManyPhases. `stop` is asked once in a bounded
// number of steps; kStopped once it says so.
void PlanSpeedAlongCurve(const CurvatureProfileRequest& request, CurvatureWorkspace& workspace,
                         CurvatureSpeedPlan& plan, StopCheck stop = NeverStop);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_CURVATURE_PROFILE_H_
