// SPDX-License-Identifier: Apache-2.0
// Tables for Chebyshev interpolation on the 16 roots of T_16, checked on the 17 interlaced extrema
// (ends included). Computed at compile time in long double, so that no run-time libm decides a bit
// of them.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_CHEBYSHEV_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_CHEBYSHEV_H_

#include <array>

namespace arclane {

inline constexpr int kChebyshevOrder = 16;
inline constexpr int kChebyshevChecks = kChebyshevOrder + 1;

using ChebyshevValues = std::array<double, kChebyshevOrder>;
using ChebyshevCheckValues = std::array<double, kChebyshevChecks>;

struct ChebyshevTables {
  // Interpolation nodes and check points, both ascending in [-1, 1]; check points begin with -1 and
  // end with 1.
  ChebyshevValues node{};
  ChebyshevCheckValues check{};
  // coefficient[j] = sum over k of to_coefficient[k][j] * value[k].
  std::array<ChebyshevValues, kChebyshevOrder> to_coefficient{};
  // Interpolant at check[i] = sum over k of to_check[k][i] * value[k]. Padded to an even width.
  std::array<std::array<double, kChebyshevChecks + 1>, kChebyshevOrder> to_check{};
  // Its integral from -1 to check[i].
  std::array<std::array<double, kChebyshevChecks + 1>, kChebyshevOrder> to_integral{};
  // T_j as a polynomial: sum over i of monomial[j][i] * x^i.
  std::array<ChebyshevValues, kChebyshevOrder> monomial{};
  // Clenshaw-Curtis weights of the 33 points that nodes and check points form together.
  ChebyshevValues node_weight{};
  ChebyshevCheckValues check_weight{};
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

// cos(j * pi * n / 32) for any non-negative j * n.
constexpr long double CosineOfMultiple(int j, int n) {
  int m = (j * n) % 64;
  if (m > 32) m = 64 - m;
  return CosineOfTurn(m, 32);
}

constexpr ChebyshevTables MakeTables() {
  constexpr int kN = kChebyshevOrder;
  ChebyshevTables tables;
  // Angles in units of pi / 32, descending so that points ascend.
  std::array<int, kN> node_angle{};
  std::array<int, kChebyshevChecks> check_angle{};
  for (int k = 0; k < kN; ++k) node_angle[k] = 2 * (kN - 1 - k) + 1;
  for (int i = 0; i <= kN; ++i) check_angle[i] = 2 * (kN - i);
  for (int k = 0; k < kN; ++k) {
    tables.node[k] = static_cast<double>(CosineOfMultiple(1, node_angle[k]));
  }
  for (int i = 0; i <= kN; ++i) {
    tables.check[i] = static_cast<double>(CosineOfMultiple(1, check_angle[i]));
  }
  for (int k = 0; k < kN; ++k) {
    std::array<long double, kN + 2> coefficient{};
    for (int j = 0; j < kN; ++j) {
      coefficient[j] = CosineOfMultiple(j, node_angle[k]) * (j == 0 ? 1.0L : 2.0L) / kN;
      tables.to_coefficient[k][j] = static_cast<double>(coefficient[j]);
    }
    std::array<long double, kN + 1> integral{};
    for (int j = 1; j <= kN; ++j) {
      const long double before = coefficient[j - 1] * (j == 1 ? 2.0L : 1.0L);
      integral[j] = (before - coefficient[j + 1]) / (2 * j);
      integral[0] += (j % 2 == 0 ? -1.0L : 1.0L) * integral[j];
    }
    for (int i = 0; i <= kN; ++i) {
      long double value = 0.0L, area = 0.0L;
      for (int j = 0; j < kN; ++j) value += coefficient[j] * CosineOfMultiple(j, check_angle[i]);
      for (int j = 0; j <= kN; ++j) area += integral[j] * CosineOfMultiple(j, check_angle[i]);
      tables.to_check[k][i] = static_cast<double>(value);
      tables.to_integral[k][i] = i == 0 ? 0.0 : static_cast<double>(area);
    }
  }
  tables.monomial[0][0] = 1.0;
  tables.monomial[1][1] = 1.0;
  for (int j = 2; j < kN; ++j) {
    for (int i = 0; i < kN; ++i) {
      const double shifted = i == 0 ? 0.0 : 2.0 * tables.monomial[j - 1][i - 1];
      tables.monomial[j][i] = shifted - tables.monomial[j - 2][i];
    }
  }
  // Clenshaw-Curtis with 2 N intervals, N = 16.
  for (int n = 0; n <= 2 * kN; ++n) {
    long double sum = 1.0L;
    for (int j = 1; j <= kN; ++j) {
      const long double factor = j == kN ? 1.0L : 2.0L;
      sum -= factor / (4.0L * j * j - 1.0L) * CosineOfMultiple(2 * j, n);
    }
    const long double weight = (n == 0 || n == 2 * kN ? 1.0L : 2.0L) / (2 * kN) * sum;
    for (int k = 0; k < kN; ++k) {
      if (node_angle[k] == n) tables.node_weight[k] = static_cast<double>(weight);
    }
    for (int i = 0; i <= kN; ++i) {
      if (check_angle[i] == n) tables.check_weight[i] = static_cast<double>(weight);
    }
  }
  return tables;
}

}  // namespace chebyshev_internal

inline constexpr ChebyshevTables kChebyshev = chebyshev_internal::MakeTables();

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_CHEBYSHEV_H_
