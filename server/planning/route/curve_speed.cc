// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/curve_speed.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "server/planning/route/curve_profile.h"
#include "server/planning/spline/curvature_envelope.h"

namespace arclane {
namespace {

// The first profile, relative to the curvature, and to the one that binds at the highest speed.
constexpr double kCoarse = 1e-2;
// Bounds of the absolute part, as the angle that a curve turns over its length: below the first,
// curvature may be noise; above the second, for each segment of the curve, the shape of the profile
// would be lost.
constexpr double kLeastTurn = 1e-7;
constexpr double kMostTurn = 1e-1;

// A plan this near to the lateral limit touches it: of the first plan, whose profile is off by
// about kCoarse, and of later ones.
constexpr double kNear = 3.0 * kCoarse;
constexpr double kTouching = 1e-6;
constexpr int kMostRounds = 4;
// Each layout of a wish over time brings the next stretch that is held back to its right times, and
// those behind it nearer to theirs.
constexpr int kMostLayouts = 64;

// Under a coupled budget: the share of time that the profile's error may cost. A tenth of the
// resolution of the plan.
constexpr double kCoupledTimeShare = 1e-4;

// Limits as the curvature meets them.
struct Grip {
  explicit Grip(const SpeedLimits& limits) : coupled(limits.budget_mode == BudgetMode::kCoupled) {
    lateral = limits.max_lateral_acceleration.value_or(std::numeric_limits<double>::infinity());
    if (limits.max_total_acceleration) lateral = std::min(lateral, *limits.max_total_acceleration);
  }

