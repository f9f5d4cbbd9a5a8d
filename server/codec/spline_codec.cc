// SPDX-License-Identifier: Apache-2.0
#include "server/codec/spline_codec.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "server/codec/agent_codec.h"
#include "server/codec/columns.h"
#include "server/codec/field_checks.h"
#include "server/codec/speed_codec.h"
#include "server/planning/route/sampling.h"
#include "server/planning/spline/sample.h"

namespace arclane {
namespace {

CoordinateColumns ReadColumns(const v1::PointColumns& columns, UpAxis up_axis, bool planar) {
  if (!planar) return {Borrow(columns.x()), Borrow(columns.y()), Borrow(columns.z())};
  const PointColumns split = BorrowColumns(columns, up_axis);
  return {split.a, split.b, {}};
}

// The curve's own checks name planar columns x and y, and the fields of its kind as if they were
// the curve's own. In the message the axes may have other names, and each kind has a message.
std::string CallerPath(std::string path, UpAxis up_axis, bool planar) {
  const AxisNames names = AxisNamesOf(up_axis);
  for (const std::string_view columns : {"spline.control.", "spline.tangents."}) {
    if (!planar || !path.starts_with(columns) || path.size() <= columns.size()) continue;
    char& axis = path[columns.size()];
    axis = axis == 'x' ? names.a : axis == 'y' ? names.b : axis;
  }
  constexpr std::string_view kCurve = "spline.";
  constexpr std::pair<std::string_view, std::string_view> kKindOfField[] = {
      {"spline.tangents", "hermite."}, {"spline.alpha", "catmull_rom."},
      {"spline.degree", "b_spline."},  {"spline.knots", "b_spline."},
      {"spline.weights", "b_spline."},
  };
  for (const auto& [field, kind] : kKindOfField) {
    if (path.starts_with(field)) return path.insert(kCurve.size(), kind);
  }
  return path;
}

// A planar curve takes no heights: tangents that have them were meant for a curve in space.
void CheckPlanarTangents(const v1::PointColumns& tangents, UpAxis up_axis, Violations& violations) {
  const PointColumns split = BorrowColumns(tangents, up_axis);
  if (split.height.empty()) return;
  const char up = up_axis == UpAxis::kY ? 'y' : 'z';
  violations.Add(ViolationReason::kLengthMismatch, std::string("spline.hermite.tangents.") + up,
                 std::string("must be empty as spline.control.") + up + " is, got " +
                     std::to_string(split.height.size()) + " values");
}

void ReadCurve(const v1::Spline& spline, const RequestLimits& limits, DecodedSplineRequest& decoded,
               Violations& violations) {
  CurveInput& curve = decoded.curve;
  const PointColumns split = BorrowColumns(spline.control(), decoded.up_axis);
  decoded.planar = split.height.empty();
  curve.closed = spline.closed();
  curve.control = ReadColumns(spline.control(), decoded.up_axis, decoded.planar);
  switch (spline.kind_case()) {
    case v1::Spline::kBezier:
      curve.kind = CurveKind::kBezier;
      break;
    case v1::Spline::kHermite:
      curve.kind = CurveKind::kHermite;
      curve.tangents = ReadColumns(spline.hermite().tangents(), decoded.up_axis, decoded.planar);
      if (decoded.planar) {
        CheckPlanarTangents(spline.hermite().tangents(), decoded.up_axis, violations);
      }
      break;
    case v1::Spline::kCatmullRom:
      curve.kind = CurveKind::kCatmullRom;
      if (spline.catmull_rom().has_alpha()) curve.alpha = spline.catmull_rom().alpha();
      break;
    case v1::Spline::kBSpline: {
      const v1::BSpline& b_spline = spline.b_spline();
      curve.kind = b_spline.weights().empty() ? CurveKind::kBSpline : CurveKind::kNurbs;
      curve.degree =
          b_spline.degree() == 0 ? 3 : static_cast<int>(std::min(b_spline.degree(), 1000u));
      curve.knots = Borrow(b_spline.knots());
      curve.weights = Borrow(b_spline.weights());
      break;
    }
    case v1::Spline::KIND_NOT_SET:
      violations.Add(ViolationReason::kRequired, "spline",
                     "required: bezier, hermite, catmull_rom or b_spline");
      return;
  }
  decoded.curve_limits.max_control_points = limits.max_control_points;
  const size_t points =
      std::max({curve.control.x.size(), curve.control.y.size(), curve.control.z.size()});
  if (points > limits.max_control_points) {
    violations.Add(ViolationReason::kLimitExceeded, "spline.control",
                   "at most max_control_points " + std::to_string(limits.max_control_points) +
                       ", got " + std::to_string(points));
    return;
  }
  for (const CurveViolation& violation : ValidateCurve(curve, decoded.curve_limits, "spline")) {
    violations.Add(ViolationReason::kOutOfRange,
                   CallerPath(violation.field, decoded.up_axis, decoded.planar),
                   violation.description);
  }
}

void ReadWish(const v1::SpeedWish& wish, WishedSpeed& decoded, Violations& violations) {
  decoded.speed = Borrow(wish.speed());
  const char* field = "speed_wish.distance.distance";
  switch (wish.over_case()) {
    case v1::SpeedWish::kDistance:
      decoded.over = WishOver::kDistance;
      decoded.at = Borrow(wish.distance().distance());
      break;
    case v1::SpeedWish::kTime:
      decoded.over = WishOver::kTime;
      decoded.at = Borrow(wish.time().time_s());
      field = "speed_wish.time.time_s";
      if (!decoded.at.empty() && decoded.at[0] != 0.0) {
        violations.Add(ViolationReason::kOutOfRange, std::string(field) + "[0]",
                       "must be 0, got " + NumberText(decoded.at[0]));
      }
      break;
    case v1::SpeedWish::OVER_NOT_SET:
      violations.Add(ViolationReason::kRequired, "speed_wish", "required: distance or time");
      return;
  }
  if (decoded.at.size() != decoded.speed.size() || decoded.at.empty()) {
    violations.Add(ViolationReason::kLengthMismatch, "speed_wish.speed",
                   "must have as many values as there are places, at least one; got " +
                       std::to_string(decoded.speed.size()) + " for " +
                       std::to_string(decoded.at.size()));
    return;
  }
  for (size_t i = 0; i < decoded.at.size(); ++i) {
    const bool ascending = i == 0 || decoded.at[i] > decoded.at[i - 1];
    const bool holds = decoded.over == WishOver::kDistance || !(decoded.at[i] > kMostMotion);
    if (!std::isfinite(decoded.at[i]) || !ascending || !holds) {
      violations.Add(
          ViolationReason::kOutOfRange, std::string(field) + "[" + std::to_string(i) + "]",
          holds ? "must be finite and above the value before it, got " + NumberText(decoded.at[i])
                : "must be at most " + NumberText(kMostMotion) + ", got " +
                      NumberText(decoded.at[i]));
    }
    if (!(decoded.speed[i] >= 0.0) || decoded.speed[i] > kMostMotion) {
      CheckSpeed("speed_wish.speed[" + std::to_string(i) + "]", decoded.speed[i], violations);
    }
  }
}

void ReadSpeed(const v1::PlanSplineRequest& request, DecodedSplineRequest& decoded,
               Violations& violations) {
  if (!v1::CurveCornerPolicy_IsValid(request.corner_policy())) {
    violations.Add(ViolationReason::kUnknownValue, "corner_policy",
                   "unknown value " + std::to_string(request.corner_policy()));
  }
  decoded.has_agent = request.has_agent();
  if (!decoded.has_agent) {
    if (decoded.sampling.plan.rule == SamplingRule::kTimeStep) {
      violations.Add(ViolationReason::kConflict, "sampling.time_step_s",
                     "needs an agent: without one there is no time");
    }
    if (request.has_speed_wish()) {
      violations.Add(ViolationReason::kConflict, "speed_wish", "needs an agent");
    }
    return;
  }
  decoded.speed.agent = ReadAgent(request.agent(), true, violations);
  if (decoded.speed.agent.limits.reaction_time_s > 0.0) {
    violations.Add(ViolationReason::kConflict, "agent.manners.reaction_time_s",
                   "must be 0 along curves");
  }
  CheckSpeed("start_speed", request.start_speed(), violations);
  CheckSpeed("end_speed", request.end_speed(), violations);
  decoded.speed.start_speed = request.start_speed();
  decoded.speed.end_speed = request.end_speed();
  decoded.speed.flying_lap = request.flying_lap();
  if (request.flying_lap() && !request.spline().closed()) {
    violations.Add(ViolationReason::kConflict, "flying_lap", "needs a closed curve");
  }
  if (request.has_speed_wish()) ReadWish(request.speed_wish(), decoded.speed.wish, violations);
  decoded.refuse_jumps = request.corner_policy() == v1::CURVE_CORNER_POLICY_REFUSE ||
                         !decoded.speed.agent.can_turn_in_place;
}

std::span<double> Resize(google::protobuf::RepeatedField<double>* field, size_t size) {
  field->Resize(static_cast<int>(size), 0.0);
  return {field->mutable_data(), size};
}

// Columns for points or tangents in the order that the curve has its axes in.
struct AxisSpans {
  std::span<double> x, y, z;
};
AxisSpans ResizeAxes(v1::PointColumns* columns, size_t size, UpAxis up_axis, bool planar) {
  if (!planar) {
    return {Resize(columns->mutable_x(), size), Resize(columns->mutable_y(), size),
            Resize(columns->mutable_z(), size)};
  }
  const AxisNames names = AxisNamesOf(up_axis);
  const auto column = [&](char name) {
    return name == 'x'   ? columns->mutable_x()
           : name == 'y' ? columns->mutable_y()
                         : columns->mutable_z();
  };
  return {Resize(column(names.a), size), Resize(column(names.b), size), {}};
}

// The plan's phases alone as a route, so that distances and times are read by the one sampler.
Route PhasesOnly(const ArcLengthMap& map, const CurveSpeed& speed) {
  Route route;
  route.phases = speed.plan.phases;
  route.length = map.length();
  route.duration_s = speed.plan.duration_s;
  return route;
}

}  // namespace

DecodedSplineRequest ReadSplineRequest(const v1::PlanSplineRequest& request,
                                       const RequestLimits& limits, Violations& violations) {
  DecodedSplineRequest decoded;
  decoded.up_axis = ReadFrame(request.frame(), violations).up_axis;
  ReadCurve(request.spline(), limits, decoded, violations);
  if (request.has_length_error_bound()) {
    constexpr NumberRule kBound{kMinRelativeError, kMaxRelativeError, true, false};
    CheckNumber("length_error_bound", request.length_error_bound(), kBound, violations);
    decoded.relative_error = request.length_error_bound();
  }
  decoded.sampling = ReadSampling(request.sampling(), SampledThing::kCurve, limits, violations);
  decoded.fit_spacing = request.fit_spacing();
  decoded.clamp_distances = request.clamp_distances();
  ReadSpeed(request, decoded, violations);
  decoded.speed.max_nodes = limits.max_curve_nodes;
  return decoded;
}

void EncodeCurve(const ArcLengthMap& map, v1::CurvePlan* out) {
  out->set_length(map.length());
  out->set_length_error_bound(map.error_bound());
  for (int i = 0; i < map.curve().segment_count(); ++i)
    out->add_segment_length(map.SegmentLength(i));
}

void EncodeCurveSpeed(const CurveSpeed& speed, v1::CurvePlan* out) {
  EncodeSpeedPlan(speed.plan, out->mutable_speed());
  out->mutable_profile_distance()->Add(speed.distance.begin(), speed.distance.end());
  out->mutable_profile_curvature()->Add(speed.curvature.begin(), speed.curvature.end());
  for (const CurveStop& stop : speed.stops) {
    out->mutable_stops()->add_distance(stop.distance);
    out->mutable_stops()->add_turn_angle_rad(stop.turn_angle_rad);
  }
}

void EncodeCurveSamples(const DecodedSplineRequest& request, const ArcLengthMap& map,
                        const CurveSpeed* speed, v1::CurveSampleColumns* out,
                        Violations& violations) {
  const DecodedSampling& sampling = request.sampling;
  if (sampling.plan.rule == SamplingRule::kNone) return;
  const bool has_plan = speed != nullptr && speed->plan.status == SpeedPlanStatus::kOk;
  const Route route = has_plan ? PhasesOnly(map, *speed) : Route();

  SampleRequest wanted;
  wanted.max_count = static_cast<size_t>(sampling.max_count);
  wanted.out_of_range = OutOfRange::kClamp;
  std::vector<double> distances;
  switch (sampling.plan.rule) {
    case SamplingRule::kNone:
      return;
    case SamplingRule::kSpacing:
      wanted.mode = request.fit_spacing ? SampleSpacing::kFittedSpacing : SampleSpacing::kSpacing;
      wanted.spacing = sampling.plan.step;
      break;
    case SamplingRule::kCount:
      wanted.mode = SampleSpacing::kCount;
      wanted.count = sampling.plan.count;
      break;
    case SamplingRule::kTimeStep: {
      if (!has_plan) {
        violations.Add(ViolationReason::kConflict, "sampling.time_step_s",
                       "the speed plan is not feasible, so there is no time");
        return;
      }
      const double count = CountSamples(sampling.plan, route);
      if (count > sampling.max_count) {
        violations.Add(ViolationReason::kLimitExceeded, "sampling",
                       "at most " + NumberText(sampling.max_count) + " samples, would be " +
                           NumberText(count));
        return;
      }
      distances.resize(static_cast<size_t>(count));
      RouteSampleColumns columns;
      columns.distance = distances;
      WriteSamples(sampling.plan, route, columns);
      // The phases' lengths are sums of their own: the last sample is the end all the same.
      for (double& distance : distances) distance = std::min(distance, map.length());
      if (distances.size() > 1) distances.back() = map.length();
      wanted.mode = SampleSpacing::kDistances;
      wanted.distances = distances;
      break;
    }
    case SamplingRule::kDistances:
      if (!map.curve().closed() && !request.clamp_distances) {
        CheckDistances(sampling.plan.distances, map.length(), map.error_bound(), violations);
      }
      wanted.mode = SampleSpacing::kDistances;
      wanted.distances = sampling.plan.distances;
      break;
  }
  if (!violations.empty()) return;
  const auto layout = LayOutSamples(map, wanted);
  if (!layout.ok()) {
    violations.Add(absl::IsResourceExhausted(layout.status()) ? ViolationReason::kLimitExceeded
                                                              : ViolationReason::kOutOfRange,
                   "sampling", std::string(layout.status().message()));
    return;
  }

  const size_t size = layout->count;
  SampleColumns columns;
  const bool timed = has_plan && (Wants(sampling, v1::SAMPLE_COLUMN_TIME) ||
                                  Wants(sampling, v1::SAMPLE_COLUMN_SPEED));
  std::vector<double> own_distance;
  if (Wants(sampling, v1::SAMPLE_COLUMN_DISTANCE)) {
    columns.distance = Resize(out->mutable_distance(), size);
  } else if (timed) {
    own_distance.resize(size);
    columns.distance = own_distance;
  }
  if (Wants(sampling, v1::SAMPLE_COLUMN_POSITION)) {
    const AxisSpans axes =
        ResizeAxes(out->mutable_position(), size, request.up_axis, request.planar);
    columns.x = axes.x;
    columns.y = axes.y;
    columns.z = axes.z;
  }
  const bool directed = map.length() > 0.0;
  v1::PointColumns own_tangent;
  const bool wants_heading = Wants(sampling, v1::SAMPLE_COLUMN_HEADING) && directed;
  AxisSpans tangent;
  if (directed && (Wants(sampling, v1::SAMPLE_COLUMN_TANGENT) || wants_heading)) {
    v1::PointColumns* place =
        Wants(sampling, v1::SAMPLE_COLUMN_TANGENT) ? out->mutable_tangent() : &own_tangent;
    tangent = ResizeAxes(place, size, request.up_axis, request.planar);
    columns.tangent_x = tangent.x;
    columns.tangent_y = tangent.y;
    columns.tangent_z = tangent.z;
  }
  if (Wants(sampling, v1::SAMPLE_COLUMN_CURVATURE))
    columns.curvature = Resize(out->mutable_curvature(), size);
  std::vector<int32_t> segment;
  if (Wants(sampling, v1::SAMPLE_COLUMN_PARAMETER)) {
    segment.resize(size);
    columns.segment = segment;
    columns.parameter = Resize(out->mutable_parameter(), size);
  }
  SampleCurve(map, *layout, columns);

  out->mutable_segment_index()->Add(segment.begin(), segment.end());
  if (wants_heading) {
    // Of a curve in space: the heading of its shadow in the plane.
    const std::span<double> heading = Resize(out->mutable_heading_rad(), size);
    const v1::PointColumns& place =
        Wants(sampling, v1::SAMPLE_COLUMN_TANGENT) ? out->tangent() : own_tangent;
    const PointColumns split = BorrowColumns(place, request.up_axis);
    for (size_t i = 0; i < size; ++i) heading[i] = std::atan2(split.b[i], split.a[i]);
  }
  if (timed) {
    RouteSampleColumns along;
    if (Wants(sampling, v1::SAMPLE_COLUMN_TIME)) along.time_s = Resize(out->mutable_time_s(), size);
    if (Wants(sampling, v1::SAMPLE_COLUMN_SPEED)) along.speed = Resize(out->mutable_speed(), size);
    SamplingPlan at = sampling.plan;
    if (at.rule != SamplingRule::kTimeStep) {
      at.rule = SamplingRule::kDistances;
      at.distances = columns.distance;
    }
    WriteSamples(at, route, along);
  }
}

}  // namespace arclane
