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
  return std::max(2.0, std::floor(steps - kGapRoundoff) + 2.0);
}

constexpr size_t kSingleSteps = 4;

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
  // A few single steps for what lies near, then doubling ones: they keep unsorted requests
  // logarithmic without costing sorted ones.
  for (size_t i = 0; i < kSingleSteps; ++i, ++cursor) {
    if (cursor + 1 >= size || end_of(cursor) >= value) return cursor;
  }
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

// Samples are drawn in blocks of so many, column by column: the loops are short, and what they read
// and write stays in the first-level cache.
constexpr size_t kBlock = 64;

class Sampler {
 public:
  Sampler(const Route& route, const RouteSampleColumns& columns)
      : route_(route),
        columns_(columns),
        wants_motion_(!columns.time_s.empty() || !columns.speed.empty()),
        wants_plan_(!columns.x.empty() || !columns.y.empty() || !columns.heading.empty() ||
                    !columns.curvature.empty()),
        wants_surface_(!columns.height.empty() || !columns.surface_distance.empty() ||
                       !columns.portal_index.empty()) {}

  // Samples i = 0 .. count - 1 at distance_of(i).
  template <typename DistanceOf>
  void AtDistances(size_t count, DistanceOf distance_of) {
    for (size_t first = 0; first < count; first += size_) {
      first_ = first;
      size_ = std::min(kBlock, count - first);
      for (size_t i = 0; i < size_; ++i) distance_[i] = distance_of(first + i);
      if (wants_motion_) FindMotion();
      if (wants_plan_) FindSegments();
      WriteBlock();
    }
  }

  // Samples i = 0 .. count - 1 at time_of(i).
  template <typename TimeOf>
  void AtTimes(size_t count, TimeOf time_of) {
    for (size_t first = 0; first < count; first += size_) {
      first_ = first;
      size_ = std::min(kBlock, count - first);
      for (size_t i = 0; i < size_; ++i) FindAtTime(i, time_of(first + i));
      WriteBlock();
    }
  }

 private:
  void FindMotion() {
    const auto& phases = route_.phases;
    if (phases.empty()) {
      std::fill_n(time_, size_, 0.0);
      std::fill_n(speed_, size_, 0.0);
      return;
    }
    size_t at = phase_;
    for (size_t i = 0; i < size_; ++i) {
      at = Seek(at, phases.size(), distance_[i],
                [&phases](size_t k) { return phases[k].start_distance + phases[k].length; });
      index_[i] = static_cast<uint32_t>(at);
    }
    phase_ = at;
    for (size_t i = 0; i < size_; ++i) {
      const SpeedPhase& phase = phases[index_[i]];
      const double d = distance_[i] - phase.start_distance;
      speed_[i] = SpeedAt(phase, d);
      time_[i] = phase.start_time_s + TimeAt(phase, d, speed_[i]);
      if (distance_[i] >= route_.length) time_[i] = route_.duration_s;
    }
  }

  void FindSegments() {
    const auto& segments = route_.segments;
    std::fill_n(turned_, size_, 0.0);
    if (segments.empty()) return;
    size_t at = segment_;
    for (size_t i = 0; i < size_; ++i) {
      at = Seek(at, segments.size(), distance_[i],
                [&segments](size_t k) { return segments[k].start_distance + segments[k].length; });
      index_[i] = static_cast<uint32_t>(at);
    }
    segment_ = at;
  }

  void FindAtTime(size_t i, double t) {
    distance_[i] = time_[i] = speed_[i] = turned_[i] = 0.0;
    index_[i] = 0;
    if (route_.phases.empty()) return;
    time_[i] = t;
    phase_ = Seek(phase_, route_.phases.size(), t, [this](size_t k) {
      return route_.phases[k].start_time_s + route_.phases[k].duration_s;
    });
    const SpeedPhase& phase = route_.phases[phase_];
    const double elapsed = t - phase.start_time_s;
    const bool is_end = t >= route_.duration_s;
    const double d = is_end ? phase.length : DistanceAtTime(phase, elapsed);
    distance_[i] = is_end ? route_.length : std::min(phase.start_distance + d, route_.length);
    speed_[i] = SpeedAt(phase, d);
    if (route_.segments.empty()) return;
    index_[i] = phase.piece;
    const Segment& segment = route_.segments[phase.piece];
    if (segment.kind == SegmentKind::kTurn && phase.duration_s > 0.0) {
      turned_[i] = segment.turn_angle * std::min(1.0, elapsed / phase.duration_s);
    }
  }

  void WriteBlock() {
    Copy(distance_, columns_.distance);
    Copy(time_, columns_.time_s);
    Copy(speed_, columns_.speed);
    if (wants_plan_) WritePlan();
    if (wants_surface_) WriteSurface();
  }

