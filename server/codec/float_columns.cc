// SPDX-License-Identifier: Apache-2.0
#include "server/codec/float_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/codec/columns.h"
#include "server/codec/field_checks.h"

namespace arclane {
namespace {

using Doubles = google::protobuf::RepeatedField<double>;
using Floats = google::protobuf::RepeatedField<float>;

// Moves columns from one precision to the other, and remembers the largest number.
class Narrowing {
 public:
  // Values less `origin`.
  void Column(Doubles* from, Floats* to, double origin = 0.0) {
    float* out = NewColumn(to, static_cast<size_t>(from->size())).data();
    for (const double value : *from) {
      const double offset = value - origin;
      // Larger than any float, and yet a number: it would become infinite.
      if (std::abs(offset) > kLargest && std::isfinite(value)) largest_ = offset;
      *out++ = static_cast<float>(offset);
    }
    from->Clear();
  }

  void Points(v1::PointColumns* from, v1::FloatPointColumns* to) {
    v1::Point& origin = *to->mutable_origin();
    origin.set_x(MiddleOf(from->x()));
    origin.set_y(MiddleOf(from->y()));
    origin.set_z(MiddleOf(from->z()));
    Column(from->mutable_x(), to->mutable_x(), origin.x());
    Column(from->mutable_y(), to->mutable_y(), origin.y());
    Column(from->mutable_z(), to->mutable_z(), origin.z());
  }

  void Vectors(v1::PointColumns* from, v1::FloatPointColumns* to) {
    Column(from->mutable_x(), to->mutable_x());
    Column(from->mutable_y(), to->mutable_y());
    Column(from->mutable_z(), to->mutable_z());
  }

  void Report(Violations& violations) const {
    if (largest_ == 0.0) return;
    violations.Add(ViolationReason::kOutOfRange, "sampling.column_precision",
                   "the answer has numbers as large as " + NumberText(largest_) +
                       ", which no float can hold: ask for doubles");
  }

 private:
  static constexpr double kLargest = std::numeric_limits<float>::max();

  static double MiddleOf(const Doubles& values) {
    if (values.empty()) return 0.0;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    // Of one value: itself. Halved first, so that it cannot overflow.
    return *low == *high ? *low : 0.5 * *low + 0.5 * *high;
  }

