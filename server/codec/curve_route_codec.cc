// SPDX-License-Identifier: Apache-2.0
#include "server/codec/curve_route_codec.h"

#include <cmath>
#include <string>

#include "server/codec/field_checks.h"
#include "server/codec/float_columns.h"
#include "server/codec/frame_codec.h"

namespace arclane {
namespace {

// A stop and its sample, or the curve's end and the last sample, are the same place when their
// distances differ by no more than this fraction of the length: both are sums of the same lengths.
constexpr double kSameDistance = 1e-9;

class CurveRoute {
 public:
  CurveRoute(const v1::CurvePlan& plan, const PlanFrame& frame, Violations& violations,
             v1::Route* route)
      : plan_(plan),
        samples_(plan.samples()),
        size_(samples_.distance_size()),
        points_(BorrowColumns(samples_.position(), frame.up_axis)),
        violations_(violations),
        route_(*route) {}

  bool Write() {
    if (!CheckSamples()) return false;
    route_.set_outcome(v1::OUTCOME_COMPLETE);
    int stop = 0;
    double along = 0.0, time = 0.0;
    for (int i = 0; i + 1 < size_; ++i) {
      if (stop < plan_.stops().distance_size() &&
          IsSame(plan_.stops().distance(stop), samples_.distance(i))) {
        if (i > 0) AddTurn(i, along, plan_.stops().turn_angle_rad(stop));
        ++stop;
      }
      const Vec2 way = points_.point(i + 1) - points_.point(i);
      const double length = Norm(way);
      if (!(length > 0.0)) continue;
      AddLine(i, along, Heading(way), length);
      time += AddPhase(i, along, time, length);
      along += length;
    }
    while (stop < plan_.stops().distance_size() &&
           IsSame(plan_.stops().distance(stop), samples_.distance(size_ - 1))) {
      ++stop;
    }
    if (stop < plan_.stops().distance_size()) {
      return Fail(ViolationReason::kConflict, "curve.samples.distance",
                  "must have the distance of every stop; there is none at " +
                      NumberText(plan_.stops().distance(stop)));
    }
    route_.set_length(along);
    route_.set_duration_s(time);
    return true;
  }

 private:
  bool Fail(ViolationReason reason, const std::string& field, const std::string& text) {
    violations_.Add(reason, field, text);
    return false;
  }

  bool IsSame(double a, double b) const {
    return std::abs(a - b) <= kSameDistance * plan_.length();
  }

  bool HasSize(const char* field, size_t size) {
    if (size == static_cast<size_t>(size_)) return true;
    return Fail(ViolationReason::kRequired, field,
                "must have " + std::to_string(size_) +
                    " entries as curve.samples.distance has, got " + std::to_string(size));
  }

  bool CheckSamples() {
    if (size_ < 2) {
      return Fail(ViolationReason::kRequired, "curve.samples.distance",
                  "two samples or more are required, got " + std::to_string(size_));
    }
    bool is_right = HasSize("curve.samples.position", points_.a.size());
    is_right &= HasSize("curve.samples.position", points_.b.size());
    is_right &= HasSize("curve.samples.speed", static_cast<size_t>(samples_.speed_size()));
    if (plan_.stops().turn_angle_rad_size() != plan_.stops().distance_size()) {
      is_right = Fail(ViolationReason::kLengthMismatch, "curve.stops.turn_angle_rad",
                      "must have as many entries as curve.stops.distance");
    }
    if (!is_right) return false;
    for (int i = 0; i < size_; ++i) {
      const std::string at = "[" + std::to_string(i) + "]";
      const auto row = static_cast<size_t>(i);
      if (!std::isfinite(points_.a[row]) || !std::isfinite(points_.b[row]))
        return Fail(ViolationReason::kNotFinite, "curve.samples.position" + at, "must be finite");
      if (!(samples_.speed(i) >= 0.0) || !std::isfinite(samples_.speed(i)))
        return Fail(ViolationReason::kOutOfRange, "curve.samples.speed" + at, "must be >= 0");
      const double before = i == 0 ? 0.0 : samples_.distance(i - 1);
      if (!(samples_.distance(i) >= before))
        return Fail(ViolationReason::kOutOfRange, "curve.samples.distance" + at,
                    "must not decrease");
    }
    if (!IsSame(samples_.distance(0), 0.0) || !IsSame(samples_.distance(size_ - 1), plan_.length()))
      return Fail(ViolationReason::kOutOfRange, "curve.samples.distance",
                  "must go from the curve's start to its end");
    return true;
  }

  void AddStart(int sample) {
    v1::PointColumns& start = *route_.mutable_segments()->mutable_start();
    const v1::PointColumns& position = samples_.position();
    const auto add = [sample](const auto& from, auto* to) {
      if (!from.empty()) to->Add(from.Get(sample));
    };
    add(position.x(), start.mutable_x());
    add(position.y(), start.mutable_y());
    add(position.z(), start.mutable_z());
  }

  void AddSegment(v1::SegmentKind kind, int sample, double along, double heading, double length,
                  double turn) {
    v1::SegmentColumns& segments = *route_.mutable_segments();
    segments.add_kind(kind);
    segments.add_start_distance(along);
    AddStart(sample);
    segments.add_heading_rad(heading);
    segments.add_curvature(0.0);
    segments.add_length(length);
    segments.add_turn_angle_rad(turn);
    heading_ = heading;
  }

  void AddLine(int sample, double along, double heading, double length) {
    AddSegment(v1::SEGMENT_KIND_LINE, sample, along, heading, length, 0.0);
  }

  void AddTurn(int sample, double along, double turn) {
    AddSegment(v1::SEGMENT_KIND_TURN, sample, along, heading_, 0.0, turn);
  }

  // Returns its duration.
  double AddPhase(int sample, double along, double time, double length) {
    const double from = samples_.speed(sample), to = samples_.speed(sample + 1);
    const double sum = from + to;
    const double duration = sum > 0.0 ? 2.0 * length / sum : 0.0;
    v1::PhaseColumns& phases = *route_.mutable_phases();
    phases.add_kind(to > from   ? v1::PHASE_KIND_ACCELERATE
                    : to < from ? v1::PHASE_KIND_BRAKE
                                : v1::PHASE_KIND_CRUISE);
    phases.add_segment_index(static_cast<uint32_t>(route_.segments().kind_size() - 1));
    phases.add_start_distance(along);
    phases.add_start_time_s(time);
    phases.add_speed(from);
    phases.add_acceleration((to - from) * sum / (2.0 * length));
    phases.add_length(length);
    phases.add_duration_s(duration);
    return duration;
  }

  const v1::CurvePlan& plan_;
  const v1::CurveSampleColumns& samples_;
  const int size_;
  const PointColumns points_;
  Violations& violations_;
  v1::Route& route_;
  double heading_ = 0.0;
};

}  // namespace

bool RouteOfCurve(const v1::CurvePlan& plan, const v1::Frame& frame, Violations& violations,
                  v1::Route* route) {
  if (plan.samples().has_floats()) {
    v1::CurvePlan widened = plan;
    WidenColumns(&widened);
    return RouteOfCurve(widened, frame, violations, route);
  }
  const size_t before = violations.total();
  const PlanFrame read = ReadFrame(frame, violations);
  return violations.total() == before && CurveRoute(plan, read, violations, route).Write();
}

}  // namespace arclane
