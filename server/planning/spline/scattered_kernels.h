// SPDX-License-Identifier: Apache-2.0
// Kernels on samples that lie in no order: two lanes work on one sample, as its even and odd
// powers, or as its x and y. Samples are independent, so that the latencies of neighbours overlap.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_SCATTERED_KERNELS_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_SCATTERED_KERNELS_H_

#include "server/planning/spline/lanes.h"
#include "server/planning/spline/sample_kernels.h"

namespace arclane {

// The value at t of polynomials with these rows of coefficients, components c and c + 1.
template <int kDegree, size_t kRows>
inline Lanes PowerPair(const std::array<std::array<double, 4>, kRows>& rows, int c, Lanes t) {
  Lanes v = LoadAlignedLanes(&rows[kDegree][c]);
#pragma GCC unroll 8
  for (int j = kDegree - 1; j >= 0; --j) v = v * t + LoadAlignedLanes(&rows[j][c]);
  return v;
}

template <int kDim, int kDegree, bool kRational, bool kDirections>
void ScatteredPoints(const CurvePiece* pieces, const ArcSpan* spans, const int32_t* span_of,
                     const SampleFrame& frame, const double* t, int count, double* const* position,
                     const DerivativeRows* derivatives) {
  // Components x and y, then z and the weight where they exist.
  constexpr int kPairs = kDim == 3 || kRational ? 2 : 1;
  DerivativeRows rows{};
  if constexpr (kDirections) rows = *derivatives;
  double* const column[3] = {position[0], position[1], kDim == 3 ? position[2] : nullptr};
  const auto store = [](double* const* to, int i, const Lanes* pair) {
    to[0][i] = pair[0][0];
    to[1][i] = pair[0][1];
    if constexpr (kDim == 3) to[2][i] = pair[1][0];
  };
  for (int i = 0; i < count; ++i) {
    const CurvePiece& piece = pieces[spans[span_of[i]].segment];
    const Lanes at = SplatLanes(t[i]);
    Lanes value[2], first[2], second[2];
#pragma GCC unroll 2
    for (int p = 0; p < kPairs; ++p) {
      value[p] = PowerPair<kDegree>(piece.power, 2 * p, at);
      if constexpr (kDirections) {
        first[p] = PowerPair<kDegree - 1>(piece.first_power, 2 * p, at);
        second[p] = SplatLanes(0.0);
        if constexpr (kDegree > 1)
          second[p] = PowerPair<kDegree - 2>(piece.second_power, 2 * p, at);
      }
    }
    if constexpr (kRational) {
      const Lanes inverse = SplatLanes(1.0) / SplatLanes(value[1][1]);
      const double first_weight = kDirections ? first[1][1] : 0.0;
      const double second_weight = kDirections ? second[1][1] : 0.0;
#pragma GCC unroll 2
      for (int p = 0; p < (kDim == 3 ? 2 : 1); ++p) {
        value[p] = value[p] * inverse;
        if constexpr (kDirections) {
          const Lanes local = value[p] * SplatLanes(frame.inverse_scale);
          first[p] = (first[p] - local * SplatLanes(first_weight)) * inverse;
          second[p] = (second[p] - SplatLanes(2.0) * first[p] * SplatLanes(first_weight) -
                       local * SplatLanes(second_weight)) *
                      inverse;
        }
        value[p] = Lanes{frame.origin[2 * p], p == 0 ? frame.origin[1] : 0.0} + value[p];
      }
    }
    store(column, i, value);
    if constexpr (kDirections) {
      store(rows.first, i, first);
      store(rows.second, i, second);
    }
  }
}

template <int kDim, bool kRational, bool kDirections>
ScatteredPointsKernel ScatteredPointsOfDegree(int degree) {
  switch (degree) {
    case 1:
      return ScatteredPoints<kDim, 1, kRational, kDirections>;
    case 2:
      return ScatteredPoints<kDim, 2, kRational, kDirections>;
    case 3:
      return ScatteredPoints<kDim, 3, kRational, kDirections>;
    case 4:
      return ScatteredPoints<kDim, 4, kRational, kDirections>;
    default:
      return ScatteredPoints<kDim, 5, kRational, kDirections>;
  }
}

template <int kDim>
ScatteredPointsKernel SelectScatteredPoints(int degree, bool rational, bool directions) {
  if (rational) {
    return directions ? ScatteredPointsOfDegree<kDim, true, true>(degree)
                      : ScatteredPointsOfDegree<kDim, true, false>(degree);
  }
  return directions ? ScatteredPointsOfDegree<kDim, false, true>(degree)
                    : ScatteredPointsOfDegree<kDim, false, false>(degree);
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_SCATTERED_KERNELS_H_
