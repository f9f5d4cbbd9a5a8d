// SPDX-License-Identifier: Apache-2.0
#include "server/codec/frame_codec.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "server/codec/columns.h"
#include "server/codec/field_checks.h"

namespace arclane {
PlanPoint SplitPoint(const v1::Point& point, UpAxis up_axis) {
  switch (up_axis) {
    case UpAxis::kX:
      return {{point.y(), point.z()}, point.x()};
    case UpAxis::kY:
      return {{point.x(), point.z()}, point.y()};
    case UpAxis::kZ:
      break;
  }
  return {{point.x(), point.y()}, point.z()};
}

void JoinPoint(const PlanPoint& point, UpAxis up_axis, v1::Point* out) {
  const double a = point.plan.x;
  const double b = point.plan.y;
  const double h = point.height;
  out->set_x(up_axis == UpAxis::kX ? h : a);
  out->set_y(up_axis == UpAxis::kY ? h : (up_axis == UpAxis::kX ? a : b));
  out->set_z(up_axis == UpAxis::kZ ? h : b);
}

PointColumns BorrowColumns(const v1::PointColumns& columns, UpAxis up_axis) {
  const auto x = Borrow(columns.x());
  const auto y = Borrow(columns.y());
  const auto z = Borrow(columns.z());
  switch (up_axis) {
    case UpAxis::kX:
      return {y, z, x};
    case UpAxis::kY:
      return {x, z, y};
    case UpAxis::kZ:
      break;
  }
  return {x, y, z};
}

WritablePoints ResizeColumns(v1::PointColumns* columns, size_t size, UpAxis up_axis) {
  const auto x = NewColumn(columns->mutable_x(), size);
  const auto y = NewColumn(columns->mutable_y(), size);
  const auto z = NewColumn(columns->mutable_z(), size);
  switch (up_axis) {
    case UpAxis::kX:
      return {y, z, x};
    case UpAxis::kY:
      return {x, z, y};
    case UpAxis::kZ:
      break;
  }
  return {x, y, z};
}

void CheckPoint(const char* path, const v1::Point& point, Violations& violations) {
  constexpr NumberRule kCoordinate{-kMaxCoordinate, kMaxCoordinate, true, false};
  const std::string prefix(path);
  CheckNumber(prefix + ".x", point.x(), kCoordinate, violations);
  CheckNumber(prefix + ".y", point.y(), kCoordinate, violations);
  CheckNumber(prefix + ".z", point.z(), kCoordinate, violations);
}

double ExtentOf(const PointColumns& points, size_t begin, size_t end) {
  end = std::min({end, points.a.size(), points.b.size()});
  if (begin >= end) return 0.0;
  const auto range = [&](std::span<const double> values) {
    const auto [low, high] = std::minmax_element(values.begin() + begin, values.begin() + end);
    return *high - *low;
  };
  return std::max(range(points.a), range(points.b));
}

void CheckOrigin(const PlanFrame& frame, Vec2 point, double extent, Violations& violations) {
  const Vec2 away = point - frame.origin.plan;
  const double lost =
      CoordinatePrecision::Double().ToleranceAt(std::max(std::abs(away.x), std::abs(away.y)));
  if (!(extent > 0.0) || !std::isfinite(lost) || lost <= kToleranceFraction * extent) return;
  const double own =
      CoordinatePrecision::Double().ToleranceAt(std::max(std::abs(point.x), std::abs(point.y)));
  if (lost <= own) return;
  violations.Add(ViolationReason::kOutOfRange, "frame.origin",
                 "lies so far from the coordinates that they would be rounded by about " +
                     NumberText(lost) + ", with an extent of " + NumberText(extent) +
                     ": choose one among them");
}

PlanFrame ReadFrame(const v1::Frame& frame, Violations& violations) {
  PlanFrame result;
  switch (frame.up_axis()) {
    case v1::UP_AXIS_UNSPECIFIED:
    case v1::UP_AXIS_Z:
      result.up_axis = UpAxis::kZ;
      break;
    case v1::UP_AXIS_X:
      result.up_axis = UpAxis::kX;
      break;
    case v1::UP_AXIS_Y:
      result.up_axis = UpAxis::kY;
      break;
    default:
      violations.Add(ViolationReason::kUnknownValue, "frame.up_axis",
                     "unknown value " + std::to_string(frame.up_axis()));
  }
  if (frame.has_tolerance()) {
    constexpr NumberRule kLength{0.0, kMaxCoordinate, true, false};
    if (CheckNumber("frame.tolerance", frame.tolerance(), kLength, violations) &&
        frame.tolerance() > 0.0) {
      result.precision = CoordinatePrecision::Length(frame.tolerance());
    }
  } else {
    switch (frame.source()) {
      case v1::COORDINATE_SOURCE_UNSPECIFIED:
      case v1::COORDINATE_SOURCE_FLOAT64:
        break;
      case v1::COORDINATE_SOURCE_FLOAT32:
        result.precision = CoordinatePrecision::Float32();
        break;
      default:
        violations.Add(ViolationReason::kUnknownValue, "frame.source",
                       "unknown value " + std::to_string(frame.source()));
    }
  }
  if (frame.has_origin()) {
    const size_t before = violations.total();
    CheckPoint("frame.origin", frame.origin(), violations);
    if (violations.total() == before) {
      result.origin = SplitPoint(frame.origin(), result.up_axis);
    }
  }
  return result;
}

}  // namespace arclane
