// SPDX-License-Identifier: Apache-2.0
// Functions on [-1, 1] at symmetric points, as Chebyshev series and as polynomials, each in an even
// and an odd half. Background: Trefethen, "Approximation Theory and Approximation Practice",
// chapters 3 and 19.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_HALVED_SERIES_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_HALVED_SERIES_H_

#include <array>

#include "server/planning/spline/chebyshev.h"
#include "server/planning/spline/lanes.h"

namespace arclane {

// Values at points x[0 .. 7] > 0 and at their negatives.
struct alignas(16) SymmetricValues {
  HalfRow plus;
  HalfRow minus;
};

// Sums and differences of symmetric values, or coefficients of even and odd T_j.
struct alignas(16) Halves {
  HalfRow even;
  HalfRow odd;
};

// result[i] = sum over k of matrix[k][i] * value[k].
inline HalfRow Multiply(const HalfMatrix& matrix, const HalfRow& value) {
  constexpr int kPairs = kHalfOrder / kLaneCount;
  Lanes sum[kPairs];
#pragma GCC unroll 4
  for (int i = 0; i < kPairs; ++i) {
    sum[i] = LoadAlignedLanes(&matrix[0][kLaneCount * i]) * SplatLanes(value[0]);
  }
#pragma GCC unroll 8
  for (int k = 1; k < kHalfOrder; ++k) {
    const Lanes v = SplatLanes(value[k]);
#pragma GCC unroll 4
    for (int i = 0; i < kPairs; ++i) {
      sum[i] += LoadAlignedLanes(&matrix[k][kLaneCount * i]) * v;
    }
  }
  HalfRow result;
#pragma GCC unroll 4
  for (int i = 0; i < kPairs; ++i) StoreLanes(&result[kLaneCount * i], sum[i]);
  return result;
}

inline double Dot(const HalfRow& a, const HalfRow& b) {
  Lanes sum = LoadLanes(&a[0]) * LoadLanes(&b[0]);
  for (int i = kLaneCount; i < kHalfOrder; i += kLaneCount) {
    sum += LoadLanes(&a[i]) * LoadLanes(&b[i]);
  }
  return sum[0] + sum[1];
}

inline Halves SumsAndDifferences(const SymmetricValues& value) {
  Halves halves;
  for (int k = 0; k < kHalfOrder; k += kLaneCount) {
    const Lanes plus = LoadLanes(&value.plus[k]), minus = LoadLanes(&value.minus[k]);
    StoreLanes(&halves.even[k], plus + minus);
    StoreLanes(&halves.odd[k], plus - minus);
  }
  return halves;
}

// The inverse of SumsAndDifferences, but for a factor of two: values from the two halves.
inline SymmetricValues ValuesOfHalves(const HalfRow& even, const HalfRow& odd) {
  SymmetricValues value;
  for (int k = 0; k < kHalfOrder; k += kLaneCount) {
    const Lanes e = LoadLanes(&even[k]), o = LoadLanes(&odd[k]);
    StoreLanes(&value.plus[k], e + o);
    StoreLanes(&value.minus[k], e - o);
  }
  return value;
}

// Chebyshev coefficients of the interpolant, from sums and differences at the nodes.
inline Halves SeriesOf(const Halves& sums) {
  return {Multiply(kChebyshev.even_coefficient, sums.even),
          Multiply(kChebyshev.odd_coefficient, sums.odd)};
}

// Coefficients of x^0, x^1, .. x^15.
using Powers = std::array<double, kChebyshevOrder>;

inline Powers PowersOf(const Halves& series) {
  const HalfRow even = Multiply(kChebyshev.even_monomial, series.even);
  const HalfRow odd = Multiply(kChebyshev.odd_monomial, series.odd);
  Powers power;
  for (int j = 0; j < kHalfOrder; ++j) {
    power[2 * j] = even[j];
    power[2 * j + 1] = odd[j];
  }
  return power;
}

// The polynomial at the 16 points of x, by even and odd powers apart.
inline SymmetricValues EvaluatePowers(const Powers& power, const SymmetricValues& x) {
  constexpr int kPairs = kHalfOrder / kLaneCount;
  SymmetricValues value;
  const auto evaluate = [&power](const HalfRow& at, HalfRow& out) {
    Lanes w[kPairs], even[kPairs], odd[kPairs];
#pragma GCC unroll 4
    for (int u = 0; u < kPairs; ++u) {
      const Lanes z = LoadLanes(&at[kLaneCount * u]);
      w[u] = z * z;
      even[u] = SplatLanes(power[kChebyshevOrder - 2]);
      odd[u] = SplatLanes(power[kChebyshevOrder - 1]);
    }
#pragma GCC unroll 8
    for (int j = kChebyshevOrder - 4; j >= 0; j -= 2) {
      const Lanes e = SplatLanes(power[j]), o = SplatLanes(power[j + 1]);
#pragma GCC unroll 4
      for (int u = 0; u < kPairs; ++u) {
        even[u] = even[u] * w[u] + e;
        odd[u] = odd[u] * w[u] + o;
      }
    }
#pragma GCC unroll 4
    for (int u = 0; u < kPairs; ++u) {
      StoreLanes(&out[kLaneCount * u], even[u] + LoadLanes(&at[kLaneCount * u]) * odd[u]);
    }
  };
  evaluate(x.plus, value.plus);
  evaluate(x.minus, value.minus);
  return value;
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_HALVED_SERIES_H_
