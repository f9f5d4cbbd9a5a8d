// SPDX-License-Identifier: Apache-2.0
// Curves that own their columns, of points or of the reference records (spline/*.jsonl.gz).
#ifndef ARCLANE_TESTS_UNIT_PLANNING_SPLINE_CURVE_RECORD_H_
#define ARCLANE_TESTS_UNIT_PLANNING_SPLINE_CURVE_RECORD_H_

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "server/planning/spline/arc_length.h"
#include "server/planning/spline/curve.h"

namespace arclane::testing {

// Columns that own their values, as a message would.
struct OwnedColumns {
  std::vector<double> x, y, z;
  CoordinateColumns View() const { return {x, y, z}; }
};

// A curve description that owns its columns. Input() borrows from it.
struct OwnedCurve {
  CurveKind kind = CurveKind::kBezier;
  bool closed = false;
  OwnedColumns control, tangents;
  double alpha = 0.5;
  int degree = 3;
  std::vector<double> knots, weights;

  CurveInput Input() const {
    return {kind, closed, control.View(), tangents.View(), alpha, degree, knots, weights};
  }
};

// A planar chain of cubic Bezier pieces.
inline OwnedCurve Bezier(std::vector<double> x, std::vector<double> y) {
  OwnedCurve curve;
  curve.control = {std::move(x), std::move(y), {}};
  return curve;
}

// The arc-length map of a valid curve.
inline ArcLengthMap MapOf(const OwnedCurve& owned, ArcLengthOptions options = {}) {
  auto curve = Curve::Create(owned.Input());
  EXPECT_TRUE(curve.ok()) << curve.status();
  auto map = ArcLengthMap::Create(*std::move(curve), options);
  EXPECT_TRUE(map.ok()) << map.status();
  return *std::move(map);
}

inline OwnedColumns ColumnsOf(const nlohmann::json& points) {
  OwnedColumns columns;
  for (const auto& point : points) {
    columns.x.push_back(point[0].get<double>());
    columns.y.push_back(point[1].get<double>());
    if (point.size() > 2) columns.z.push_back(point[2].get<double>());
  }
  return columns;
}

inline OwnedCurve CurveOf(const nlohmann::json& record) {
  OwnedCurve curve;
  const std::string kind = record["kind"];
  curve.kind = kind == "hermite"       ? CurveKind::kHermite
               : kind == "catmull_rom" ? CurveKind::kCatmullRom
               : kind == "bspline"     ? CurveKind::kBSpline
               : kind == "nurbs"       ? CurveKind::kNurbs
                                       : CurveKind::kBezier;
  curve.closed = record["closed"];
  curve.control = ColumnsOf(record["control"]);
  if (record.contains("tangents")) curve.tangents = ColumnsOf(record["tangents"]);
  curve.alpha = record.value("alpha", 0.5);
  curve.degree = record.value("degree", 3);
  if (record.contains("knots")) curve.knots = record["knots"].get<std::vector<double>>();
  if (record.contains("weights")) curve.weights = record["weights"].get<std::vector<double>>();
  return curve;
}

}  // namespace arclane::testing

#endif  // ARCLANE_TESTS_UNIT_PLANNING_SPLINE_CURVE_RECORD_H_
