// SPDX-License-Identifier: Apache-2.0
// Tables for Chebyshev interpolation on the 16 roots of T_16, checked on the 17 interlaced extrema
// (ends included). Both sets are symmetric, so that a function is taken apart into its even and odd
// half and every transform costs two products with 8 x 8 matrices instead of one with 16 x 16.
// Computed at compile time in long double, so that no run-time libm decides a bit of them.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_CHEBYSHEV_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_CHEBYSHEV_H_

#include <array>
#include <cstddef>

namespace arclane {

inline constexpr int kChebyshevOrder = 16;
inline constexpr int kHalfOrder = kChebyshevOrder / 2;

using HalfRow = std::array<double, kHalfOrder>;
// matrix[k][i]: what input k adds to output i.
using HalfMatrix = std::array<HalfRow, kHalfOrder>;

struct alignas(64) ChebyshevTables {
  // For a function f with e_k = f(node[k]) + f(-node[k]) and o_k = f(node[k]) - f(-node[k]):
  // coefficients of T_0, T_2, .. T_14 from e, of T_1, T_3, .. T_15 from o.
  HalfMatrix even_coefficient{};
  HalfMatrix odd_coefficient{};
  // The even half of the interpolant at check[i] from e, its odd half from o.
  HalfMatrix even_check{};
  HalfMatrix odd_check{};
  // Halves of the interpolant's integral from 0 to check[i]: the odd one from e, the even one from
  // o.
  HalfMatrix odd_integral{};
  HalfMatrix even_integral{};
  // T_2j = sum over i of even_monomial[j][i] * x^(2 i), T_(2j+1) = x * sum of odd_monomial[j][i] *
  // x^(2 i).
  HalfMatrix even_monomial{};
  HalfMatrix odd_monomial{};
  // Positive nodes and positive check points, both ascending; the last check point is 1. The others
  // are their negatives, and the check point 0.
  HalfRow node{};
  HalfRow check{};
  // The interpolant at 0 from e.
  HalfRow even_zero{};
  // Clenshaw-Curtis weights of the 33 points that nodes and check points form together.
  HalfRow node_weight{};
  HalfRow check_weight{};
  double zero_weight = 0.0;
};

namespace chebyshev_internal {

inline constexpr long double kPi = 3.14159265358979323846264338327950288L;

// cos(pi * numerator / denominator) for 0 <= numerator <= denominator.
constexpr long double CosineOfTurn(int numerator, int denominator) {
  if (2 * numerator == denominator) return 0.0L;
  if (2 * numerator > denominator) return -CosineOfTurn(denominator - numerator, denominator);
  const long double x = kPi * numerator / denominator;
  long double term = 1.0L, sum = 1.0L;
  for (int k = 1; k < 24; ++k) {
    term *= -x * x / ((2 * k - 1) * (2 * k));
    sum += term;
  }
  return sum;
}

// T_j(cos(pi * n / 32)) for any non-negative j * n.
constexpr long double ChebyshevAt(int j, int n) {
  int m = (j * n) % 64;
  if (m > 32) m = 64 - m;
  return CosineOfTurn(m, 32);
}

// The integral of T_j from 0 to cos(pi * n / 32).
constexpr long double ChebyshevIntegral(int j, int n) {
  constexpr int kRightAngle = 16;
  if (j == 0) return ChebyshevAt(1, n);
  if (j == 1) return ChebyshevAt(1, n) * ChebyshevAt(1, n) / 2;
  const long double at = ChebyshevAt(j + 1, n) / (j + 1) - ChebyshevAt(j - 1, n) / (j - 1);
  const long double zero =
      ChebyshevAt(j + 1, kRightAngle) / (j + 1) - ChebyshevAt(j - 1, kRightAngle) / (j - 1);
  return (at - zero) / 2;
}

// Clenshaw-Curtis weight of cos(pi * n / 32).
constexpr long double Weight(int n) {
  constexpr int kN = kChebyshevOrder;
  long double sum = 1.0L;
  for (int j = 1; j <= kN; ++j) {
    const long double factor = j == kN ? 1.0L : 2.0L;
    sum -= factor / (4.0L * j * j - 1.0L) * ChebyshevAt(2 * j, n);
  }
  return (n == 0 || n == 2 * kN ? 1.0L : 2.0L) / (2 * kN) * sum;
}

constexpr ChebyshevTables MakeTables() {
  constexpr int kN = kChebyshevOrder;
  ChebyshevTables tables;
  for (int k = 0; k < kHalfOrder; ++k) {
    // Angles in units of pi / 32.
    const int node_angle = kN - 1 - 2 * k, check_angle = kN - 2 - 2 * k;
    tables.node[k] = static_cast<double>(ChebyshevAt(1, node_angle));
    tables.check[k] = static_cast<double>(ChebyshevAt(1, check_angle));
    tables.node_weight[k] = static_cast<double>(Weight(node_angle));
    tables.check_weight[k] = static_cast<double>(Weight(check_angle));
    long double even[kHalfOrder] = {}, odd[kHalfOrder] = {};
    long double zero = 0.0L;
    for (int j = 0; j < kHalfOrder; ++j) {
      even[j] = ChebyshevAt(2 * j, node_angle) * (j == 0 ? 1.0L : 2.0L) / kN;
      odd[j] = ChebyshevAt(2 * j + 1, node_angle) * 2.0L / kN;
      tables.even_coefficient[k][j] = static_cast<double>(even[j]);
      tables.odd_coefficient[k][j] = static_cast<double>(odd[j]);
      zero += even[j] * ChebyshevAt(2 * j, kN);
    }
    tables.even_zero[k] = static_cast<double>(zero);
    for (int i = 0; i < kHalfOrder; ++i) {
      const int angle = kN - 2 - 2 * i;
      long double even_value = 0.0L, odd_value = 0.0L, odd_area = 0.0L, even_area = 0.0L;
      for (int j = 0; j < kHalfOrder; ++j) {
        even_value += even[j] * ChebyshevAt(2 * j, angle);
        odd_value += odd[j] * ChebyshevAt(2 * j + 1, angle);
        odd_area += even[j] * ChebyshevIntegral(2 * j, angle);
        even_area += odd[j] * ChebyshevIntegral(2 * j + 1, angle);
      }
      tables.even_check[k][i] = static_cast<double>(even_value);
      tables.odd_check[k][i] = static_cast<double>(odd_value);
      tables.odd_integral[k][i] = static_cast<double>(odd_area);
      tables.even_integral[k][i] = static_cast<double>(even_area);
    }
  }
  tables.zero_weight = static_cast<double>(Weight(kN));
  // T_j = 2 x T_(j-1) - T_(j-2).
  double monomial[kN][kN] = {};
  monomial[0][0] = monomial[1][1] = 1.0;
  for (int j = 2; j < kN; ++j) {
    for (int i = 0; i < kN; ++i) {
      monomial[j][i] = (i == 0 ? 0.0 : 2.0 * monomial[j - 1][i - 1]) - monomial[j - 2][i];
    }
  }
  for (size_t j = 0; j < kHalfOrder; ++j) {
    for (size_t i = 0; i < kHalfOrder; ++i) {
      tables.even_monomial[j][i] = monomial[2 * j][2 * i];
      tables.odd_monomial[j][i] = monomial[2 * j + 1][2 * i + 1];
    }
  }
  return tables;
}

}  // namespace chebyshev_internal

inline constexpr ChebyshevTables kChebyshev = chebyshev_internal::MakeTables();

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_CHEBYSHEV_H_
