// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/curvature_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "server/planning/speed/coupled_curve.h"
#include "server/planning/speed/curve_phase_writer.h"
#include "server/planning/speed/curve_request.h"
#include "server/planning/speed/decoupled_curve.h"
#include "server/planning/speed/lateral_cap_curve.h"
#include "server/planning/speed/numeric_range.h"
#include "server/planning/speed/piece_motion.h"
#include "server/planning/speed/step_allowance.h"

namespace arclane {
namespace {

// A plan this close to the prescribed speed follows it.
constexpr double kFollowsCap = 1e-9;

// Leaves the columns alone, which a plan overwrites and ClearColumns empties.
void ResetOutcome(CurvatureSpeedPlan& plan, SpeedPlanStatus status) {
  plan.status = status;
  plan.violations.clear();
  plan.start_speed_max = 0.0;
  plan.brake_now = {};
  plan.end_speed_max = 0.0;
  plan.length = 0.0;
  plan.duration_s = 0.0;
}

void ClearColumns(CurvatureSpeedPlan& plan) {
  plan.node_speed.clear();
  plan.phases.clear();
  plan.clipped.clear();
}

// Squared cap at a node.
template <typename Real>
Real NodeCap(const CurvatureProfileRequest& request, Real squared_max_speed, Real lateral,
             std::size_t node) {
  const Real k = std::abs(request.curvature[node]);
  Real cap = squared_max_speed;
  if (!request.speed_cap.empty())
    cap = std::min(cap, Real{request.speed_cap[node]} * request.speed_cap[node]);
  return k * cap > lateral ? lateral / k : cap;
}

// A lap starts at a stop, or else at its slowest node: between nodes no cap is lower, and at that
// speed the whole lap can be driven, so the periodic optimum touches the cap there.
template <typename Real>
std::size_t LapStart(const CurvatureProfileRequest& request, Real squared_max_speed, Real lateral) {
  const std::size_t last = request.distance.size() - 1;
  if (!request.stops.empty()) return request.stops.front().boundary % last;
  std::size_t slowest = 0;
  Real lowest = std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < last; ++i) {
    const Real cap = NodeCap(request, squared_max_speed, lateral, i);
    if (cap < lowest) {
      lowest = cap;
      slowest = i;
    }
  }
  return slowest;
}

// The last node is the first one again. Curvatures there may differ in sign, which changes at once
// then: what comes behind takes the other sign all along, for only magnitudes and changes of sign
// within an interval count.
void Rotate(std::span<const double> column, std::size_t first, std::vector<double>& rotated) {
  rotated.clear();
  if (column.empty()) return;
  const double sign = column.front() == column.back() ? 1.0 : -1.0;
  rotated.insert(rotated.end(), column.begin() + static_cast<std::ptrdiff_t>(first), column.end());
  for (std::size_t i = 1; i <= first; ++i) rotated.push_back(sign * column[i]);
}

CurveOrder OrderOf(const CurvatureProfileRequest& request, std::size_t first,
                   CurvatureWorkspace& workspace) {
  CurveOrder order = {request.distance, request.curvature, request.speed_cap, {}, first};
  const std::size_t last = request.distance.size() - 1;
  if (first > 0) {
    Rotate(request.curvature, first, workspace.curvature);
    Rotate(request.speed_cap, first, workspace.speed_cap);
    order.curvature = workspace.curvature;
    order.speed_cap = workspace.speed_cap;
  }
  workspace.dwell.clear();
  if (request.stops.empty()) return order;
  workspace.dwell.assign(request.distance.size(), -1.0);
  for (const SpeedStop& stop : request.stops) {
    std::size_t node = stop.boundary;
    if (request.flying_lap) node = (node % last + last - first) % last;
    workspace.dwell[node] = std::max(0.0, workspace.dwell[node]) + stop.dwell_s;
  }
  // A lap that begins with a stop ends at rest there; the dwell is spent once.
  if (request.flying_lap && workspace.dwell[0] >= 0.0) workspace.dwell[last] = 0.0;
  order.dwell = workspace.dwell;
  return order;
}

// Puts phases and node speeds of a lap back into the request's order.
void Unrotate(std::size_t first, const std::vector<double>& node_speed, CurvatureSpeedPlan& plan) {
  const std::size_t last = node_speed.size() - 1;
  plan.node_speed.resize(last + 1);
  for (std::size_t j = 0; j <= last; ++j) plan.node_speed[(j + first) % last] = node_speed[j];
  plan.node_speed[last] = plan.node_speed[0];
  if (first == 0) return;
  const auto wrap = std::find_if(plan.phases.begin(), plan.phases.end(),
                                 [first](const SpeedPhase& phase) { return phase.piece < first; });
  std::rotate(plan.phases.begin(), wrap, plan.phases.end());
  double time = 0.0;
  for (SpeedPhase& phase : plan.phases) {
    phase.start_time_s = time;
    time += phase.duration_s;
  }
  plan.duration_s = time;
}

// Whether the phase follows the prescribed speed at its start, middle and end.
bool Follows(const CurvatureProfileRequest& request, const SpeedPhase& phase) {
  const double s0 = request.distance[phase.piece];
  const double s1 = request.distance[phase.piece + 1];
  const double cap0 = request.speed_cap[phase.piece] * request.speed_cap[phase.piece];
  const double cap1 = request.speed_cap[phase.piece + 1] * request.speed_cap[phase.piece + 1];
  if (!(cap0 < kUnlimited) || !(cap1 < kUnlimited)) return true;
  for (const double d : {0.0, 0.5 * phase.length, phase.length}) {
    const double part = std::clamp((phase.start_distance + d - s0) / (s1 - s0), 0.0, 1.0);
    const double cap = cap0 + (cap1 - cap0) * part;
    const double v = SpeedAt(phase, d);
    if (v * v < cap * (1.0 - kFollowsCap) - kFollowsCap * std::abs(cap1 - cap0)) return false;
  }
  return true;
}

void FindClipped(const CurvatureProfileRequest& request, CurvatureSpeedPlan& plan) {
  plan.clipped.clear();
  if (request.speed_cap.empty()) return;
  bool open = false;
  for (const SpeedPhase& phase : plan.phases) {
    if (phase.kind == SpeedPhaseKind::kDwell) continue;
    const bool clipped = !Follows(request, phase);
    const double end = phase.start_distance + phase.length;
    if (clipped && open) {
      plan.clipped.back().end_distance = end;
    } else if (clipped) {
      plan.clipped.push_back({phase.start_distance, end});
    }
    open = clipped;
  }
}

// The stop nearest to an interval from behind.
std::size_t StopAt(const CurvatureProfileRequest& request, std::size_t interval) {
  std::size_t k = 0;
  while (k + 1 < request.stops.size() && request.stops[k + 1].boundary <= interval) ++k;
  return k;
}

bool HasFiniteTime(const SpeedPhase& phase) {
  return std::isfinite(phase.start_time_s + phase.duration_s);
}

// The field that keeps the speed down in an interval of the curve: of the caps at its slower end
// the least.
std::string SlowestField(const CurvatureProfileRequest& request, std::size_t interval) {
  using Real = long double;
  const BasicMotionBudget<Real> budget = ResolveBudget<Real>(request.limits);
  Real lowest = budget.squared_max_speed;
  std::string field = "limits.max_speed";
  const auto lower = [&](Real cap, std::string name) {
    if (!(cap < lowest)) return;
    lowest = cap;
    field = std::move(name);
  };
  for (const std::size_t node : {interval, interval + 1}) {
    const Real k = std::abs(Real{request.curvature[node]});
    if (k > 0) lower(budget.lateral / k, absl::StrCat("curvature[", node, "]"));
    if (!request.speed_cap.empty()) {
      lower(Real{request.speed_cap[node]} * request.speed_cap[node],
            absl::StrCat("speed_cap[", node, "]"));
    }
  }
  return field;
}

// A length or time beyond what a double can hold names the field that makes it so.
void FailBeyondDouble(const CurvatureProfileRequest& request, CurvatureSpeedPlan& plan) {
  std::string field = absl::StrCat("distance[", request.distance.size() - 1, "]");
  std::string message = "the path is longer than a double can hold";
  if (std::isfinite(plan.length)) {
    message = "within the limits this takes more seconds than a double can hold";
    const auto beyond = std::find_if_not(plan.phases.begin(), plan.phases.end(), HasFiniteTime);
    const bool known = beyond != plan.phases.end();
    if (known && beyond->kind != SpeedPhaseKind::kDwell) {
      field = SlowestField(request, beyond->piece);
    } else if (!request.stops.empty()) {
      const std::size_t k = known ? StopAt(request, beyond->piece) : request.stops.size() - 1;
      field = absl::StrCat("stops[", k, "].dwell_s");
    }
  }
  ResetOutcome(plan, SpeedPlanStatus::kInvalidArgument);
  plan.violations.push_back({field, message});
}

enum class CurveMethod { kColumns, kCaps, kCoupled };

// Columns are offered in double alone.
template <typename Real>
CurveMethod MethodFor(const CurveOrder& order, const BasicMotionBudget<Real>& budget) {
  if (budget.coupled) return CurveMethod::kCoupled;
  const bool plain = order.dwell.empty() && order.speed_cap.empty();
  return plain && std::is_same_v<Real, double> ? CurveMethod::kColumns : CurveMethod::kCaps;
}

// Returns the largest squared speed at the start.
template <typename Real>
Real PassBackward(CurveMethod method, const CurveOrder& order, Real x_end,
                  const CoupledBudget<Real>& budget, StepAllowance& allowance,
                  CurveScratch<Real>& scratch) {
  if (method == CurveMethod::kCoupled) {
    return PassBackwardCoupled(order, x_end, budget, allowance, scratch.parts, scratch.braking);
  }
  if constexpr (std::is_same_v<Real, double>) {
    if (method == CurveMethod::kColumns) {
      PassBackwardDecoupledCurve(order, x_end, budget.motion, scratch.columns);
      return scratch.columns.bound[0];
    }
  }
  CutIntoCapSegments(order, budget.motion, scratch.segments);
  PassBackwardOverCaps(scratch.segments, order, x_end, budget.motion, scratch.backward);
  return scratch.backward[0];
}

template <typename Real>
struct CurveEnd {
  Real x;  // squared speed reached
  Real time_s;
};

// Drives from v_start = sqrt(x_start) and writes phases and node speeds (driving order).
template <typename Real>
CurveEnd<Real> DriveForward(CurveMethod method, const CurveOrder& order, Real v_start, Real x_start,
                            const CoupledBudget<Real>& budget, StepAllowance& allowance,
                            CurveScratch<Real>& scratch, std::vector<double>& node_speed,
                            std::vector<SpeedPhase>& phases) {
  if constexpr (std::is_same_v<Real, double>) {
    if (method == CurveMethod::kColumns) {
      const DecoupledCurveEnd end =
          WriteDecoupledCurve(order, v_start, budget.motion, scratch.columns, node_speed, phases);
      return {end.x, end.time_s};
    }
  }
  phases.clear();
  CurvePhaseWriter<Real> writer(phases);
  const Real x = method == CurveMethod::kCoupled
                     ? WriteCoupledPhases(scratch.braking, order, v_start, x_start, budget,
                                          allowance, node_speed, writer)
                     : WriteCapPhases(scratch.segments, order, v_start, budget.motion,
                                      scratch.backward, node_speed, writer);
  return {x, writer.time_s()};
}

// Whether the plan must end here without an answer; plan.status says why.
bool GivesUp(PacedStopCheck& stop, const StepAllowance& allowance, CurvatureSpeedPlan& plan) {
  const bool stopped = stop.Now();
  if (stopped) plan.status = SpeedPlanStatus::kStopped;
  if (!stopped && allowance.used_up()) plan.status = SpeedPlanStatus::kTooManyPhases;
  return stopped || allowance.used_up();
}

// The plan in numbers of the type that the problem needs.
template <typename Real>
void PlanAlong(const CurvatureProfileRequest& request, PacedStopCheck& stop,
               CurvatureWorkspace& workspace, CurveScratch<Real>& scratch,
               CurvatureSpeedPlan& plan) {
  const auto root = [](Real x) { return static_cast<double>(std::sqrt(x)); };
  const BasicMotionBudget<Real> budget = ResolveBudget<Real>(request.limits);
  const CoupledBudget<Real> coupled(budget, request.budget_resolution);
  const Real lateral = budget.coupled ? coupled.lateral : budget.lateral;
  const Real level = budget.squared_max_speed;
  const std::size_t last = request.distance.size() - 1;
  const std::size_t first = request.flying_lap ? LapStart(request, level, lateral) : 0;
  const CurveOrder order = OrderOf(request, first, workspace);
  const double length = request.distance[last] - request.distance[0];

  Real v_start = request.start_speed;
  Real v_end = request.end_speed;
  const Real end_cap = order.StopsAt(last)
                           ? Real{0}
                           : NodeCap(request, level, lateral, request.flying_lap ? first : last);
  if (request.flying_lap) v_start = v_end = std::sqrt(end_cap);
  Real x_end = request.flying_lap ? end_cap : v_end * v_end;
  if (x_end > end_cap * (Real{1} + kSpeedRoundoff)) {
    plan.status = SpeedPlanStatus::kInfeasibleEnd;
    plan.end_speed_max = root(end_cap);
    return;
  }
  x_end = std::min(x_end, end_cap);

  const CurveMethod method = MethodFor(order, budget);
  StepAllowance allowance(kPhasesPerInterval * last + request.most_extra_phases, stop);
  const Real start_max = PassBackward(method, order, x_end, coupled, allowance, scratch);
  if (GivesUp(stop, allowance, plan)) return;
  Real x_start = request.flying_lap ? end_cap : v_start * v_start;
  if (x_start > start_max * (Real{1} + kSpeedRoundoff)) {
    plan.status = SpeedPlanStatus::kInfeasibleStart;
    plan.start_speed_max = root(start_max);
    plan.brake_now = BrakeFrom(static_cast<double>(v_start), length, 0.0,
                               static_cast<double>(budget.brake.limit));
    if (!std::isfinite(plan.brake_now.stop_distance)) {
      ResetOutcome(plan, SpeedPlanStatus::kInvalidArgument);
      plan.violations.push_back({"start_speed", kBrakesBeyondDouble});
    }
    return;
  }
  x_start = std::min(x_start, start_max);

  workspace.node_speed.resize(last + 1);
  const CurveEnd<Real> end = DriveForward(method, order, v_start, x_start, coupled, allowance,
                                          scratch, workspace.node_speed, plan.phases);
  if (GivesUp(stop, allowance, plan)) return;
  if (end.x < x_end * (Real{1} - kSpeedRoundoff)) {
    plan.status = SpeedPlanStatus::kInfeasibleEnd;
    plan.end_speed_max = root(end.x);
    return;
  }
  plan.status = SpeedPlanStatus::kOk;
  plan.length = length;
  plan.duration_s = static_cast<double>(end.time_s);
  if (!std::isfinite(plan.duration_s) || !std::isfinite(length)) {
    return FailBeyondDouble(request, plan);
  }
  if (request.flying_lap) {
    Unrotate(first, workspace.node_speed, plan);
  } else {
    plan.node_speed.swap(workspace.node_speed);
    plan.node_speed.front() = request.start_speed;
    plan.node_speed.back() = request.end_speed;
  }
  FindClipped(request, plan);
}

}  // namespace

void PlanSpeedAlongCurve(const CurvatureProfileRequest& request, CurvatureWorkspace& workspace,
                         CurvatureSpeedPlan& plan, StopCheck stop) {
  ResetOutcome(plan, SpeedPlanStatus::kInvalidArgument);
  PacedStopCheck paced(stop);
  const bool ordinary_columns = HasOrdinaryColumns(request);
  AppendCurveViolations(request, ordinary_columns, plan.violations);
  if (!plan.violations.empty()) return ClearColumns(plan);
  if (ordinary_columns && HasOrdinaryMotion(request)) {
    PlanAlong(request, paced, workspace, workspace.scratch, plan);
  } else {
    PlanAlong(request, paced, workspace, workspace.extreme, plan);
  }
  if (plan.status != SpeedPlanStatus::kOk) ClearColumns(plan);
}

}  // namespace arclane
