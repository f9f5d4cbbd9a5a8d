// SPDX-License-Identifier: Apache-2.0
// Axes: which of x, y, z are horizontal, and columns of a message as spans or as places to write
// to.
#ifndef ARCLANE_SERVER_CODEC_FRAME_CODEC_H_
#define ARCLANE_SERVER_CODEC_FRAME_CODEC_H_

#include <cstddef>
#include <limits>
#include <span>

#include "arclane/v1/geometry.pb.h"
#include "server/planning/geometry/points_columns.h"
#include "server/planning/geometry/precision.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/geometry/violation.h"

namespace arclane {

// A point split by the up axis.
struct PlanPoint {
  Vec2 plan;
  double height = 0.0;
};

struct PlanFrame {
  UpAxis up_axis = UpAxis::kZ;
  CoordinatePrecision precision;
  PlanPoint origin;
};

PlanPoint SplitPoint(const v1::Point& point, UpAxis up_axis);
void JoinPoint(const PlanPoint& point, UpAxis up_axis, v1::Point* out);

// Borrows the columns; nothing is checked.
PointColumns BorrowColumns(const v1::PointColumns& columns, UpAxis up_axis);

// Columns of a message to be written, split by the up axis, each `size` long; all values are for
// the caller to write.
struct WritablePoints {
  std::span<double> a;
  std::span<double> b;
  std::span<double> height;

  void Set(size_t i, Vec2 plan, double h) const {
    a[i] = plan.x;
    b[i] = plan.y;
    height[i] = h;
  }
};
WritablePoints ResizeColumns(v1::PointColumns* columns, size_t size, UpAxis up_axis);

// Adds violations of `path`.x and so on for coordinates that are not finite or too large.
void CheckPoint(const char* path, const v1::Point& point, Violations& violations);

// The extent (longer side of the bounding box) of points [begin, end) of the columns; 0 when they
// do not exist.
double ExtentOf(const PointColumns& points, size_t begin = 0,
                size_t end = std::numeric_limits<size_t>::max());

// The largest tolerance, as a fraction of the extent of what is planned in.
inline constexpr double kToleranceFraction = 1e-3;

// Adds a violation of frame.origin when subtracting it from coordinates near `point` would round
// them by more than that fraction of the extent.
void CheckOrigin(const PlanFrame& frame, Vec2 point, double extent, Violations& violations);

// Reads and checks the field `frame` of a request; an origin that is refused is not taken over.
PlanFrame ReadFrame(const v1::Frame& frame, Violations& violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_FRAME_CODEC_H_
