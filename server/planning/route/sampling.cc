// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/sampling.h"

#include <algorithm>
#include <cmath>

namespace arclane {
namespace {

// A gap shorter than this fraction of a step is rounding of the division, not a sample of its own:
// the quotient carries at most 2^-52 relative error and route lengths sum that of their segments.
constexpr double kGapRoundoff = 1e-9;
constexpr double kCountLimit = 9007199254740992.0;  // 2^53

double StepCount(double total, double step) {
  if (!(total > 0.0)) return 1.0;
  const double steps = total / step;
  if (!(steps < kCountLimit)) return kCountLimit;
  return std::floor(steps - kGapRoundoff) + 2.0;
}

// The first index in [0, size) whose end lies at or behind `value`, or size - 1; starts from
// `cursor` and walks on, or searches anew when `value` lies before it. `end_of` must not decrease.
template <typename EndOf>
size_t Seek(size_t cursor, size_t size, double value, EndOf end_of) {
  if (cursor > 0 && end_of(cursor - 1) >= value) {
    size_t low = 0;
    size_t high = cursor - 1;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (end_of(middle) >= value) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
  // Doubling steps keep unsorted requests logarithmic without costing sorted ones.
  size_t step = 1;
  while (cursor + 1 < size && end_of(cursor) < value) {
    if (cursor + step < size && end_of(cursor + step - 1) < value) {
      cursor += step;
      step *= 2;
    } else if (step > 1) {
      step /= 2;
    } else {
      ++cursor;
    }
  }
  return cursor;
}

class Sampler {
 public:
  Sampler(const Route& route, const RouteSampleColumns& columns)
      : route_(route), columns_(columns) {}

  void AtDistance(size_t i, double s) {
    size_t local_segment = 0;
    double local_offset = 0.0;
    if (!route_.segments.empty()) {
      segment_ = Seek(segment_, route_.segments.size(), s, [this](size_t k) {
        return route_.segments[k].start_distance + route_.segments[k].length;
      });
      local_segment = segment_;
      local_offset = s - route_.segments[segment_].start_distance;
    }
    double time = 0.0;
    double speed = 0.0;
    if (!route_.phases.empty() && (!columns_.time_s.empty() || !columns_.speed.empty())) {
      phase_ = Seek(phase_, route_.phases.size(), s, [this](size_t k) {
        return route_.phases[k].start_distance + route_.phases[k].length;
      });
      const SpeedPhase& phase = route_.phases[phase_];
      const double d = s - phase.start_distance;
      speed = SpeedAt(phase, d);
      if (!columns_.time_s.empty()) {
        time =
            s >= route_.length ? route_.duration_s : phase.start_time_s + TimeAt(phase, d, speed);
      }
    }
    Write(i, s, time, speed, local_segment, local_offset, 0.0);
  }

  void AtTime(size_t i, double t) {
    if (route_.phases.empty()) return AtDistance(i, 0.0);
    phase_ = Seek(phase_, route_.phases.size(), t, [this](size_t k) {
      return route_.phases[k].start_time_s + route_.phases[k].duration_s;
    });
    const SpeedPhase& phase = route_.phases[phase_];
    const double elapsed = t - phase.start_time_s;
    const bool at_end = t >= route_.duration_s;
    const double d = at_end ? phase.length : DistanceAtTime(phase, elapsed);
    const double s = at_end ? phase.start_distance + phase.length : phase.start_distance + d;
    if (route_.segments.empty()) return Write(i, s, t, SpeedAt(phase, d), 0, 0.0, 0.0);
    const Segment& segment = route_.segments[phase.piece];
    const bool turning = segment.kind == SegmentKind::kTurn && phase.duration_s > 0.0;
    const double turned =
        turning ? segment.turn_angle * std::min(1.0, elapsed / phase.duration_s) : 0.0;
    Write(i, s, t, SpeedAt(phase, d), phase.piece, s - segment.start_distance, turned);
  }

 private:
  void Write(size_t i, double s, double time, double speed, size_t segment_index, double offset,
             double turned) {
    if (!columns_.distance.empty()) columns_.distance[i] = s;
    if (!columns_.time_s.empty()) columns_.time_s[i] = time;
    if (!columns_.speed.empty()) columns_.speed[i] = speed;
    WritePlan(i, s, segment_index, offset, turned);
    if (!columns_.height.empty() || !columns_.surface_distance.empty() ||
        !columns_.portal_index.empty()) {
      WriteSurface(i, s);
    }
  }

  void WritePlan(size_t i, double s, size_t segment_index, double offset, double turned) {
    Vec2 point = route_.start;
    double heading = 0.0;
    double curvature = 0.0;
    if (!route_.segments.empty()) {
      const Segment& segment = route_.segments[segment_index];
      if (!columns_.x.empty() || !columns_.y.empty()) {
        point = s >= route_.length ? route_.end : PointAt(segment, offset);
      }
      if (!columns_.heading.empty()) heading = WrapAngle(HeadingAt(segment, offset) + turned);
      curvature = segment.curvature;
    }
    if (!columns_.x.empty()) columns_.x[i] = point.x + columns_.offset.x;
    if (!columns_.y.empty()) columns_.y[i] = point.y + columns_.offset.y;
    if (!columns_.heading.empty()) columns_.heading[i] = heading;
    if (!columns_.curvature.empty()) columns_.curvature[i] = curvature;
  }

  void WriteSurface(size_t i, double s) {
    const auto& knots = route_.surface;
    double height = 0.0;
    double along = s;
    if (!knots.empty()) {
      knot_ = Seek(knot_, knots.size(), s, [&knots](size_t k) { return knots[k].distance; });
      const SurfaceKnot& after = knots[knot_];
      height = after.height;
      along = after.surface_distance;
      if (knot_ > 0 && s < after.distance) {
        const SurfaceKnot& before = knots[knot_ - 1];
        const double fraction = (s - before.distance) / (after.distance - before.distance);
        height = before.height + (after.height - before.height) * fraction;
        along =
            before.surface_distance + (after.surface_distance - before.surface_distance) * fraction;
      }
    }
    if (!columns_.height.empty()) columns_.height[i] = height + columns_.height_offset;
    if (!columns_.surface_distance.empty()) columns_.surface_distance[i] = along;
    if (!columns_.portal_index.empty()) {
      columns_.portal_index[i] = static_cast<uint32_t>(knot_ > 0 ? knot_ - 1 : 0);
    }
  }

  const Route& route_;
  const RouteSampleColumns& columns_;
  size_t segment_ = 0;
  size_t phase_ = 0;
  size_t knot_ = 0;
};

}  // namespace

double CountSamples(const SamplingPlan& plan, const Route& route) {
  switch (plan.rule) {
    case SamplingRule::kNone:
      return 0.0;
    case SamplingRule::kSpacing:
      return StepCount(route.length, plan.step);
    case SamplingRule::kCount:
      return route.length > 0.0 ? static_cast<double>(plan.count) : 1.0;
    case SamplingRule::kTimeStep:
      return StepCount(route.duration_s, plan.step);
    case SamplingRule::kDistances:
      return static_cast<double>(plan.distances.size());
  }
  return 0.0;
}

void WriteSamples(const SamplingPlan& plan, const Route& route, const RouteSampleColumns& columns) {
  Sampler sampler(route, columns);
  const size_t count = static_cast<size_t>(CountSamples(plan, route));
  if (count == 0) return;
  switch (plan.rule) {
    case SamplingRule::kNone:
      return;
    case SamplingRule::kSpacing:
      for (size_t i = 0; i + 1 < count; ++i) {
        sampler.AtDistance(i, static_cast<double>(i) * plan.step);
      }
      break;
    case SamplingRule::kCount:
      for (size_t i = 0; i + 1 < count; ++i) {
        sampler.AtDistance(
            i, route.length * (static_cast<double>(i) / static_cast<double>(count - 1)));
      }
      break;
    case SamplingRule::kTimeStep:
      for (size_t i = 0; i + 1 < count; ++i) {
        sampler.AtTime(i, static_cast<double>(i) * plan.step);
      }
      sampler.AtTime(count - 1, count == 1 ? 0.0 : route.duration_s);
      return;
    case SamplingRule::kDistances:
      for (size_t i = 0; i < count; ++i) {
        sampler.AtDistance(i, std::clamp(plan.distances[i], 0.0, route.length));
      }
      return;
  }
  // The single sample of kCount 1, or of a route without length, is the start.
  sampler.AtDistance(count - 1, count == 1 ? 0.0 : route.length);
}

}  // namespace arclane
