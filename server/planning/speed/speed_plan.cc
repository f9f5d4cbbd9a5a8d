// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/speed_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/planning/speed/decoupled_plan.h"
#include "server/planning/speed/motion_tolerance.h"
#include "server/planning/speed/numeric_range.h"
#include "server/planning/speed/phase_writer.h"
#include "server/planning/speed/piece_columns.h"
#include "server/planning/speed/piece_motion.h"
#include "server/planning/speed/piece_phases.h"
#include "server/planning/speed/reaction_plan.h"
#include "server/planning/speed/speed_request.h"

namespace arclane {
namespace {

// Leaves the columns alone, which a plan overwrites and ClearColumns empties.
void ResetOutcome(SpeedPlan& plan) {
  plan.status = SpeedPlanStatus::kInvalidArgument;
  plan.violations.clear();
  plan.start_speed_max = 0.0;
  plan.brake_now = {};
  plan.end_speed_max = 0.0;
  plan.length = 0.0;
  plan.duration_s = 0.0;
}

void ClearColumns(SpeedPlan& plan) {
  plan.length = 0.0;
  plan.duration_s = 0.0;
  plan.piece_index.clear();
  plan.boundary_speed.clear();
  plan.peak_speed.clear();
  plan.brake_start_distance.clear();
  plan.piece_time_s.clear();
  plan.phases.clear();
}

void FailStart(double speed_max, const SpeedPlanRequest& request, double length, SpeedPlan& plan) {
  const SpeedLimits& limits = request.limits;
  const double braking =
      std::min(limits.max_braking, limits.max_total_acceleration.value_or(limits.max_braking));
  ClearColumns(plan);
  plan.status = SpeedPlanStatus::kInfeasibleStart;
  plan.start_speed_max = speed_max;
  plan.brake_now = BrakeFrom(request.start_speed, length, limits.reaction_time_s, braking);
  if (std::isfinite(plan.brake_now.stop_distance)) return;
  ResetOutcome(plan);
  plan.violations.push_back({"start_speed", kBrakesBeyondDouble});
}

void FailEnd(double speed_max, SpeedPlan& plan) {
  ClearColumns(plan);
  plan.status = SpeedPlanStatus::kInfeasibleEnd;
  plan.end_speed_max = speed_max;
}

// A path or a time beyond what a double can hold names the piece, or the stop, that leads there.
void FailBeyondDouble(const SpeedPlanRequest& request, SpeedPlan& plan) {
  std::string field = "pieces";
  std::string message = "the path is longer than a double can hold";
  double distance = 0.0;
  for (std::size_t i = 0; i < request.pieces.size() && std::isfinite(distance); ++i) {
    distance += request.pieces[i].length;
    if (!std::isfinite(distance)) field = absl::StrCat("pieces[", i, "].length");
  }
  if (std::isfinite(distance)) {
    message = "within the limits this takes more seconds than a double can hold";
    const auto beyond =
        std::find_if(plan.phases.begin(), plan.phases.end(), [](const SpeedPhase& phase) {
          return !std::isfinite(phase.start_time_s + phase.duration_s);
        });
    if (beyond != plan.phases.end() && beyond->kind != SpeedPhaseKind::kDwell) {
      field = absl::StrCat("pieces[", beyond->piece, "].length");
    } else if (!request.stops.empty()) {
      field = absl::StrCat("stops[", request.stops.size() - 1, "].dwell_s");
    }
  }
  ClearColumns(plan);
  plan.status = SpeedPlanStatus::kInvalidArgument;
  plan.violations.push_back({field, message});
}

bool IsFinite(const SpeedPlan& plan) {
  return std::isfinite(plan.duration_s) && std::isfinite(plan.length);
}

// Every case, in numbers of the type that the problem needs.
template <typename Real>
void PlanGeneral(const SpeedPlanRequest& request, SpeedColumns<Real>& columns, SpeedPlan& plan) {
  const auto root = [](Real x) { return static_cast<double>(std::sqrt(x)); };
  const Real above = Real{1} + kSpeedRoundoff;
  ClearColumns(plan);
  const BasicMotionBudget<Real> budget = ResolveBudget<Real>(request.limits);
  const Real length = FillColumns(request, budget, columns);

  Real x_end = Real{request.end_speed} * request.end_speed;
  const Real end_cap = EndCap(columns, budget);
  if (x_end > end_cap * above) return FailEnd(root(end_cap), plan);
  if (x_end >= end_cap * kOnCap) x_end = end_cap;
  PassBackward(x_end, budget, columns);

  const Real reaction_s = request.limits.reaction_time_s;
  const bool reacts = reaction_s > 0;
  Real start_max = columns.backward[0];
  if (reacts) {
    const Real v = LargestReactiveStart(columns, budget, reaction_s);
    start_max = v * v;
  }
  Real x_start = Real{request.start_speed} * request.start_speed;
  if (x_start > start_max * above) {
    return FailStart(root(start_max), request, static_cast<double>(length), plan);
  }
  if (x_start >= start_max * kOnCap) x_start = start_max;

  Real x_reached = 0;
  PhaseWriter<Real> writer(budget, plan.phases);
  if (reacts) {
    x_reached = WriteReactivePhases(Real{request.start_speed}, reaction_s, budget, columns, writer);
  } else {
    PassForward(x_start, budget, columns);
    x_reached = columns.forward.back();
  }
  if (x_reached < x_end * (Real{1} - kSpeedRoundoff)) return FailEnd(root(x_reached), plan);

  plan.status = SpeedPlanStatus::kOk;
  plan.length = static_cast<double>(length);
  plan.piece_index.assign(columns.index.begin(), columns.index.end());
  if (reacts) {
    FillColumnsFromPhases(columns, static_cast<double>(writer.time_s()), plan);
  } else {
    WritePlainPlan(request, budget, columns, plan);
  }
  plan.boundary_speed.front() = request.start_speed;
  plan.boundary_speed.back() = request.end_speed;
  if (!IsFinite(plan)) FailBeyondDouble(request, plan);
}

// No stops, no reaction, limits that do not depend on the speed: the same tests, fewer steps.
void PlanDecoupled(const SpeedPlanRequest& request, SpeedColumns<double>& columns,
                   SpeedPlan& plan) {
  const MotionBudget budget = ResolveBudget(request.limits);
  double x_end = request.end_speed * request.end_speed;
  const double end_cap = budget.CapAt(request.pieces.back().radius);
  if (x_end > end_cap * (1.0 + kSpeedRoundoff)) return FailEnd(std::sqrt(end_cap), plan);
  if (x_end >= end_cap * kOnCap) x_end = end_cap;
  PassBackwardDecoupled(request.pieces, x_end, budget, columns.backward);

  const double start_max = columns.backward[0];
  double x_start = request.start_speed * request.start_speed;
  if (x_start > start_max * (1.0 + kSpeedRoundoff)) {
    double length = 0.0;
    for (const SpeedPiece& piece : request.pieces) length += piece.length;
    return FailStart(std::sqrt(start_max), request, length, plan);
  }
  if (x_start >= start_max * kOnCap) x_start = start_max;
  const double x_reached = WriteDecoupledPlan(request.pieces, x_start, request.start_speed,
                                              request.end_speed, budget, columns.backward, plan);
  if (x_reached < x_end * (1.0 - kSpeedRoundoff)) return FailEnd(std::sqrt(x_reached), plan);
  plan.status = SpeedPlanStatus::kOk;
}

}  // namespace

void PlanSpeed(const SpeedPlanRequest& request, SpeedWorkspace& workspace, SpeedPlan& plan) {
  ResetOutcome(plan);
  const SpeedLimits& limits = request.limits;
  const bool ordinary_pieces = HasOrdinaryPieces(request.pieces);
  AppendLimitViolations(limits, plan.violations);
  if (!ordinary_pieces) AppendPieceViolations(request.pieces, plan.violations);
  AppendSpeedAndStopViolations(request, plan.violations);
  if (!plan.violations.empty()) return ClearColumns(plan);

  const bool ordinary_limits = HasOrdinaryLimits(limits) && IsOrdinaryOrZero(request.start_speed) &&
                               IsOrdinaryOrZero(request.end_speed);
  if (!ordinary_limits || !(ordinary_pieces || HasOrdinaryOrNoLengths(request.pieces))) {
    return PlanGeneral<long double>(request, workspace.extreme, plan);
  }
  if (ordinary_pieces && limits.budget_mode != BudgetMode::kCoupled && request.stops.empty() &&
      limits.reaction_time_s == 0.0) {
    return PlanDecoupled(request, workspace.columns, plan);
  }
  PlanGeneral<double>(request, workspace.columns, plan);
}

}  // namespace arclane