  double largest_ = 0.0;
};

void Widen(const Floats& from, Doubles* to, double origin = 0.0) {
  if (from.empty()) return;
  double* out = NewColumn(to, static_cast<size_t>(from.size())).data();
  for (const float value : from) *out++ = origin + static_cast<double>(value);
}

void Widen(const v1::FloatPointColumns& from, v1::PointColumns* to) {
  Widen(from.x(), to->mutable_x(), from.origin().x());
  Widen(from.y(), to->mutable_y(), from.origin().y());
  Widen(from.z(), to->mutable_z(), from.origin().z());
}

void NarrowSamples(v1::SampleColumns& samples, Narrowing& narrowing) {
  v1::FloatSampleColumns& floats = *samples.mutable_floats();
  narrowing.Column(samples.mutable_distance(), floats.mutable_distance());
  narrowing.Column(samples.mutable_surface_distance(), floats.mutable_surface_distance());
  narrowing.Column(samples.mutable_time_s(), floats.mutable_time_s());
  if (samples.has_position()) {
    narrowing.Points(samples.mutable_position(), floats.mutable_position());
    samples.clear_position();
  }
  narrowing.Column(samples.mutable_heading_rad(), floats.mutable_heading_rad());
  narrowing.Column(samples.mutable_speed(), floats.mutable_speed());
  narrowing.Column(samples.mutable_curvature(), floats.mutable_curvature());
}

void WidenSamples(v1::SampleColumns& samples) {
  const v1::FloatSampleColumns& floats = samples.floats();
  Widen(floats.distance(), samples.mutable_distance());
  Widen(floats.surface_distance(), samples.mutable_surface_distance());
  Widen(floats.time_s(), samples.mutable_time_s());
  if (floats.has_position()) Widen(floats.position(), samples.mutable_position());
  Widen(floats.heading_rad(), samples.mutable_heading_rad());
  Widen(floats.speed(), samples.mutable_speed());
  Widen(floats.curvature(), samples.mutable_curvature());
  samples.clear_floats();
}

void NarrowCorners(v1::CornerColumns& corners, Narrowing& narrowing) {
  v1::FloatCornerColumns& floats = *corners.mutable_floats();
  narrowing.Points(corners.mutable_position(), floats.mutable_position());
  corners.clear_position();
  narrowing.Column(corners.mutable_turn_angle_rad(), floats.mutable_turn_angle_rad());
  narrowing.Column(corners.mutable_radius(), floats.mutable_radius());
  narrowing.Column(corners.mutable_distance(), floats.mutable_distance());
}

void WidenCorners(v1::CornerColumns& corners) {
  const v1::FloatCornerColumns& floats = corners.floats();
  if (floats.has_position()) Widen(floats.position(), corners.mutable_position());
  Widen(floats.turn_angle_rad(), corners.mutable_turn_angle_rad());
  Widen(floats.radius(), corners.mutable_radius());
  Widen(floats.distance(), corners.mutable_distance());
  corners.clear_floats();
}

// Whether any column that floats replace is there.
bool HasNumbers(const v1::SampleColumns& samples) {
  return samples.has_position() || !samples.distance().empty() ||
         !samples.surface_distance().empty() || !samples.time_s().empty() ||
         !samples.heading_rad().empty() || !samples.speed().empty() || !samples.curvature().empty();
}

}  // namespace

void NarrowColumns(v1::Route* route, Violations& violations) {
  Narrowing narrowing;
  if (HasNumbers(route->samples())) NarrowSamples(*route->mutable_samples(), narrowing);
  if (!route->corners().kind().empty()) NarrowCorners(*route->mutable_corners(), narrowing);
  narrowing.Report(violations);
}

void NarrowColumns(v1::CurvePlan* plan, Violations& violations) {
  if (!plan->has_samples()) return;
  Narrowing narrowing;
  v1::CurveSampleColumns& samples = *plan->mutable_samples();
  v1::FloatCurveSampleColumns& floats = *samples.mutable_floats();
  narrowing.Column(samples.mutable_distance(), floats.mutable_distance());
  narrowing.Column(samples.mutable_time_s(), floats.mutable_time_s());
  if (samples.has_position()) {
    narrowing.Points(samples.mutable_position(), floats.mutable_position());
    samples.clear_position();
  }
  if (samples.has_tangent()) {
    narrowing.Vectors(samples.mutable_tangent(), floats.mutable_tangent());
    samples.clear_tangent();
  }
  narrowing.Column(samples.mutable_heading_rad(), floats.mutable_heading_rad());
  narrowing.Column(samples.mutable_curvature(), floats.mutable_curvature());
  narrowing.Column(samples.mutable_speed(), floats.mutable_speed());
  narrowing.Column(samples.mutable_parameter(), floats.mutable_parameter());
  if (floats.ByteSizeLong() == 0) samples.clear_floats();
  narrowing.Report(violations);
}

void WidenColumns(v1::Route* route) {
  if (route->samples().has_floats()) WidenSamples(*route->mutable_samples());
  if (route->corners().has_floats()) WidenCorners(*route->mutable_corners());
}

void WidenColumns(v1::CurvePlan* plan) {
  if (!plan->samples().has_floats()) return;
  v1::CurveSampleColumns& samples = *plan->mutable_samples();
  const v1::FloatCurveSampleColumns& floats = samples.floats();
  Widen(floats.distance(), samples.mutable_distance());
  Widen(floats.time_s(), samples.mutable_time_s());
  if (floats.has_position()) Widen(floats.position(), samples.mutable_position());
  if (floats.has_tangent()) Widen(floats.tangent(), samples.mutable_tangent());
  Widen(floats.heading_rad(), samples.mutable_heading_rad());
  Widen(floats.curvature(), samples.mutable_curvature());
  Widen(floats.speed(), samples.mutable_speed());
  Widen(floats.parameter(), samples.mutable_parameter());
  samples.clear_floats();
}

void WidenColumns(v1::PlanItemAnswer* answer) {
  switch (answer->response_case()) {
    case v1::PlanItemAnswer::kCorridor:
      return WidenColumns(answer->mutable_corridor());
    case v1::PlanItemAnswer::kWaypoints:
      return WidenColumns(answer->mutable_waypoints());
    case v1::PlanItemAnswer::kSpline:
      return WidenColumns(answer->mutable_spline());
    case v1::PlanItemAnswer::kSpeed:
    case v1::PlanItemAnswer::RESPONSE_NOT_SET:
      return;
  }
}

}  // namespace arclane
