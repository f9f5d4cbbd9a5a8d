// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/map_projection.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace arclane {
namespace {

constexpr double kMapMargin = 18;  // Pixels around the extent.
// An arc that rises less over its chord is drawn as a line.
constexpr double kFlatArcPixels = 0.02;

}  // namespace

MapProjection::MapProjection(const Extent& extent, const PanelArea& area)
    : center_{0.5 * extent.low.first + 0.5 * extent.high.first,
              0.5 * extent.low.second + 0.5 * extent.high.second},
      middle_{area.x + 0.5 * area.width, area.y + 0.5 * area.height} {
  const double across = extent.high.first - extent.low.first;
  const double along = extent.high.second - extent.low.second;
  // A single point, or an extent below what its coordinates can resolve, is shown in a window
  // around it.
  const double magnitude = std::max(std::abs(center_.first), std::abs(center_.second));
  const bool is_point = std::max(across, along) <= 1e-13 * magnitude || (across <= 0 && along <= 0);
  if (is_point) {
    scale_ = std::min(area.width, area.height) / (2 * std::max(1.0, 1e-6 * magnitude));
  } else {
    const double room_x = std::max(area.width - 2 * kMapMargin, 1.0);
    const double room_y = std::max(area.height - 2 * kMapMargin, 1.0);
    scale_ = 1 / std::max(across / room_x, along / room_y);
  }
  const double half_x = 0.5 * area.width / scale_;
  const double half_y = 0.5 * area.height / scale_;
  visible_ = {{center_.first - half_x, center_.second - half_y},
              {center_.first + half_x, center_.second + half_y}};
}

Pixel MapProjection::operator()(PlanePoint point) const {
  return {middle_.x + (point.first - center_.first) * scale_,
          middle_.y - (point.second - center_.second) * scale_};
}

double MapHeight(const Extent& extent, double width, double low, double high) {
  const double across = extent.high.first - extent.low.first;
  const double along = extent.high.second - extent.low.second;
  if (!(across > 0)) return along > 0 ? high : low;
  return std::clamp((width - 2 * kMapMargin) * (along / across) + 2 * kMapMargin, low, high);
}

void AppendSegment(const TraceSegment& segment, double from, double to,
                   const MapProjection& projection, SvgPath& path) {
  constexpr double kLargestPieceRad = std::numbers::pi / 2;
  const double angle = std::abs(segment.curvature) * (to - from);
  const double rise = 0.125 * angle * (to - from) * projection.pixels_per_unit();
  if (segment.curvature == 0 || rise < kFlatArcPixels) {
    path.LineTo(projection(PointAlong(segment, to)));
    return;
  }
  const int pieces = 1 + static_cast<int>(std::min(angle / kLargestPieceRad, 1e6));
  const double radius = projection.pixels_per_unit() / std::abs(segment.curvature);
  for (int k = 1; k <= pieces; ++k) {
    const double s = k == pieces ? to : from + (to - from) * k / pieces;
    // Positive curvature turns left, which is counter-clockwise with the second axis upwards.
    path.ArcTo(radius, /*clockwise=*/segment.curvature < 0, projection(PointAlong(segment, s)));
  }
}

}  // namespace arclane
