// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/limit_direction.h"

#include <algorithm>
#include <cmath>

#include "server/planning/spline/bernstein.h"
#include "server/planning/spline/curve_reduction.h"

namespace arclane {
namespace {

// Rounding of the derivatives of a polynomial of degree <= 8, of their largest coefficient.
constexpr double kDerivativeNoise = 1e-12;

}  // namespace

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
    double squared = 0.0, largest = 0.0;
    for (int c = 0; c < dimension; ++c) {
      value[c] = BernsteinValue(rows[c].data(), rest, t);
      squared += value[c] * value[c];
      for (int j = 0; j <= rest; ++j) largest = std::max(largest, std::abs(rows[c][j]));
    }
    const double norm = std::sqrt(squared);
    if (order >= least_order && norm > kDerivativeNoise * largest) {
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
