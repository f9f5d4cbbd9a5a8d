// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/curve_scene.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

// Straight pieces of the cubic between two samples: a half circle then departs from its chords by
// 1/2 (pi / 32)^2 of its radius, a pixel of a picture's whole height.
constexpr int kPieces = 16;
// A sample interval that is longer than its chord by less than this part of it is drawn as one
// line.
constexpr double kStraightExcess = 1e-5;

std::span<const double> SpanOf(const google::protobuf::RepeatedField<double>& column) {
  return {column.data(), static_cast<size_t>(column.size())};
}

struct CurveNode {
  double distance = 0;
  PlanePoint position;
  PlanePoint tangent;  // Zero when unknown.
};

absl::StatusOr<std::vector<CurveNode>> ReadNodes(const CurveSampleView& samples,
                                                 const PlaneAxes& axes) {
  if (samples.distance.empty() || samples.position.empty()) {
    return absl::InvalidArgumentError(
        "samples: a curve is drawn from samples with distance and position; ask for some");
  }
  std::vector<CurveNode> nodes(samples.size);
  for (size_t i = 0; i < samples.size; ++i) {
    if (!std::isfinite(samples.distance[i])) {
      return absl::InvalidArgumentError(absl::StrCat("samples.distance[", i, "] is not finite"));
    }
    nodes[i] = {samples.distance[i], axes.Project(samples.position, i), {}};
    if (samples.tangent.empty()) continue;
    const PlanePoint tangent = axes.Project(samples.tangent, i);
    if (std::isfinite(tangent.first) && std::isfinite(tangent.second)) nodes[i].tangent = tangent;
  }
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const CurveNode& a, const CurveNode& b) { return a.distance < b.distance; });
  return nodes;
}

// The cubic through both nodes with their tangents, at `u` in [0, 1].
PlanePoint Hermite(const CurveNode& a, const CurveNode& b, double u) {
  const double h = b.distance - a.distance;
  const double v = 1 - u;
  const double from = v * v * (1 + 2 * u);
  const double to = u * u * (1 + 2 * v);
  const double leave = u * v * v * h;
  const double arrive = -u * u * v * h;
  const auto blend = [&](double p, double q, double p_tangent, double q_tangent) {
    return from * p + to * q + leave * p_tangent + arrive * q_tangent;
  };
  return {blend(a.position.first, b.position.first, a.tangent.first, b.tangent.first),
          blend(a.position.second, b.position.second, a.tangent.second, b.tangent.second)};
}

// The jumps of direction at or between two distances: tangents there belong to different branches.
std::span<const double> JumpsBetween(std::span<const double> jumps, double from, double to) {
  const auto first = std::lower_bound(jumps.begin(), jumps.end(), from);
  return {first, std::upper_bound(first, jumps.end(), to)};
}

// Where the branches from both sides meet at `distance`, each as straight as at its sample.
PlanePoint MeetingPoint(const CurveNode& a, const CurveNode& b, double distance) {
  const double ahead = distance - a.distance;
  const double behind = b.distance - distance;
  return {0.5 * (a.position.first + ahead * a.tangent.first + b.position.first -
                 behind * b.tangent.first),
          0.5 * (a.position.second + ahead * a.tangent.second + b.position.second -
                 behind * b.tangent.second)};
}

struct CurvePoint {
  double distance;
  PlanePoint position;
};

std::vector<CurvePoint> FollowCurve(const std::vector<CurveNode>& nodes,
                                    std::span<const double> jumps, double slack) {
  std::vector<CurvePoint> points = {{nodes[0].distance, nodes[0].position}};
  for (size_t i = 1; i < nodes.size(); ++i) {
    const CurveNode& a = nodes[i - 1];
    const CurveNode& b = nodes[i];
    const double length = b.distance - a.distance;
    const double chord =
        std::hypot(b.position.first - a.position.first, b.position.second - a.position.second);
    const bool has_tangents = (a.tangent.first != 0 || a.tangent.second != 0) &&
                              (b.tangent.first != 0 || b.tangent.second != 0);
    const auto inner_jumps = JumpsBetween(jumps, a.distance - slack, b.distance + slack);
    const bool is_straight =
        !has_tangents || length - chord <= kStraightExcess * chord || !inner_jumps.empty();
    if (has_tangents && inner_jumps.size() == 1 && inner_jumps[0] > a.distance + slack &&
        inner_jumps[0] < b.distance - slack) {
      points.push_back({inner_jumps[0], MeetingPoint(a, b, inner_jumps[0])});
    }
    const int pieces = is_straight ? 1 : kPieces;
    for (int k = 1; k < pieces; ++k) {
      const double u = static_cast<double>(k) / pieces;
      points.push_back({std::lerp(a.distance, b.distance, u), Hermite(a, b, u)});
    }
    points.push_back({b.distance, b.position});
  }
  return points;
}

// The speed at a distance, linear between the points of the phases. Precondition: sorted.
double SpeedAt(const std::vector<TracePoint>& points, double distance) {
  if (points.empty()) return 0;
  const auto after =
      std::lower_bound(points.begin(), points.end(), distance,
                       [](const TracePoint& point, double d) { return point.distance < d; });
  if (after == points.begin()) return points.front().speed;
  if (after == points.end()) return points.back().speed;
  const TracePoint& before = *(after - 1);
  const double length = after->distance - before.distance;
  return length > 0 ? std::lerp(before.speed, after->speed, (distance - before.distance) / length)
                    : after->speed;
}

