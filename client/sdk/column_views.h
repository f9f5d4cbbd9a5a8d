// SPDX-License-Identifier: Apache-2.0
// Read-only views over the packed columns of a route. A view is checked once, when it is made: all
// its columns are then empty or as long as size() says, so that they can be read side by side
// without further checks. Answers that came by a Client have columns of doubles whatever precision
// was asked for; of others WidenColumns (server/codec/float_columns.h) makes them: a view of
// columns that are still floats is kFailedPrecondition. A view borrows from its message: it lives
// no longer, and no longer than the message is left unchanged. Copying a view is cheap. Making one
// costs O(1).
#ifndef ARCLANE_CLIENT_SDK_COLUMN_VIEWS_H_
#define ARCLANE_CLIENT_SDK_COLUMN_VIEWS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "arclane/v1/route.pb.h"
#include "arclane/v1/spline.pb.h"

namespace arclane {

// Points in the sender's axes. The column of the up axis may be empty: its coordinates are then 0.
class PointsView {
 public:
  PointsView() = default;
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<const double> x() const { return x_; }
  std::span<const double> y() const { return y_; }
  std::span<const double> z() const { return z_; }
  // 0 for the coordinates of an empty column. Precondition: i < size().
  double x(size_t i) const { return x_.empty() ? 0.0 : x_[i]; }
  double y(size_t i) const { return y_.empty() ? 0.0 : y_[i]; }
  double z(size_t i) const { return z_.empty() ? 0.0 : z_[i]; }

  // kDataLoss when two non-empty columns differ in length; `name` is put before the column in the
  // text.
  static absl::StatusOr<PointsView> Of(const v1::PointColumns& columns, const char* name);

 private:
  std::span<const double> x_, y_, z_;
  size_t size_ = 0;
};

// The samples that were asked for; columns that were not are empty.
struct SampleView {
  size_t size = 0;
  std::span<const double>
      distance;  // Along the route in the plane; non-decreasing for rules other than `distances`.
  std::span<const double> surface_distance;  // Along the surface.
  std::span<const double> time_s;
  PointsView position;
  std::span<const double> heading_rad;
  std::span<const double> speed;
  std::span<const double> curvature;
  std::span<const uint32_t> portal_index;

  // kDataLoss, naming the odd column, when lengths differ. No samples: an empty view.
  static absl::StatusOr<SampleView> Of(const v1::Route& route);
};

// The corners of the shortest line. All columns have `size` elements.
struct CornerView {
  size_t size = 0;
  PointsView position;
  std::span<const uint32_t> portal_index;
  std::span<const int> kind;    // v1::CornerKind; values of later versions are possible.
  std::span<const int> reason;  // v1::CornerReason.
  std::span<const double> turn_angle_rad;
  std::span<const double> radius;
  std::span<const double> distance;

  static absl::StatusOr<CornerView> Of(const v1::Route& route);
};

// The segments of the route. All columns have `size` elements.
struct SegmentView {
  size_t size = 0;
  std::span<const int> kind;  // v1::SegmentKind.
  std::span<const double> start_distance;
  PointsView start;
  std::span<const double> heading_rad;
  std::span<const double> curvature;
  std::span<const double> length;
  std::span<const double> turn_angle_rad;

  static absl::StatusOr<SegmentView> Of(const v1::Route& route);
};

// The speed plan. All columns have `size` elements, but phase_rad and law may be empty: all their
// values are then 0. Every segment_index is below the number of segments.
struct PhaseView {
  size_t size = 0;
  std::span<const int> kind;  // v1::PhaseKind.
  std::span<const uint32_t> segment_index;
  std::span<const double> start_distance;
  std::span<const double> start_time_s;
  std::span<const double> speed;
  std::span<const double> acceleration;
  std::span<const double> length;
  std::span<const double> duration_s;
  std::span<const double> phase_rad;
  std::span<const double> law;

  // Also kDataLoss for a segment_index out of range: O(size) for that.
  static absl::StatusOr<PhaseView> Of(const v1::Route& route);
  // The phases of a plan without route: every segment_index must be below `segment_count`.
  static absl::StatusOr<PhaseView> Of(const v1::PhaseColumns& columns, size_t segment_count);
};

// The samples of a curve that were asked for; columns that were not are empty.
struct CurveSampleView {
  size_t size = 0;
  std::span<const double> distance;  // Along the curve.
  std::span<const double> time_s;    // Empty without a speed plan, as `speed` is.
  PointsView position;
  PointsView tangent;  // Unit vectors; empty for a curve without length, too.
  std::span<const double> heading_rad;
  std::span<const double> curvature;  // NaN where it is undefined.
  std::span<const double> speed;
  std::span<const uint32_t> segment_index;
  std::span<const double> parameter;

  // As SampleView::Of.
  static absl::StatusOr<CurveSampleView> Of(const v1::CurvePlan& plan);
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_SDK_COLUMN_VIEWS_H_
