// SPDX-License-Identifier: Apache-2.0
// From a validated curve description to pieces in the local frame.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_CURVE_REDUCTION_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_CURVE_REDUCTION_H_

#include <array>
#include <vector>

#include "server/planning/spline/curve.h"

namespace arclane {

class CurveReducer {
 public:
  // Precondition: every field rule of ValidateCurve holds for `input`.
  static Curve Reduce(const CurveInput& input);

 private:
  using Point = std::array<double, 3>;

  explicit CurveReducer(const CurveInput& input) : input_(input) {}

  void PlaceFrame();
  Point LocalControl(size_t i) const;
  Point LocalTangent(size_t i) const;
  void ReduceBezier();
  void ReduceHermite();
  void ReduceCatmullRom();
  void ReduceBSpline();
  void AddHermitePiece(const Point& p0, const Point& p1, const Point& m0, const Point& m1);
  void AddConstantPiece(const Point& p);
  void AddPiece(CurvePiece& piece);
  void PlaceEnds();
  // Whether the curve goes through its first or last control point.
  bool StartsAtControl() const;
  bool EndsAtControl() const;

  const CurveInput& input_;
  Curve curve_;
};

// The knot vector that an input without knots stands for: clamped uniform, or periodic uniform when
// closed.
std::vector<double> UniformKnots(size_t control_count, int degree, bool closed);

// Bernstein coefficients of the hodograph's numerator: dr/dt = H / w^2, with w = 1 for polynomial
// pieces. Returns its degree: degree - 1, or 2 degree - 2 for rational pieces. rows[c] holds
// kMaxHodographDegree + 1 values.
inline constexpr int kMaxHodographDegree = 2 * kMaxCurveDegree - 2;
using HodographRows = std::array<std::array<double, kMaxHodographDegree + 1>, 3>;
int HodographBernstein(const CurvePiece& piece, int dimension, HodographRows& rows);

// Distance between the curve's two ends over its extent; a closed curve must not exceed
// kMaxClosureGap.
double ClosureGap(const Curve& curve);

// Of the extent: coordinates that went through float32 differ by up to one of its ulps, 2^-23, a
// few times over.
inline constexpr double kMaxClosureGap = 0x1p-20;

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_CURVE_REDUCTION_H_
