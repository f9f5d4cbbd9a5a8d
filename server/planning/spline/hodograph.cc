// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/hodograph.h"

#include <cmath>

#include "server/planning/spline/bernstein.h"
#include "server/planning/spline/curve_reduction.h"

namespace arclane {
namespace {

double Norm(const std::array<double, 3>& v) {
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

}  // namespace

HodographPoint EvaluateHodograph(const CurvePiece& piece, int dimension, double t) {
  HodographRows rows;
  const int degree = HodographBernstein(piece, dimension, rows);
  HodographPoint point;
  for (int c = 0; c < dimension; ++c) {
    point.value[c] = BernsteinMeans(rows[c].data(), degree, t);
    if (degree == 0) continue;
    BernsteinDerivative(rows[c].data(), degree, rows[c].data());
    point.derivative[c] = BernsteinMeans(rows[c].data(), degree - 1, t);
  }
  if (piece.rational) {
    point.weight = BernsteinMeans(piece.weight_bernstein.data(), piece.degree, t);
  }
  return point;
}

double SpeedOf(const HodographPoint& point) {
  return Norm(point.value) / (point.weight * point.weight);
}

// With r' = H / w^2 and r'' = H' / w^2 - 2 w' / w r' the curvature |r' x r''| / |r'|^3 is
// |H x H'| w^2 / |H|^3.
double CurvatureOf(const HodographPoint& point, int dimension) {
  const auto& h = point.value;
  const auto& d = point.derivative;
  const double x = h[1] * d[2] - h[2] * d[1];
  const double y = h[2] * d[0] - h[0] * d[2];
  const double z = h[0] * d[1] - h[1] * d[0];
  const double cross = dimension == 2 ? z : Norm({x, y, z});
  const double norm = Norm(h);
  return cross / norm / norm / norm * (point.weight * point.weight);
}

}  // namespace arclane
