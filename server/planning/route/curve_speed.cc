// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/curve_speed.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "server/planning/route/motion_plan.h"

namespace arclane {
namespace {

// Piecewise linear interpolation at increasing places; constant outside.
class LinearReader {
 public:
  LinearReader(std::span<const double> at, std::span<const double> value) : at_(at), value_(value) {}

  double Read(double place) {
    while (next_ < at_.size() && at_[next_] < place) ++next_;
    if (next_ == 0) return value_.front();
    if (next_ == at_.size()) return value_.back();
    if (at_[next_] == place) return value_[next_];
    const double fraction = (place - at_[next_ - 1]) / (at_[next_] - at_[next_ - 1]);
    return value_[next_ - 1] + (value_[next_] - value_[next_ - 1]) * fraction;
  }

 private:
  std::span<const double> at_;
  std::span<const double> value_;
  size_t next_ = 0;
};

// Adds the wish's knots inside the curve to the nodes and fills `cap` with the wished speed at every node. Squared speed is
// linear between knots, so the wish is followed exactly.
void MergeWish(std::span<const double> knots, std::span<const double> speed, CurveSpeed& result) {
  std::vector<double> nodes;
  nodes.reserve(result.distance.size() + knots.size());
  std::merge(result.distance.begin(), result.distance.end(), knots.begin(), knots.end(),
             std::back_inserter(nodes));
  const double length = result.distance.back();
  std::erase_if(nodes, [length](double s) { return !(s >= 0.0 && s <= length); });
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());

  std::vector<double> squared(speed.size());
  std::transform(speed.begin(), speed.end(), squared.begin(), [](double v) { return v * v; });
  LinearReader curvature(result.distance, result.curvature);
  LinearReader wish(knots, squared);
  std::vector<double> merged_curvature;
  merged_curvature.reserve(nodes.size());
  result.cap.reserve(nodes.size());
  for (const double s : nodes) {
    merged_curvature.push_back(curvature.Read(s));
    result.cap.push_back(std::sqrt(wish.Read(s)));
  }
  result.distance = std::move(nodes);
  result.curvature = std::move(merged_curvature);
}

// The end of a lap is its start again. Where their curvatures differ by more than rounding, the jump is put just before the end.
void CloseSeam(CurveSpeed& result) {
  constexpr double kSeamRoundoff = 1e-6;  // Of the curvature: both were refined to 1e-4 of it.
  constexpr double kJumpFraction = 1e-9;  // Of the length: what a jump inside the curve is given too.
  const double first = result.curvature.front();
  double& last = result.curvature.back();
  if (std::abs(first - last) > kSeamRoundoff * std::max(std::abs(first), std::abs(last))) {
    const double length = result.distance.back();
    const double before = length * (1.0 - kJumpFraction);
    if (before > result.distance[result.distance.size() - 2]) {
      result.distance.back() = before;
      result.distance.push_back(length);
      result.curvature.push_back(first);
      return;
    }
  }
  last = first;
}

size_t NodeAt(std::span<const double> distance, double s) {
  return std::lower_bound(distance.begin(), distance.end(), s) - distance.begin();
}

// Adds a stop in front of a node; stops at one node are one stop.
void AddStop(size_t node, double dwell_s, std::vector<SpeedStop>& stops) {
  const auto at = std::lower_bound(stops.begin(), stops.end(), node,
                                   [](const SpeedStop& stop, size_t n) { return stop.boundary < n; });
  if (at != stops.end() && at->boundary == node) {
    at->dwell_s += dwell_s;
  } else {
    stops.insert(at, {node, dwell_s});
  }
}

}  // namespace

absl::Status RefineProfile(const ArcLengthMap& map, CurveSpeed& result) {
  auto knots = RefineCurvature(map);
  if (!knots.ok()) return knots.status();
  result.distance = std::move(knots->distance);
  result.curvature = std::move(knots->curvature);
  result.stops = std::move(knots->stops);
  return absl::OkStatus();
}

void PlanCurveSpeed(const CurveSpeedRequest& request, CurvatureWorkspace& workspace, CurveSpeed& result) {
  result.cap.clear();
  result.node_stops.clear();
  if (result.distance.size() < 2) {
    result.plan = CurvatureSpeedPlan();
    result.plan.status = SpeedPlanStatus::kOk;
    return;
  }
  if (request.flying_lap) CloseSeam(result);
  SpeedOverDistance over_distance;
  if (request.wish.over == WishOver::kDistance && !request.wish.at.empty()) {
    MergeWish(request.wish.at, request.wish.speed, result);
  } else if (request.wish.over == WishOver::kTime && !request.wish.at.empty()) {
    SpeedOverTimeToDistance(request.wish.at, request.wish.speed, over_distance);
    MergeWish(over_distance.distance, over_distance.speed, result);
  }
  for (const CurveStop& stop : result.stops) {
    // The seam of a closed curve is a stop on the way of a flying lap only; otherwise it is the end.
    if (stop.distance == 0.0 && !request.flying_lap) continue;
    AddStop(NodeAt(result.distance, stop.distance), TurnDuration(request.agent, stop.turn_angle_rad),
            result.node_stops);
  }
  for (const SpeedStop& pause : over_distance.stops) {
    const double s = over_distance.distance[pause.boundary];
    if (s <= result.distance.back()) {
      AddStop(NodeAt(result.distance, s), pause.dwell_s, result.node_stops);
    }
  }
  if (request.flying_lap && !result.cap.empty()) {
    result.cap.front() = result.cap.back() = std::min(result.cap.front(), result.cap.back());
  }
  CurvatureProfileRequest profile;
  profile.distance = result.distance;
  profile.curvature = result.curvature;
  profile.speed_cap = result.cap;
  profile.stops = result.node_stops;
  profile.limits = request.agent.limits;
  profile.flying_lap = request.flying_lap;
  profile.start_speed = request.start_speed;
  profile.end_speed = request.end_speed;
  PlanSpeedAlongCurve(profile, workspace, result.plan);
}

}  // namespace arclane