  double lateral;
  bool coupled;
};

// A bound of the squared speed anywhere on the curve, by the limits on speed and acceleration.
double LargestSquaredSpeed(const CurveSpeedRequest& request, double length) {
  const SpeedLimits& limits = request.agent.limits;
  const double squared = limits.max_speed * limits.max_speed;
  if (request.flying_lap) return squared;
  const double gained = std::max(limits.max_acceleration, limits.max_braking) * length;
  return std::min(squared, std::max(request.start_speed * request.start_speed,
                                    request.end_speed * request.end_speed) +
                               2.0 * gained);
}

// No smaller curvature limits the speed anywhere.
double BindingCurvature(const CurveSpeedRequest& request, double length) {
  return Grip(request.agent.limits).lateral / LargestSquaredSpeed(request, length);
}

// The largest curvature times squared speed of a phase, over which both are all but linear.
double LargestLateral(double k0, double x0, double k1, double x1) {
  const double dk = k1 - k0, dx = x1 - x0;
  double largest = std::max(k0 * x0, k1 * x1);
  const double bend = dk * dx;
  if (bend < 0.0) {
    const double peak = -0.5 * (k0 * dx + x0 * dk) / bend;
    if (peak > 0.0 && peak < 1.0) largest = std::max(largest, (k0 + dk * peak) * (x0 + dx * peak));
  }
  return largest;
}

// Notes how near the plan comes to the lateral limit in each interval, and what the interval's
// deviation costs.
void JudgeIntervals(const Grip& grip, double near, CurveSpeed& result) {
  const CurvatureKnots& knots = result.knots;
  result.intervals.resize(knots.excess.size());
  for (CurveSpeed::Interval& interval : result.intervals) {
    interval.touched = false;
    interval.weight = 0.0;
  }
  size_t i = 0;
  for (const SpeedPhase& phase : result.plan.phases) {
    if (phase.kind == SpeedPhaseKind::kDwell) continue;
    const double middle = phase.start_distance + 0.5 * phase.length;
    while (i + 1 < knots.excess.size() && knots.distance[i + 1] < middle) ++i;
    const double node0 = result.distance[phase.piece], node1 = result.distance[phase.piece + 1];
    const double slope =
        (std::abs(result.curvature[phase.piece + 1]) - std::abs(result.curvature[phase.piece])) /
        (node1 - node0);
    const double k0 =
        std::abs(result.curvature[phase.piece]) + slope * (phase.start_distance - node0);
    const double k1 = k0 + slope * phase.length;
    const double x0 = phase.start_speed * phase.start_speed;
    const double x1 = phase.end_speed * phase.end_speed;
    const double lateral = LargestLateral(k0, x0, k1, x1) / grip.lateral;
    if (!(lateral > 0.0)) continue;
    CurveSpeed::Interval& interval = result.intervals[i];
    // Two thirds of the deviation on the mean, beside the curvature that binds at this speed; time
    // is as the root of the curvature.
    const double cost =
        phase.duration_s * knots.deviation[i] * std::max(x0, x1) / (3.0 * grip.lateral);
    if (grip.coupled) {
      interval.touched = true;
      interval.weight += cost * lateral;
    } else {
      interval.touched |= lateral >= 1.0 - near;
      interval.weight += cost;
    }
  }
}

// Chooses the parts of intervals that are touched and not yet fine, and of those beside them, whose
// excess they share. For a cost w in one part, w / n^2 in n, the sum of parts is least where n is
// as the cube root of w. False when there is nothing to cut.
bool ChooseParts(const Grip& grip, CurveSpeed& result) {
  const size_t count = result.intervals.size();
  result.parts.assign(count, 0);
  for (size_t i = 0; i < count; ++i) {
    if (!result.intervals[i].touched || result.intervals[i].fine) continue;
    for (size_t k = i > 0 ? i - 1 : 0; k <= i + 1 && k < count; ++k) {
      if (!result.intervals[k].fine) result.parts[k] = 1;
    }
  }
  double roots = 0.0;
  for (size_t i = 0; i < count; ++i) {
    if (result.parts[i] != 0) roots += std::cbrt(result.intervals[i].weight);
  }
  if (!(roots > 0.0)) return false;
  const double share = grip.coupled ? kCoupledTimeShare : 0.5 * kCurveTimeShare;
  const double scale = std::min(std::sqrt(roots / (share * result.plan.duration_s)),
                                static_cast<double>(kMostCurveParts) / roots);
  for (size_t i = 0; i < count; ++i) {
    if (result.parts[i] == 0) continue;
    result.parts[i] = 1 + static_cast<uint32_t>(std::cbrt(result.intervals[i].weight) * scale);
  }
  return true;
}

// Without a plan nothing tells where the profile matters: every interval gets as many parts as make
// its deviation small beside its curvature, or beside the least that binds. False when all are
// fine.
bool ChoosePartsEverywhere(double binding, CurveSpeed& result) {
  const CurvatureKnots& knots = result.knots;
  const size_t count = result.intervals.size();
  double total = 0.0;
  bool any = false;
  for (size_t i = 0; i < count; ++i) {
    CurveSpeed::Interval& interval = result.intervals[i];
    const double larger = std::max(std::abs(knots.curvature[i]), std::abs(knots.curvature[i + 1]));
    interval.weight =
        interval.fine ? 0.0 : std::sqrt(knots.deviation[i] / std::max(larger, binding));
    any |= !interval.fine;
    total += interval.weight;
  }
  const double scale =
      std::min(1.0 / std::sqrt(kCurveTimeShare), static_cast<double>(kMostCurveParts) / total);
  result.parts.assign(count, 0);
  for (size_t i = 0; i < count; ++i) {
    if (result.intervals[i].fine) continue;
    result.parts[i] = 1;
    if (total > 0.0) result.parts[i] += static_cast<uint32_t>(result.intervals[i].weight * scale);
  }
  return any;
}

// Cuts the intervals that have parts; what came of them is fine.
void CutChosen(const ArcLengthMap& map, CurveSpeed& result) {
  for (size_t i = 0; i < result.parts.size(); ++i) {
    result.intervals[i].fine |= result.parts[i] != 0;
    result.parts[i] = std::max(result.parts[i], 1u);
  }
  CutIntervals(map, result.knots, result.parts, result.finer_knots);
  std::vector<CurveSpeed::Interval> finer(result.finer_knots.excess.size());
  size_t next = 0;
  for (size_t i = 0; i < result.parts.size(); ++i) {
    const double end = result.knots.distance[i + 1];
    for (; next < finer.size() && result.finer_knots.distance[next + 1] <= end; ++next) {
      finer[next].fine = result.intervals[i].fine;
    }
  }
  result.intervals = std::move(finer);
  std::swap(result.knots, result.finer_knots);
}

void PlanOnProfile(const CurveSpeedRequest& request, StopCheck stop, CurvatureWorkspace& workspace,
                   CurveSpeed& result) {
  BuildCurveProfile(request, result);
  CurvatureProfileRequest profile;
  profile.distance = result.distance;
  profile.curvature = result.curvature;
  profile.speed_cap = result.cap;
  profile.stops = result.node_stops;
  profile.limits = request.agent.limits;
  profile.flying_lap = request.flying_lap;
  profile.start_speed = request.start_speed;
  profile.end_speed = request.end_speed;
  profile.most_extra_phases = request.most_extra_phases;
  PlanSpeedAlongCurve(profile, workspace, result.plan, stop);
}

// Whether a finer profile would not change the outcome.
bool IsFinal(SpeedPlanStatus status) {
  return status == SpeedPlanStatus::kInvalidArgument || status == SpeedPlanStatus::kTooManyPhases ||
         status == SpeedPlanStatus::kStopped;
}

}  // namespace

absl::Status RefineProfile(const ArcLengthMap& map, const CurveSpeedRequest& request,
                           CurveSpeed& result) {
  CurvatureOptions options;
  options.max_knots = request.max_nodes;
  options.relative_tolerance = kCoarse;
  options.absolute_tolerance = kMostTurn;  // Of a curve without length too.
  if (map.length() > 0.0) {
    const double most = kMostTurn * map.curve().segment_count();
    options.absolute_tolerance = std::clamp(
        kCoarse * BindingCurvature(request, map.length()) * map.length(), kLeastTurn, most);
  }
  auto knots = RefineCurvature(map, options);
  if (!knots.ok()) return knots.status();
  result.knots = *std::move(knots);
  result.stops = result.knots.stops;
  result.intervals.assign(result.knots.excess.size(), {});
  return absl::OkStatus();
}

void PlanCurveSpeed(const ArcLengthMap& map, const CurveSpeedRequest& request,
                    CurvatureWorkspace& workspace, CurveSpeed& result, StopCheck stop) {
  if (result.knots.distance.size() < 2) {
    result.distance = result.knots.distance;
    result.curvature = result.knots.curvature;
    result.cap.clear();
    result.node_stops.clear();
    result.plan = CurvatureSpeedPlan();
    result.plan.status = SpeedPlanStatus::kOk;
    return;
  }
  result.wish.Lay(request.wish, request.agent.limits, map.length());
  const Grip grip(request.agent.limits);
  double near = kNear;
  int rounds = 0, layouts = 0;
  for (;;) {
    PlanOnProfile(request, stop, workspace, result);
    if (IsFinal(result.plan.status)) return;
    const bool is_planned = result.plan.status == SpeedPlanStatus::kOk;
    bool again = false;
    if (rounds < kMostRounds) {
      if (is_planned) {
        JudgeIntervals(grip, near, result);
        again = ChooseParts(grip, result);
      } else {
        again = ChoosePartsEverywhere(BindingCurvature(request, map.length()), result);
      }
    }
    if (again) {
      CutChosen(map, result);
      near = kTouching;
      ++rounds;
    }
    if (is_planned && !request.flying_lap && layouts < kMostLayouts &&
        result.wish.LayAgain(result.plan)) {
      again = true;
      ++layouts;
    }
    if (!again) break;
  }
  if (result.plan.status == SpeedPlanStatus::kOk && !request.flying_lap) {
    result.wish.FindClipped(result.plan);
  }
}

}  // namespace arclane
