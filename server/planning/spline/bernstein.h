// SPDX-License-Identifier: Apache-2.0
// Polynomials of low degree in Bernstein form on [0, 1]: splitting, derivative, product, roots by
// variation of signs. The form keeps end values and end derivatives exact, which the power basis
// does not. Source: Farouki, "The Bernstein polynomial basis: a centennial retrospective", CAGD 29
// (2012), sections 3-5.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_BERNSTEIN_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_BERNSTEIN_H_

#include <array>

namespace arclane {

// Hodographs of rational quintics have degree 8, their squared norm 16.
inline constexpr int kMaxBernsteinDegree = 16;

constexpr double Binomial(int n, int k) {
  double result = 1.0;
  for (int i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

inline constexpr auto kBinomial = [] {
  std::array<std::array<double, kMaxBernsteinDegree + 1>, kMaxBernsteinDegree + 1> table{};
  for (int n = 0; n <= kMaxBernsteinDegree; ++n) {
    for (int k = 0; k <= n; ++k) table[n][k] = Binomial(n, k);
  }
  return table;
}();

// Value at t by de Casteljau's scheme; b holds degree + 1 coefficients.
inline double BernsteinValue(const double* b, int degree, double t) {
  double work[kMaxBernsteinDegree + 1] = {};
  for (int j = 0; j <= degree; ++j) work[j] = b[j];
  for (int r = 1; r <= degree; ++r) {
    for (int j = 0; j <= degree - r; ++j) work[j] += (work[j + 1] - work[j]) * t;
  }
  return work[0];
}

// The same by weighted means, whose terms all have the signs of their coefficients: relative to the
// sum of their magnitudes the error is a few roundings, so that beside an end where coefficients
// are zero the value keeps its digits however small it is.
inline double BernsteinMeans(const double* b, int degree, double t) {
  double work[kMaxBernsteinDegree + 1] = {};
  for (int j = 0; j <= degree; ++j) work[j] = b[j];
  const double rest = 1.0 - t;
  for (int r = 1; r <= degree; ++r) {
    for (int j = 0; j <= degree - r; ++j) work[j] = rest * work[j] + t * work[j + 1];
  }
  return work[0];
}

namespace bernstein_internal {

// kDegree < 0: any.
template <int kDegree>
inline void Split(const double* b, int any_degree, double t, double* left, double* right) {
  constexpr int kRoom = (kDegree < 0 ? kMaxBernsteinDegree : kDegree) + 1;
  const int degree = kDegree < 0 ? any_degree : kDegree;
  double work[kRoom];
  work[0] = left[0] = b[0];
  for (int j = 1; j <= degree; ++j) work[j] = b[j];
  for (int r = 1; r <= degree; ++r) {
    for (int j = 0; j <= degree - r; ++j) work[j] += (work[j + 1] - work[j]) * t;
    left[r] = work[0];
  }
  // What is left of the scheme is the other edge of its triangle.
  for (int j = 0; j <= degree; ++j) right[j] = work[j];
}

}  // namespace bernstein_internal

// Restricts b to [0, t] in `left` and to [t, 1] in `right`; left[degree] == right[0]. `right` may
// be b itself.
inline void BernsteinSplit(const double* b, int degree, double t, double* left, double* right) {
  switch (degree) {
    case 1:
      return bernstein_internal::Split<1>(b, 1, t, left, right);
    case 2:
      return bernstein_internal::Split<2>(b, 2, t, left, right);
    case 3:
      return bernstein_internal::Split<3>(b, 3, t, left, right);
    case 4:
      return bernstein_internal::Split<4>(b, 4, t, left, right);
    default:
      return bernstein_internal::Split<-1>(b, degree, t, left, right);
  }
}

// degree * differences; `out` holds `degree` coefficients (degree >= 1) and may be b itself.
inline void BernsteinDerivative(const double* b, int degree, double* out) {
  for (int j = 0; j < degree; ++j) out[j] = degree * (b[j + 1] - b[j]);
}

// Adds sign * a * b to out, of degree degree_a + degree_b <= kMaxBernsteinDegree.
inline void BernsteinAddProduct(const double* a, int degree_a, const double* b, int degree_b,
                                double sign, double* out) {
  const auto& of_sum = kBinomial[degree_a + degree_b];
  for (int i = 0; i <= degree_a; ++i) {
    const double scaled = sign * kBinomial[degree_a][i] * a[i];
    for (int j = 0; j <= degree_b; ++j) {
      out[i + j] += scaled * kBinomial[degree_b][j] * b[j] / of_sum[i + j];
    }
  }
}

// Power basis in t of the same polynomial; `power` holds degree + 1 coefficients and is not b.
inline void BernsteinToPower(const double* b, int degree, double* power) {
  double difference[kMaxBernsteinDegree + 1];
  for (int j = 0; j <= degree; ++j) difference[j] = b[j];
  for (int k = 0; k <= degree; ++k) {
    power[k] = kBinomial[degree][k] * difference[0];
    for (int j = 0; j < degree - k; ++j) difference[j] = difference[j + 1] - difference[j];
  }
}

// Power basis in x = 2 t - 1 of the same polynomial: better conditioned on the whole interval.
void BernsteinToCentred(const double* b, int degree, double* centred);

// The real roots in (0, 1) where the polynomial changes from negative to positive, ascending;
// returns how many were written (at most `degree`). Roots closer than 2^-40 count once. A stretch
// of zero coefficients has none.
int BernsteinUpwardRoots(const double* b, int degree, double* roots);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_BERNSTEIN_H_
