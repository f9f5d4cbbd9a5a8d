// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/curve_profile.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "server/planning/route/motion_plan.h"
#include "server/planning/route/piecewise_linear.h"
#include "server/planning/spline/curvature_envelope.h"

namespace arclane {
namespace {

// Adds the wish's knots inside the curve to the nodes and fills `cap` with the wished speed at
// every node. Squared speed is linear between knots, so the wish is followed exactly.
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
  PiecewiseLinear curvature(result.distance, result.curvature);
  PiecewiseLinear wish(knots, squared);
  std::vector<double> merged_curvature;
  merged_curvature.reserve(nodes.size());
  result.cap.reserve(nodes.size());
  for (const double s : nodes) {
    merged_curvature.push_back(curvature.ReadOn(s));
    result.cap.push_back(std::sqrt(wish.ReadOn(s)));
  }
  result.distance = std::move(nodes);
  result.curvature = std::move(merged_curvature);
}

// The part of the length over which the curvature changes at a seam, as RefineCurvature does at
// joints within the curve.
constexpr double kSeamWidth = 1e-9;

// A flying lap meets its first node again at its last, with the same magnitude of curvature. Where
// the two ends of the curve differ there, by rounding or because the curve's curvature jumps, the
// flatter end is bent to the larger magnitude over a stretch of kSeamWidth.
void CloseSeam(std::vector<double>& distance, std::vector<double>& curvature) {
  const double front = std::abs(curvature.front());
  const double back = std::abs(curvature.back());
  if (front == back) return;
  const double width = kSeamWidth * distance.back();
  if (front < back) {
    const double own = curvature.front();
    curvature.front() = std::copysign(back, own);
    if (distance[1] > width) {
      distance.insert(distance.begin() + 1, width);
      curvature.insert(curvature.begin() + 1, own);
    }
  } else {
    const double own = curvature.back();
    curvature.back() = std::copysign(front, own);
    const double place = distance.back() - width;
    if (distance[distance.size() - 2] < place) {
      distance.insert(distance.end() - 1, place);
      curvature.insert(curvature.end() - 1, own);
    }
  }
}

size_t NodeAt(std::span<const double> distance, double s) {
  return std::lower_bound(distance.begin(), distance.end(), s) - distance.begin();
}

// Adds a stop in front of a node; stops at one node are one stop.
void AddStop(size_t node, double dwell_s, std::vector<SpeedStop>& stops) {
  const auto at =
      std::lower_bound(stops.begin(), stops.end(), node,
                       [](const SpeedStop& stop, size_t n) { return stop.boundary < n; });
  if (at != stops.end() && at->boundary == node) {
    at->dwell_s += dwell_s;
  } else {
    stops.insert(at, {node, dwell_s});
  }
}

}  // namespace

void BuildCurveProfile(const CurveSpeedRequest& request, CurveSpeed& result) {
  result.distance = result.knots.distance;
  RaiseToEnvelope(result.knots, result.curvature);
  result.cap.clear();
  result.node_stops.clear();
  if (request.flying_lap) CloseSeam(result.distance, result.curvature);
  const WishLayout& wish = result.wish;
  if (!wish.distance().empty()) MergeWish(wish.distance(), wish.speed(), result);
  for (const CurveStop& stop : result.stops) {
    // The seam of a closed curve is a stop on the way of a flying lap only; otherwise it is the
    // end.
    if (stop.distance == 0.0 && !request.flying_lap) continue;
    AddStop(NodeAt(result.distance, stop.distance),
            TurnDuration(request.agent, stop.turn_angle_rad), result.node_stops);
  }
  for (const SpeedStop& pause : wish.rests()) {
    const double s = wish.distance()[pause.boundary];
    if (s <= result.distance.back()) {
      AddStop(NodeAt(result.distance, s), pause.dwell_s, result.node_stops);
    }
  }
}

}  // namespace arclane
