// SPDX-License-Identifier: Apache-2.0
#include "client/sdk/column_views.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

template <typename T>
std::span<const T> SpanOf(const google::protobuf::RepeatedField<T>& column) {
  return {column.data(), static_cast<size_t>(column.size())};
}

// Takes columns one by one and remembers the first that does not fit.
class LengthCheck {
 public:
  explicit LengthCheck(const char* table) : table_(table) {}

  // A column that may be left out.
  void Optional(const char* name, size_t length) {
    if (length != 0) Required(name, length);
  }
  // A column that must be as long as the others.
  void Required(const char* name, size_t length) {
    if (first_name_ == nullptr) {
      first_name_ = name;
      size_ = length;
    } else if (length != size_ && fault_.empty()) {
      fault_ = absl::StrCat(table_, ": ", name, " has ", length, " elements, ", first_name_,
                            " has ", size_);
    }
  }
  size_t size() const { return size_; }
  absl::Status status() const {
    return fault_.empty() ? absl::OkStatus() : absl::DataLossError(fault_);
  }

 private:
  const char* table_;
  const char* first_name_ = nullptr;
  size_t size_ = 0;
  std::string fault_;
};

}  // namespace

namespace {

// Fine for columns of doubles.
template <typename Columns>
absl::Status CheckPrecision(const Columns& columns, const char* table) {
  if (!columns.has_floats()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(table, ": the columns are floats; call WidenColumns first"));
}

}  // namespace

absl::StatusOr<PointsView> PointsView::Of(const v1::PointColumns& columns, const char* name) {
  PointsView view;
  view.x_ = SpanOf(columns.x());
  view.y_ = SpanOf(columns.y());
  view.z_ = SpanOf(columns.z());
  LengthCheck check(name);
  check.Optional("x", view.x_.size());
  check.Optional("y", view.y_.size());
  check.Optional("z", view.z_.size());
  view.size_ = check.size();
  if (!check.status().ok()) return check.status();
  return view;
}

absl::StatusOr<SampleView> SampleView::Of(const v1::Route& route) {
  const v1::SampleColumns& columns = route.samples();
  if (const absl::Status status = CheckPrecision(columns, "samples"); !status.ok()) return status;
  absl::StatusOr<PointsView> position = PointsView::Of(columns.position(), "samples.position");
  if (!position.ok()) return position.status();
  SampleView view;
  view.distance = SpanOf(columns.distance());
  view.surface_distance = SpanOf(columns.surface_distance());
  view.time_s = SpanOf(columns.time_s());
  view.position = *position;
  view.heading_rad = SpanOf(columns.heading_rad());
  view.speed = SpanOf(columns.speed());
  view.curvature = SpanOf(columns.curvature());
  view.portal_index = SpanOf(columns.portal_index());

  LengthCheck check("samples");
  check.Optional("distance", view.distance.size());
  check.Optional("surface_distance", view.surface_distance.size());
  check.Optional("time_s", view.time_s.size());
  check.Optional("position", view.position.size());
  check.Optional("heading_rad", view.heading_rad.size());
  check.Optional("speed", view.speed.size());
  check.Optional("curvature", view.curvature.size());
  check.Optional("portal_index", view.portal_index.size());
  view.size = check.size();
  if (!check.status().ok()) return check.status();
  return view;
}

absl::StatusOr<CornerView> CornerView::Of(const v1::Route& route) {
  const v1::CornerColumns& columns = route.corners();
  if (const absl::Status status = CheckPrecision(columns, "corners"); !status.ok()) return status;
  absl::StatusOr<PointsView> position = PointsView::Of(columns.position(), "corners.position");
  if (!position.ok()) return position.status();
  CornerView view;
  view.position = *position;
  view.portal_index = SpanOf(columns.portal_index());
  view.kind = SpanOf(columns.kind());
  view.reason = SpanOf(columns.reason());
  view.turn_angle_rad = SpanOf(columns.turn_angle_rad());
  view.radius = SpanOf(columns.radius());
  view.distance = SpanOf(columns.distance());

  LengthCheck check("corners");
  check.Required("position", view.position.size());
  check.Required("portal_index", view.portal_index.size());
  check.Required("kind", view.kind.size());
  check.Required("reason", view.reason.size());
  check.Required("turn_angle_rad", view.turn_angle_rad.size());
  check.Required("radius", view.radius.size());
  check.Required("distance", view.distance.size());
  view.size = check.size();
  if (!check.status().ok()) return check.status();
  return view;
}

