// SPDX-License-Identifier: Apache-2.0
#include "server/codec/sampling_codec.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "server/codec/columns.h"
#include "server/codec/field_checks.h"

namespace arclane {
namespace {

// Distances beyond the length by no more than this fraction of it are rounding: a sum of segment
// lengths in another order, as a caller computes it from an earlier answer.
constexpr double kBeyondLength = 1e-12;

constexpr uint32_t Bit(v1::SampleColumn column) { return 1u << column; }
constexpr uint32_t kSharedColumns = Bit(v1::SAMPLE_COLUMN_DISTANCE) | Bit(v1::SAMPLE_COLUMN_TIME) |
                                    Bit(v1::SAMPLE_COLUMN_POSITION) |
                                    Bit(v1::SAMPLE_COLUMN_HEADING) | Bit(v1::SAMPLE_COLUMN_SPEED) |
                                    Bit(v1::SAMPLE_COLUMN_CURVATURE);
constexpr uint32_t kRouteColumns =
    kSharedColumns | Bit(v1::SAMPLE_COLUMN_SURFACE_DISTANCE) | Bit(v1::SAMPLE_COLUMN_PORTAL_INDEX);
constexpr uint32_t kCurveColumns =
    kSharedColumns | Bit(v1::SAMPLE_COLUMN_TANGENT) | Bit(v1::SAMPLE_COLUMN_PARAMETER);
static_assert(v1::SampleColumn_MAX == v1::SAMPLE_COLUMN_PARAMETER,
              "every column belongs to a mask");

}  // namespace

void CheckDistances(std::span<const double> distances, double length, double length_error,
                    Violations& violations) {
  const double slack = std::max(kBeyondLength * length, length_error);
  for (size_t i = 0; i < distances.size(); ++i) {
    if (distances[i] >= -slack && distances[i] <= length + slack) continue;
    violations.Add(ViolationReason::kOutOfRange,
                   "sampling.distances.distance[" + std::to_string(i) + "]",
                   "must be in [0, " + NumberText(length) + "], the length of the route, got " +
                       NumberText(distances[i]));
  }
}

DecodedSampling ReadSampling(const v1::Sampling& sampling, SampledThing thing,
                             const RequestLimits& limits, Violations& violations) {
  const uint32_t known = thing == SampledThing::kRoute ? kRouteColumns : kCurveColumns;
  DecodedSampling decoded;
  switch (sampling.rule_case()) {
    case v1::Sampling::kSpacing:
      decoded.plan.rule = SamplingRule::kSpacing;
      decoded.plan.step = sampling.spacing();
      CheckNumber("sampling.spacing", sampling.spacing(), kPositive, violations);
      break;
    case v1::Sampling::kCount:
      decoded.plan.rule = SamplingRule::kCount;
      decoded.plan.count = sampling.count();
      if (sampling.count() == 0) {
        violations.Add(ViolationReason::kOutOfRange, "sampling.count", "must be >= 1, got 0");
      }
      break;
    case v1::Sampling::kTimeStepS:
      decoded.plan.rule = SamplingRule::kTimeStep;
      decoded.plan.step = sampling.time_step_s();
      CheckNumber("sampling.time_step_s", sampling.time_step_s(), kPositive, violations);
      break;
    case v1::Sampling::kDistances:
      decoded.plan.rule = SamplingRule::kDistances;
      decoded.plan.distances = {sampling.distances().distance().data(),
                                static_cast<size_t>(sampling.distances().distance_size())};
      for (size_t i = 0; i < decoded.plan.distances.size(); ++i) {
        if (std::isfinite(decoded.plan.distances[i])) continue;
        CheckNumber("sampling.distances.distance[" + std::to_string(i) + "]",
                    decoded.plan.distances[i], kFinite, violations);
      }
      break;
    case v1::Sampling::RULE_NOT_SET:
      break;
  }
  for (int i = 0; i < sampling.columns_size(); ++i) {
    const int column = sampling.columns(i);
    if (column == v1::SAMPLE_COLUMN_UNSPECIFIED || !v1::SampleColumn_IsValid(column)) {
      violations.Add(ViolationReason::kUnknownValue, "sampling.columns[" + std::to_string(i) + "]",
                     "unknown value " + std::to_string(column));
      continue;
    }
    if (!(known & Bit(static_cast<v1::SampleColumn>(column)))) {
      violations.Add(ViolationReason::kUnknownValue, "sampling.columns[" + std::to_string(i) + "]",
                     v1::SampleColumn_Name(column) +
                         (thing == SampledThing::kRoute ? " is a column of curves, not of routes"
                                                        : " is a column of routes, not of curves"));
      continue;
    }
    decoded.columns |= Bit(static_cast<v1::SampleColumn>(column));
  }
  if (sampling.columns().empty()) decoded.columns = known;
  switch (sampling.column_precision()) {
    case v1::COLUMN_PRECISION_UNSPECIFIED:
    case v1::COLUMN_PRECISION_DOUBLE:
      break;
    case v1::COLUMN_PRECISION_FLOAT:
      decoded.floats = true;
      break;
    default:
      violations.Add(ViolationReason::kUnknownValue, "sampling.column_precision",
                     "unknown value " + std::to_string(sampling.column_precision()));
  }
  decoded.max_count = limits.max_samples;
  if (sampling.max_count() != 0)
    decoded.max_count = std::min(limits.max_samples, sampling.max_count());
  return decoded;
}

void EncodeSamples(const DecodedSampling& sampling, const Route& route, const PlanFrame& frame,
                   v1::SampleColumns* columns, Violations& violations) {
  const double count = CountSamples(sampling.plan, route);
  if (count == 0.0) return;
  if (count > sampling.max_count) {
    violations.Add(
        ViolationReason::kLimitExceeded, "sampling",
        "at most " + NumberText(sampling.max_count) + " samples, would be " + NumberText(count));
    return;
  }
  if (sampling.plan.rule == SamplingRule::kDistances) {
    CheckDistances(sampling.plan.distances, route.length, /*length_error=*/0.0, violations);
    if (!violations.empty()) return;
  }
  const size_t size = static_cast<size_t>(count);
  const auto column = [&](v1::SampleColumn wanted,
                          google::protobuf::RepeatedField<double>* field) -> std::span<double> {
    if (!(sampling.columns & Bit(wanted))) return {};
    return NewColumn(field, size);
  };
  RouteSampleColumns out;
  out.distance = column(v1::SAMPLE_COLUMN_DISTANCE, columns->mutable_distance());
  out.surface_distance =
      column(v1::SAMPLE_COLUMN_SURFACE_DISTANCE, columns->mutable_surface_distance());
  out.time_s = column(v1::SAMPLE_COLUMN_TIME, columns->mutable_time_s());
  out.heading = column(v1::SAMPLE_COLUMN_HEADING, columns->mutable_heading_rad());
  out.speed = column(v1::SAMPLE_COLUMN_SPEED, columns->mutable_speed());
  out.curvature = column(v1::SAMPLE_COLUMN_CURVATURE, columns->mutable_curvature());
  if (sampling.columns & Bit(v1::SAMPLE_COLUMN_POSITION)) {
    const WritablePoints points = ResizeColumns(columns->mutable_position(), size, frame.up_axis);
    out.x = points.a;
    out.y = points.b;
    out.height = points.height;
  }
  if (sampling.columns & Bit(v1::SAMPLE_COLUMN_PORTAL_INDEX)) {
    out.portal_index = NewColumn(columns->mutable_portal_index(), size);
  }
  out.offset = frame.origin.plan;
  out.height_offset = frame.origin.height;
  WriteSamples(sampling.plan, route, out);
}

}  // namespace arclane