  void Copy(const double* values, std::span<double> column) const {
    if (!column.empty()) std::copy_n(values, size_, column.begin() + std::ptrdiff_t(first_));
  }

  void WritePlan() {
    if (route_.segments.empty()) {
      for (size_t i = first_; i < first_ + size_; ++i) {
        if (!columns_.x.empty()) columns_.x[i] = route_.start.x + columns_.offset.x;
        if (!columns_.y.empty()) columns_.y[i] = route_.start.y + columns_.offset.y;
        if (!columns_.heading.empty()) columns_.heading[i] = 0.0;
        if (!columns_.curvature.empty()) columns_.curvature[i] = 0.0;
      }
      return;
    }
    const bool wants_position = !columns_.x.empty() || !columns_.y.empty();
    for (size_t i = 0; i < size_; ++i) {
      const Segment& segment = route_.segments[index_[i]];
      const double offset = distance_[i] - segment.start_distance;
      if (wants_position) {
        // The ends are exact, which those of the segments are up to rounding.
        const Vec2 point = distance_[i] >= route_.length ? route_.end
                           : distance_[i] > 0.0          ? PointAt(segment, offset)
                                                         : route_.start;
        if (!columns_.x.empty()) columns_.x[first_ + i] = point.x + columns_.offset.x;
        if (!columns_.y.empty()) columns_.y[first_ + i] = point.y + columns_.offset.y;
      }
      if (!columns_.heading.empty()) {
        columns_.heading[first_ + i] = WrapAngle(HeadingAt(segment, offset) + turned_[i]);
      }
      if (!columns_.curvature.empty()) columns_.curvature[first_ + i] = segment.curvature;
    }
  }

  void WriteSurface() {
    const auto& knots = route_.surface;
    size_t at = knot_;
    for (size_t i = 0; i < size_; ++i) {
      const double s = distance_[i];
      double height = 0.0;
      double along = s;
      if (!knots.empty()) {
        at = Seek(at, knots.size(), s, [&knots](size_t k) { return knots[k].distance; });
        const SurfaceKnot& after = knots[at];
        height = after.height;
        along = after.surface_distance;
        if (at > 0 && s < after.distance) {
          const SurfaceKnot& before = knots[at - 1];
          const double fraction = (s - before.distance) / (after.distance - before.distance);
          height = before.height + (after.height - before.height) * fraction;
          along = before.surface_distance +
                  (after.surface_distance - before.surface_distance) * fraction;
        }
      }
      const size_t row = first_ + i;
      if (!columns_.height.empty()) columns_.height[row] = height + columns_.height_offset;
      if (!columns_.surface_distance.empty()) columns_.surface_distance[row] = along;
      if (!columns_.portal_index.empty()) {
        columns_.portal_index[row] = knots.empty() ? 0 : knots[at].portal;
      }
    }
    knot_ = at;
  }

  const Route& route_;
  const RouteSampleColumns& columns_;
  const bool wants_motion_;
  const bool wants_plan_;
  const bool wants_surface_;
  // Where the last sample was found: the next ones are searched from there.
  size_t segment_ = 0;
  size_t phase_ = 0;
  size_t knot_ = 0;
  // The block of samples at hand.
  size_t first_ = 0;
  size_t size_ = 0;
  double distance_[kBlock];
  double time_[kBlock];
  double speed_[kBlock];
  double turned_[kBlock];   // By how much a turn in place has turned.
  uint32_t index_[kBlock];  // Of the phase, then of the segment.
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
  // The single sample of kCount 1, or of a route without length, is the start.
  const auto last = [count](size_t i) { return i > 0 && i + 1 == count; };
  switch (plan.rule) {
    case SamplingRule::kNone:
      return;
    case SamplingRule::kSpacing:
      return sampler.AtDistances(count, [&](size_t i) {
        return last(i) ? route.length : static_cast<double>(i) * plan.step;
      });
    case SamplingRule::kCount: {
      const double gaps = static_cast<double>(std::max<size_t>(count, 2) - 1);
      return sampler.AtDistances(count, [&](size_t i) {
        return last(i) ? route.length : route.length * (static_cast<double>(i) / gaps);
      });
    }
    case SamplingRule::kTimeStep:
      return sampler.AtTimes(count, [&](size_t i) {
        return last(i) ? route.duration_s : static_cast<double>(i) * plan.step;
      });
    case SamplingRule::kDistances:
      return sampler.AtDistances(
          count, [&](size_t i) { return std::clamp(plan.distances[i], 0.0, route.length); });
  }
}

}  // namespace arclane
