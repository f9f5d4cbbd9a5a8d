// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/route_trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Intervals of a phase: a parabola drawn with this many chords is off by 1/4 n^2 of its height, a
// tenth of a pixel of a chart.
constexpr int kIntervals = 24;
// Steps of the time integral within each interval of a coupled phase.
constexpr int kTimeSteps = 4;

double LimitOr(bool is_set, double value) { return is_set ? value : kInfinity; }

// sin(a) / a.
double Sinc(double a) { return std::abs(a) < 1e-8 ? 1.0 : std::sin(a) / a; }

// The limits at a point with this curvature, lateral and tangential acceleration.
class LimitsAt {
 public:
  explicit LimitsAt(const v1::AgentLimits& limits)
      : max_speed_(limits.max_speed() > 0 ? limits.max_speed() : kInfinity),
        acceleration_(limits.max_acceleration() > 0 ? limits.max_acceleration() : kInfinity),
        braking_(limits.max_braking() > 0 ? limits.max_braking() : kInfinity),
        lateral_(LimitOr(limits.has_max_lateral_acceleration(), limits.max_lateral_acceleration())),
        total_(IsCoupled(limits) ? limits.max_total_acceleration() : kInfinity) {}

  void Fill(double curvature, TracePoint& point) const {
    const double lateral = std::min(lateral_, total_);
    point.lateral_limit = lateral;
    point.speed_limit = curvature == 0
                            ? max_speed_
                            : std::min(max_speed_, std::sqrt(lateral / std::abs(curvature)));
    double along = kInfinity;  // What the shared budget leaves along the direction of travel.
    if (std::isfinite(total_)) {
      const double across = std::min(std::abs(point.lateral_acceleration), total_);
      along = std::sqrt((total_ - across) * (total_ + across));
    }
    point.acceleration_limit = std::min(acceleration_, along);
    point.braking_limit = std::min(braking_, along);
  }

 private:
  static bool IsCoupled(const v1::AgentLimits& limits) {
    if (!limits.has_max_total_acceleration()) return false;
    if (limits.budget_mode() == v1::BUDGET_MODE_COUPLED) return true;
    return limits.budget_mode() == v1::BUDGET_MODE_UNSPECIFIED &&
           !limits.has_max_lateral_acceleration();
  }

  double max_speed_, acceleration_, braking_, lateral_, total_;
};