void AddCurve(const std::vector<CurvePoint>& curve, const std::vector<TracePoint>& motion,
              Scene& scene) {
  for (size_t i = 0; i < curve.size(); ++i) {
    TracePoint& point = scene.curve_points.emplace_back();
    point.distance = curve[i].distance;
    point.speed = SpeedAt(motion, point.distance);
    if (i == 0) continue;
    TraceSegment& segment = scene.trace.segments.emplace_back();
    segment.kind = v1::SEGMENT_KIND_CURVE;
    segment.start = curve[i - 1].position;
    segment.end = curve[i].position;
    segment.start_distance = curve[i - 1].distance;
    segment.length = curve[i].distance - curve[i - 1].distance;
  }
}

PlanePoint PositionAt(const std::vector<CurvePoint>& curve, double distance) {
  const auto after =
      std::lower_bound(curve.begin(), curve.end(), distance,
                       [](const CurvePoint& point, double d) { return point.distance < d; });
  if (after == curve.begin()) return curve.front().position;
  if (after == curve.end()) return curve.back().position;
  const CurvePoint& before = *(after - 1);
  const double length = after->distance - before.distance;
  const double share = length > 0 ? (distance - before.distance) / length : 1;
  return {std::lerp(before.position.first, after->position.first, share),
          std::lerp(before.position.second, after->position.second, share)};
}

absl::Status AddControl(const v1::Spline& spline, Scene& scene) {
  const auto control = PointsView::Of(spline.control(), "spline.control");
  if (!control.ok()) return AsArgumentError(control.status());
  for (size_t i = 0; i < control->size(); ++i) {
    scene.control.push_back(scene.axes.Project(*control, i));
  }
  scene.control_polygon = scene.control;
  // The other kinds repeat their first points themselves.
  if (spline.closed() && !scene.control.empty() &&
      (spline.has_catmull_rom() || spline.has_hermite())) {
    scene.control_polygon.push_back(scene.control.front());
  }
  return absl::OkStatus();
}

// Without a speed plan the charts show the samples' curvature; it is undefined at cusps.
void TraceCurvature(const CurveSampleView& samples, Scene& scene) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  TracePhase phase;
  std::vector<size_t> order(samples.curvature.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return samples.distance[a] < samples.distance[b]; });
  for (const size_t i : order) {
    if (!std::isfinite(samples.curvature[i])) continue;
    TracePoint& point = phase.points.emplace_back();
    point.distance = samples.distance[i];
    point.curvature = samples.curvature[i];
    point.speed_limit = point.acceleration_limit = kInfinity;
    point.braking_limit = point.lateral_limit = kInfinity;
  }
  if (!phase.points.empty()) scene.trace.phases.push_back(std::move(phase));
}

}  // namespace

absl::StatusOr<Scene> BuildScene(const v1::PlanSplineRequest& request,
                                 const v1::PlanSplineResponse& response) {
  const v1::CurvePlan& plan = response.plan();
  Scene scene;
  scene.axes = PlaneAxes(request.frame().up_axis());
  scene.is_loop = request.spline().closed();
  if (absl::Status status = AddControl(request.spline(), scene); !status.ok()) return status;
  const auto samples = CurveSampleView::Of(plan);
  if (!samples.ok()) return AsArgumentError(samples.status());
  const auto nodes = ReadNodes(*samples, scene.axes);
  if (!nodes.ok()) return nodes.status();

  auto trace = TraceCurveSpeed(plan.speed().phases(),
                               {SpanOf(plan.profile_distance()), SpanOf(plan.profile_curvature())},
                               request.agent().limits());
  if (!trace.ok()) return AsArgumentError(trace.status());
  scene.trace = *std::move(trace);
  scene.stops = FindStops(scene.trace);
  scene.has_speed = !scene.trace.phases.empty();
  std::vector<TracePoint> motion;
  for (const TracePhase& phase : scene.trace.phases) {
    motion.insert(motion.end(), phase.points.begin(), phase.points.end());
  }

  // Distances of samples and stops are roundings of one length.
  const double slack = 1e-12 * plan.length();
  const std::vector<CurvePoint> curve = FollowCurve(*nodes, SpanOf(plan.stops().distance()), slack);
  AddCurve(curve, motion, scene);
  if (curve.front().distance <= slack) scene.start = curve.front().position;
  if (curve.back().distance >= plan.length() - slack) scene.goal = curve.back().position;
  for (const double distance : plan.stops().distance()) {
    scene.corners.push_back(
        {PositionAt(curve, distance), v1::CORNER_KIND_STOP, v1::CORNER_REASON_UNSPECIFIED, false});
  }
  for (const CurveNode& node : *nodes) {
    scene.samples.push_back(node.position);
    if (scene.has_speed) scene.sample_speeds.push_back(SpeedAt(motion, node.distance));
  }
  if (!scene.has_speed) TraceCurvature(*samples, scene);
  if (absl::Status status = MeasureExtent(scene); !status.ok()) return status;
  return scene;
}

}  // namespace arclane
