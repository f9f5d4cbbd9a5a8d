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

double Positive(double limit) { return limit > 0 ? limit : kInfinity; }

// The limits at a point with this curvature, lateral and tangential acceleration.
class LimitsAt {
 public:
  explicit LimitsAt(const v1::AgentLimits& limits)
      : max_speed_(Positive(limits.max_speed())),
        acceleration_(Positive(limits.max_acceleration())) {
    const double total =
        LimitOr(limits.has_max_total_acceleration(), limits.max_total_acceleration());
    // Whatever the mode, neither braking nor the acceleration across exceeds the total.
    braking_ = std::min(Positive(limits.max_braking()), total);
    lateral_ = std::min(
        total, LimitOr(limits.has_max_lateral_acceleration(), limits.max_lateral_acceleration()));
    const bool coupled = limits.budget_mode() == v1::BUDGET_MODE_COUPLED ||
                         limits.budget_mode() == v1::BUDGET_MODE_UNSPECIFIED;
    shared_ = coupled ? total : kInfinity;
  }

  void Fill(double curvature, TracePoint& point) const {
    point.lateral_limit = lateral_;
    point.speed_limit = curvature == 0
                            ? max_speed_
                            : std::min(max_speed_, std::sqrt(lateral_ / std::abs(curvature)));
    double along = kInfinity;  // What the shared budget leaves along the direction of travel.
    if (std::isfinite(shared_)) {
      const double across = std::min(std::abs(point.lateral_acceleration), shared_);
      along = std::sqrt((shared_ - across) * (shared_ + across));
    }
    point.acceleration_limit = std::min(acceleration_, along);
    point.braking_limit = std::min(braking_, along);
  }

 private:
  double max_speed_, acceleration_;
  double braking_, lateral_;
  double shared_;  // Infinite unless the limits share one budget.
};

absl::Status CheckFinite(const char* name, std::span<const double> column) {
  for (size_t i = 0; i < column.size(); ++i) {
    if (!std::isfinite(column[i])) {
      return absl::DataLossError(absl::StrCat(name, "[", i, "] is not finite"));
    }
  }
  return absl::OkStatus();
}

using NamedColumn = std::pair<const char*, std::span<const double>>;