absl::Status CheckFinite(const char* name, std::span<const double> column) {
  for (size_t i = 0; i < column.size(); ++i) {
    if (!std::isfinite(column[i])) {
      return absl::DataLossError(absl::StrCat(name, "[", i, "] is not finite"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFinite(const SegmentView& segments, const PhaseView& phases) {
  const std::pair<const char*, std::span<const double>> columns[] = {
      {"segments.start_distance", segments.start_distance},
      {"segments.start.x", segments.start.x()},
      {"segments.start.y", segments.start.y()},
      {"segments.start.z", segments.start.z()},
      {"segments.heading_rad", segments.heading_rad},
      {"segments.curvature", segments.curvature},
      {"segments.length", segments.length},
      {"phases.start_distance", phases.start_distance},
      {"phases.start_time_s", phases.start_time_s},
      {"phases.speed", phases.speed},
      {"phases.acceleration", phases.acceleration},
      {"phases.length", phases.length},
      {"phases.duration_s", phases.duration_s},
      {"phases.phase_rad", phases.phase_rad},
  };
  for (const auto& [name, column] : columns) {
    if (absl::Status status = CheckFinite(name, column); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<TraceSegment> TraceSegments(const SegmentView& view, const PlaneAxes& axes) {
  std::vector<TraceSegment> segments(view.size);
  for (size_t i = 0; i < view.size; ++i) {
    TraceSegment& segment = segments[i];
    segment.kind = view.kind[i];
    segment.start = axes.Project(view.start, i);
    segment.start_distance = view.start_distance[i];
    segment.length = std::max(0.0, view.length[i]);
    segment.heading_rad = view.heading_rad[i];
    const bool is_arc = view.kind[i] == v1::SEGMENT_KIND_ARC;
    segment.curvature = is_arc ? view.curvature[i] : 0.0;
    if (is_arc || i + 1 == view.size) {
      segment.end = segment.start;  // PointAlong needs only the start for these.
      segment.end = PointAlong(segment, segment.length);
    } else {
      segment.end = axes.Project(view.start, i + 1);
    }
  }
  return segments;
}

// Fills distance, time, speed and acceleration of the points of one phase.
struct PhaseNumbers {
  double start_distance, start_time_s, speed, acceleration, length, duration_s, phase_rad;
};

void TraceConstant(const PhaseNumbers& phase, std::vector<TracePoint>& points) {
  const int intervals = phase.acceleration == 0 ? 1 : kIntervals;
  points.resize(static_cast<size_t>(intervals) + 1);
  for (int k = 0; k <= intervals; ++k) {
    const double t = phase.duration_s * k / intervals;
    TracePoint& point = points[static_cast<size_t>(k)];
    point.time_s = phase.start_time_s + t;
    point.speed = std::max(0.0, phase.speed + phase.acceleration * t);
    const double covered = (phase.speed + 0.5 * phase.acceleration * t) * t;
    point.distance = phase.start_distance +
                     (k == intervals ? phase.length : std::clamp(covered, 0.0, phase.length));
    point.acceleration = phase.acceleration;
  }
}

// v^2 = (A / |kappa|) sin(phi), a = A cos(phi), phi = phase + 2 |kappa| s. Points cluster at both
// ends, so that the time integral of ds / v stays smooth where the speed is 0; it is scaled to the
// duration that the plan names.
void TraceCoupled(const PhaseNumbers& phase, double curvature, std::vector<TracePoint>& points) {
  const double kappa = std::abs(curvature);
  const double budget = std::hypot(phase.acceleration, phase.speed * phase.speed * kappa);
  const auto share = [](double u) { return 0.5 * (1 - std::cos(std::numbers::pi * u)); };
  const auto speed_at = [&](double s) {
    const double phi = phase.phase_rad + 2 * kappa * s;
    return std::sqrt(std::max(0.0, budget / kappa * std::sin(phi)));
  };
  points.resize(kIntervals + 1);
  double time = 0;
  for (int k = 0; k <= kIntervals; ++k) {
    TracePoint& point = points[static_cast<size_t>(k)];
    const double s = phase.length * share(static_cast<double>(k) / kIntervals);
    point.distance = phase.start_distance + s;
    point.speed = speed_at(s);
    point.acceleration = budget * std::cos(phase.phase_rad + 2 * kappa * s);
    point.time_s = time;
    for (int j = 0; j < kTimeSteps && k < kIntervals; ++j) {
      const double step = 1.0 / (kIntervals * kTimeSteps);
      const double from = static_cast<double>(k) / kIntervals + j * step;
      const double ds = phase.length * (share(from + step) - share(from));
      const double v = speed_at(phase.length * share(from + 0.5 * step));
      if (v > 0) time += ds / v;
    }
  }
  const double total = points.back().time_s;
  for (TracePoint& point : points) {
    point.time_s = phase.start_time_s + (total > 0 ? point.time_s / total * phase.duration_s : 0);
  }
}

std::vector<TracePhase> TracePhases(const PhaseView& view,
                                    const std::vector<TraceSegment>& segments,
                                    const LimitsAt& limits) {
  std::vector<TracePhase> phases(view.size);
  for (size_t i = 0; i < view.size; ++i) {
    TracePhase& phase = phases[i];
    phase.kind = view.kind[i];
    phase.segment = view.segment_index[i];
    const double curvature = segments[phase.segment].curvature;
    const PhaseNumbers numbers = {view.start_distance[i],
                                  view.start_time_s[i],
                                  view.speed[i],
                                  view.acceleration[i],
                                  std::max(0.0, view.length[i]),
                                  std::max(0.0, view.duration_s[i]),
                                  view.phase_rad.empty() ? 0.0 : view.phase_rad[i]};
    const bool coupled = phase.kind == v1::PHASE_KIND_COUPLED_ACCELERATE ||
                         phase.kind == v1::PHASE_KIND_COUPLED_BRAKE;
    if (coupled && curvature != 0) {
      TraceCoupled(numbers, curvature, phase.points);
    } else {
      TraceConstant(numbers, phase.points);
    }
    for (TracePoint& point : phase.points) {
      point.lateral_acceleration = point.speed * point.speed * curvature;
      limits.Fill(curvature, point);
    }
  }
  return phases;
}

}  // namespace

PlanePoint PlaneAxes::Project(double x, double y, double z) const {
  switch (up_axis_) {
    case v1::UP_AXIS_X:
      return {y, z};
    case v1::UP_AXIS_Y:
      return {x, z};
    default:
      return {x, y};
  }
}

const char* PlaneAxes::first_name() const { return up_axis_ == v1::UP_AXIS_X ? "y" : "x"; }
const char* PlaneAxes::second_name() const {
  return up_axis_ == v1::UP_AXIS_X || up_axis_ == v1::UP_AXIS_Y ? "z" : "y";
}

PlanePoint PointAlong(const TraceSegment& segment, double distance) {
  const double s = std::clamp(distance, 0.0, segment.length);
  const bool runs_straight_to_end =
      segment.curvature == 0 &&
      (segment.end.first != segment.start.first || segment.end.second != segment.start.second);
  if (runs_straight_to_end) {
    const double share = segment.length > 0 ? s / segment.length : 0.0;
    return {std::lerp(segment.start.first, segment.end.first, share),
            std::lerp(segment.start.second, segment.end.second, share)};
  }
  const double half_angle = 0.5 * segment.curvature * s;
  const double chord = s * Sinc(half_angle);
  const double direction = segment.heading_rad + half_angle;
  return {segment.start.first + chord * std::cos(direction),
          segment.start.second + chord * std::sin(direction)};
}

absl::StatusOr<RouteTrace> TraceRoute(const v1::Route& route, const v1::AgentLimits& limits,
                                      const PlaneAxes& axes) {
  const auto segments = SegmentView::Of(route);
  if (!segments.ok()) return segments.status();
  const auto phases = PhaseView::Of(route);
  if (!phases.ok()) return phases.status();
  if (absl::Status status = CheckFinite(*segments, *phases); !status.ok()) return status;
  RouteTrace trace;
  trace.segments = TraceSegments(*segments, axes);
  trace.phases = TracePhases(*phases, trace.segments, LimitsAt(limits));
  for (const TracePhase& phase : trace.phases) {
    for (const TracePoint& point : phase.points) {
      trace.largest_speed = std::max(trace.largest_speed, point.speed);
    }
  }
  return trace;
}

}  // namespace arclane