absl::StatusOr<SegmentView> SegmentView::Of(const v1::Route& route) {
  const v1::SegmentColumns& columns = route.segments();
  absl::StatusOr<PointsView> start = PointsView::Of(columns.start(), "segments.start");
  if (!start.ok()) return start.status();
  SegmentView view;
  view.kind = SpanOf(columns.kind());
  view.start_distance = SpanOf(columns.start_distance());
  view.start = *start;
  view.heading_rad = SpanOf(columns.heading_rad());
  view.curvature = SpanOf(columns.curvature());
  view.length = SpanOf(columns.length());
  view.turn_angle_rad = SpanOf(columns.turn_angle_rad());

  LengthCheck check("segments");
  check.Required("kind", view.kind.size());
  check.Required("start_distance", view.start_distance.size());
  check.Required("start", view.start.size());
  check.Required("heading_rad", view.heading_rad.size());
  check.Required("curvature", view.curvature.size());
  check.Required("length", view.length.size());
  check.Required("turn_angle_rad", view.turn_angle_rad.size());
  view.size = check.size();
  if (!check.status().ok()) return check.status();
  return view;
}

absl::StatusOr<PhaseView> PhaseView::Of(const v1::Route& route) {
  return Of(route.phases(), static_cast<size_t>(route.segments().kind_size()));
}

absl::StatusOr<PhaseView> PhaseView::Of(const v1::PhaseColumns& columns, size_t segment_count) {
  PhaseView view;
  view.kind = SpanOf(columns.kind());
  view.segment_index = SpanOf(columns.segment_index());
  view.start_distance = SpanOf(columns.start_distance());
  view.start_time_s = SpanOf(columns.start_time_s());
  view.speed = SpanOf(columns.speed());
  view.acceleration = SpanOf(columns.acceleration());
  view.length = SpanOf(columns.length());
  view.duration_s = SpanOf(columns.duration_s());
  view.phase_rad = SpanOf(columns.phase_rad());
  view.law = SpanOf(columns.law());

  LengthCheck check("phases");
  check.Required("kind", view.kind.size());
  check.Required("segment_index", view.segment_index.size());
  check.Required("start_distance", view.start_distance.size());
  check.Required("start_time_s", view.start_time_s.size());
  check.Required("speed", view.speed.size());
  check.Required("acceleration", view.acceleration.size());
  check.Required("length", view.length.size());
  check.Required("duration_s", view.duration_s.size());
  check.Optional("phase_rad", view.phase_rad.size());
  check.Optional("law", view.law.size());
  view.size = check.size();
  if (!check.status().ok()) return check.status();
  for (size_t i = 0; i < view.size; ++i) {
    if (view.segment_index[i] >= segment_count) {
      return absl::DataLossError(absl::StrCat("phases: segment_index[", i, "] is ",
                                              view.segment_index[i], " of ", segment_count,
                                              " segments"));
    }
  }
  return view;
}

absl::StatusOr<CurveSampleView> CurveSampleView::Of(const v1::CurvePlan& plan) {
  const v1::CurveSampleColumns& columns = plan.samples();
  if (const absl::Status status = CheckPrecision(columns, "samples"); !status.ok()) return status;
  absl::StatusOr<PointsView> position = PointsView::Of(columns.position(), "samples.position");
  if (!position.ok()) return position.status();
  absl::StatusOr<PointsView> tangent = PointsView::Of(columns.tangent(), "samples.tangent");
  if (!tangent.ok()) return tangent.status();
  CurveSampleView view;
  view.distance = SpanOf(columns.distance());
  view.time_s = SpanOf(columns.time_s());
  view.position = *position;
  view.tangent = *tangent;
  view.heading_rad = SpanOf(columns.heading_rad());
  view.curvature = SpanOf(columns.curvature());
  view.speed = SpanOf(columns.speed());
  view.segment_index = SpanOf(columns.segment_index());
  view.parameter = SpanOf(columns.parameter());

  LengthCheck check("samples");
  check.Optional("distance", view.distance.size());
  check.Optional("time_s", view.time_s.size());
  check.Optional("position", view.position.size());
  check.Optional("tangent", view.tangent.size());
  check.Optional("heading_rad", view.heading_rad.size());
  check.Optional("curvature", view.curvature.size());
  check.Optional("speed", view.speed.size());
  check.Optional("segment_index", view.segment_index.size());
  check.Optional("parameter", view.parameter.size());
  view.size = check.size();
  if (!check.status().ok()) return check.status();
  return view;
}

}  // namespace arclane
