// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/limit_direction.h"

#include <algorithm>
#include <cmath>

#include "server/planning/spline/bernstein.h"
#include "server/planning/spline/curve_reduction.h"

namespace arclane {
namespace {

// Rounding of the derivatives of a polynomial of degree <= 8, of its largest coefficient.
constexpr double kDerivativeNoise = 1e-12;

// What a first derivative of H is compared with. Weights differ by up to 1e9 and a coefficient of H
// holds two of them, so that one beside the largest says nothing of a rational piece: there it is
// the mean of the coefficients at t, and the distances of the control points under the weight
// there.
double SizeAt(const CurvePiece& piece, const HodographRows& rows, int dimension, int degree,
              double t, bool is_first) {
  double size = 0.0;
  for (int c = 0; c < dimension; ++c) {
    double magnitude[kMaxHodographDegree + 1];
    for (int j = 0; j <= degree; ++j) magnitude[j] = std::abs(rows[c][j]);
    size = std::max(size, piece.rational ? BernsteinMeans(magnitude, degree, t)
                                         : *std::max_element(magnitude, magnitude + degree + 1));
  }
  if (!piece.rational || !is_first) return size;
  const double weight = BernsteinMeans(piece.weight_bernstein.data(), piece.degree, t);
  for (int c = 0; c < dimension; ++c) {
    for (int j = 1; j <= piece.degree; ++j) {
      const double step = std::abs(piece.bernstein[c][j] - piece.bernstein[c][j - 1]);
      size = std::max(size, weight * weight * piece.degree * step);
    }
  }
  return size;
}

double NormOf(const std::array<double, 3>& v) {
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

}  // namespace

bool SpeedVanishes(const CurvePiece& piece, int dimension, double t) {
  HodographRows rows;
  const int degree = HodographBernstein(piece, dimension, rows);
  std::array<double, 3> value{};
  for (int c = 0; c < dimension; ++c) value[c] = BernsteinMeans(rows[c].data(), degree, t);
  return !(NormOf(value) >
           kDerivativeNoise * SizeAt(piece, rows, dimension, degree, t, /*is_first=*/true));
}

std::array<double, 3> LimitDirection(const CurvePiece& piece, int dimension, double t,
                                     TravelSide side, int least_order) {
  // dr/dt = H / w^2 with w > 0: the first non-vanishing derivative of H has the direction of that
  // of r.
  HodographRows rows;
  const int degree = HodographBernstein(piece, dimension, rows);
  double sign = 1.0;
  for (int order = 1; order <= degree + 1; ++order) {
    const int rest = degree + 1 - order;
    std::array<double, 3> value{};
    for (int c = 0; c < dimension; ++c) value[c] = BernsteinMeans(rows[c].data(), rest, t);
    const double norm = NormOf(value);
    const double noise = kDerivativeNoise * SizeAt(piece, rows, dimension, rest, t, order == 1);
    if (order >= least_order && norm > noise) {
      for (int c = 0; c < dimension; ++c) value[c] *= sign / norm;
      return value;
    }
    if (side == TravelSide::kArriving) sign = -sign;
    if (rest == 0) break;
    for (int c = 0; c < dimension; ++c) BernsteinDerivative(rows[c].data(), rest, rows[c].data());
  }
  return {0.0, 0.0, 0.0};
}

}  // namespace arclane