absl::Status CheckFinite(std::span<const NamedColumn> columns) {
  for (const auto& [name, column] : columns) {
    if (absl::Status status = CheckFinite(name, column); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckFinite(const SegmentView& segments) {
  const NamedColumn columns[] = {
      {"segments.start_distance", segments.start_distance},
      {"segments.start.x", segments.start.x()},
      {"segments.start.y", segments.start.y()},
      {"segments.start.z", segments.start.z()},
      {"segments.heading_rad", segments.heading_rad},
      {"segments.curvature", segments.curvature},
      {"segments.length", segments.length},
  };
  return CheckFinite(columns);
}

absl::Status CheckFinite(const PhaseView& phases) {
  const NamedColumn columns[] = {
      {"phases.start_distance", phases.start_distance},
      {"phases.start_time_s", phases.start_time_s},
      {"phases.speed", phases.speed},
      {"phases.acceleration", phases.acceleration},
      {"phases.length", phases.length},
      {"phases.duration_s", phases.duration_s},
      {"phases.phase_rad", phases.phase_rad},
      {"phases.law", phases.law},
  };
  return CheckFinite(columns);
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

// One phase, as its columns tell it.
struct PhaseNumbers {
  int kind;
  double start_distance, start_time_s, speed, acceleration, length, duration_s, phase_rad, law;
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

struct Motion {
  double speed;
  double acceleration;
};

// The motion after distance s of a phase whose acceleration changes.
Motion MotionAt(const PhaseNumbers& phase, double curvature, double s) {
  const double kappa = std::abs(curvature);
  const double start_square = phase.speed * phase.speed;
  const auto speed_of = [](double square) { return std::sqrt(std::max(0.0, square)); };
  switch (phase.kind) {
    case v1::PHASE_KIND_RAMP:
      return {speed_of(start_square + (2 * phase.acceleration + phase.law * s) * s),
              phase.acceleration + phase.law * s};
    case v1::PHASE_KIND_FOLLOW_CAP: {
      const double square = start_square / (1 + phase.law * start_square * s);
      return {speed_of(square), -0.5 * phase.law * square * square};
    }
    default: {
      // Coupled: v^2 = (A / kappa) sin(phi) and a = A cos(phi) with phi = phase + 2 kappa s.
      const double budget = std::hypot(phase.acceleration, start_square * kappa);
      const double phi = phase.phase_rad + 2 * kappa * s;
      return {speed_of(budget / kappa * std::sin(phi)), budget * std::cos(phi)};
    }
  }
}

// Points cluster at both ends, so that the time integral of ds / v stays smooth where the speed is
// 0; it is scaled to the duration that the plan names.
void TraceChanging(const PhaseNumbers& phase, double curvature, std::vector<TracePoint>& points) {
  const auto distance_at = [&](double u) {
    return phase.length * 0.5 * (1 - std::cos(std::numbers::pi * u));
  };
  points.resize(kIntervals + 1);
  double time = 0;
  for (int k = 0; k <= kIntervals; ++k) {
    TracePoint& point = points[static_cast<size_t>(k)];
    const double s = distance_at(static_cast<double>(k) / kIntervals);
    const Motion motion = MotionAt(phase, curvature, s);
    point.distance = phase.start_distance + s;
    point.speed = motion.speed;
    point.acceleration = motion.acceleration;
    point.time_s = time;
    for (int j = 0; j < kTimeSteps && k < kIntervals; ++j) {
      constexpr double kStep = 1.0 / (kIntervals * kTimeSteps);
      const double from = static_cast<double>(k) / kIntervals + j * kStep;
      const double ds = distance_at(from + kStep) - distance_at(from);
      const double v = MotionAt(phase, curvature, distance_at(from + 0.5 * kStep)).speed;
      if (v > 0) time += ds / v;
    }
  }
  const double total = points.back().time_s;
  for (TracePoint& point : points) {
    point.time_s = phase.start_time_s + (total > 0 ? point.time_s / total * phase.duration_s : 0);
  }
}

bool AccelerationChanges(int kind, double curvature) {
  switch (kind) {
    case v1::PHASE_KIND_COUPLED_ACCELERATE:
    case v1::PHASE_KIND_COUPLED_BRAKE:
      return curvature != 0;
    case v1::PHASE_KIND_RAMP:
    case v1::PHASE_KIND_FOLLOW_CAP:
      return true;
    default:
      return false;
  }
}

// `curvature_at` gives the curvature at a distance of the phase with this segment_index.
template <typename CurvatureAt>
std::vector<TracePhase> TracePhases(const PhaseView& view, const LimitsAt& limits,
                                    CurvatureAt curvature_at) {
  std::vector<TracePhase> phases(view.size);
  for (size_t i = 0; i < view.size; ++i) {
    TracePhase& phase = phases[i];
    phase.kind = view.kind[i];
    phase.segment = view.segment_index[i];
    const PhaseNumbers numbers = {phase.kind,
                                  view.start_distance[i],
                                  view.start_time_s[i],
                                  view.speed[i],
                                  view.acceleration[i],
                                  std::max(0.0, view.length[i]),
                                  std::max(0.0, view.duration_s[i]),
                                  view.phase_rad.empty() ? 0.0 : view.phase_rad[i],
                                  view.law.empty() ? 0.0 : view.law[i]};
    const double curvature = curvature_at(phase.segment, numbers.start_distance);
    if (AccelerationChanges(phase.kind, curvature)) {
      TraceChanging(numbers, curvature, phase.points);
    } else {
      TraceConstant(numbers, phase.points);
    }
    for (TracePoint& point : phase.points) {
      point.curvature = curvature_at(phase.segment, point.distance);
      point.lateral_acceleration = point.speed * point.speed * point.curvature;
      limits.Fill(point.curvature, point);
    }
  }
  return phases;
}

void FindLargestSpeed(RouteTrace& trace) {
  for (const TracePhase& phase : trace.phases) {
    for (const TracePoint& point : phase.points) {
      trace.largest_speed = std::max(trace.largest_speed, point.speed);
    }
  }
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
  if (absl::Status status = CheckFinite(*segments); !status.ok()) return status;
  if (absl::Status status = CheckFinite(*phases); !status.ok()) return status;
  RouteTrace trace;
  trace.segments = TraceSegments(*segments, axes);
  trace.phases = TracePhases(*phases, LimitsAt(limits), [&](uint32_t segment, double) {
    return trace.segments[segment].curvature;
  });
  FindLargestSpeed(trace);
  return trace;
}

absl::StatusOr<RouteTrace> TraceCurveSpeed(const v1::PhaseColumns& phases,
                                           const CurvatureNodes& nodes,
                                           const v1::AgentLimits& limits) {
  if (nodes.distance.size() != nodes.curvature.size()) {
    return absl::DataLossError(absl::StrCat("profile_curvature has ", nodes.curvature.size(),
                                            " elements, profile_distance has ",
                                            nodes.distance.size()));
  }
  const size_t intervals = nodes.distance.empty() ? 0 : nodes.distance.size() - 1;
  const auto view = PhaseView::Of(phases, intervals);
  if (!view.ok()) return view.status();
  const NamedColumn columns[] = {{"profile_distance", nodes.distance},
                                 {"profile_curvature", nodes.curvature}};
  if (absl::Status status = CheckFinite(columns); !status.ok()) return status;
  if (absl::Status status = CheckFinite(*view); !status.ok()) return status;
  RouteTrace trace;
  trace.phases = TracePhases(*view, LimitsAt(limits), [&](uint32_t interval, double distance) {
    const double from = nodes.distance[interval];
    const double length = nodes.distance[interval + 1] - from;
    const double share = length > 0 ? std::clamp((distance - from) / length, 0.0, 1.0) : 0.0;
    return std::lerp(nodes.curvature[interval], nodes.curvature[interval + 1], share);
  });
  FindLargestSpeed(trace);
  return trace;
}

}  // namespace arclane
