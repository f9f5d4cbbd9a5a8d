// SPDX-License-Identifier: Apache-2.0
// The inner loops of sampling: t(s) within one span, then positions and derivatives on one piece.
//
// All columns are scratch rows of the sampler: kernels work on groups of kGroup samples and may
// read and write up to kGroup - 1 values beyond `count`. The operations on one sample are the same,
// in the same order, whatever the number of samples around it, so its bits are too.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_SAMPLE_KERNELS_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_SAMPLE_KERNELS_H_

#include <cmath>

#include "server/planning/spline/arc_span.h"
#include "server/planning/spline/curve.h"
#include "server/planning/spline/lanes.h"

namespace arclane {

// Four pairs of lanes hide the latency of one Horner step.
inline constexpr int kLanesPerGroup = 4;
inline constexpr int kGroup = kLanesPerGroup * kLaneCount;

inline double SqrtOf(double v) { return std::sqrt(v); }
inline Lanes SqrtOf(Lanes v) { return SqrtLanes(v); }
inline double MaxOf(double a, double b) { return a > b ? a : b; }
inline Lanes MaxOf(Lanes a, Lanes b) { return MaxLanes(a, b); }
inline double MinOf(double a, double b) { return a < b ? a : b; }
inline Lanes MinOf(Lanes a, Lanes b) { return MinLanes(a, b); }
template <typename T>
inline T SplatOf(double value) {
  if constexpr (sizeof(T) == sizeof(double)) {
    return value;
  } else {
    return SplatLanes(value);
  }
}

// Even and odd powers apart: two short chains instead of a long one. kDegree is odd.
template <int kDegree, typename T>
inline T ParameterPolynomial(const double* coefficient, T z) {
  static_assert(kDegree % 2 == 1);
  const T w = z * z;
  T even = SplatOf<T>(coefficient[kDegree - 1]);
  T odd = SplatOf<T>(coefficient[kDegree]);
#pragma GCC unroll 8
  for (int j = kDegree - 3; j >= 0; j -= 2) {
    even = even * w + SplatOf<T>(coefficient[j]);
    odd = odd * w + SplatOf<T>(coefficient[j + 1]);
  }
  return even + z * odd;
}

// y^(1/root) for roots above 2, which only coincident controls give.
inline double HighRoot(double y, int root) {
  return root == 3 ? std::cbrt(y) : std::pow(y, 1.0 / root);
}
inline Lanes HighRoot(Lanes y, int root) {
  return Lanes{HighRoot(y[0], root), HighRoot(y[1], root)};
}

// z in [-1, 1] of a local distance in the span.
template <int kRoot, typename T>
inline T SpanVariable(const ArcSpan& span, T distance) {
  T y = (distance - SplatOf<T>(span.base)) * SplatOf<T>(span.rate);
  if constexpr (kRoot == 1) return (y + y) - SplatOf<T>(1.0);
  y = MaxOf(y, SplatOf<T>(0.0));
  if constexpr (kRoot == 2) {
    y = SqrtOf(y);
  } else {
    y = HighRoot(y, span.root);
  }
  return (y + y) - SplatOf<T>(1.0);
}

template <int kDegree, int kRoot, typename T>
inline T SpanParameterOf(const ArcSpan& span, T distance) {
  const T t = ParameterPolynomial<kDegree, T>(span.coefficient.data(),
                                              SpanVariable<kRoot, T>(span, distance));
  return MinOf(MaxOf(t, SplatOf<T>(span.t_begin)), SplatOf<T>(span.t_end));
}

template <int kDegree, int kRoot>
inline void SpanParameters(const ArcSpan& span, const double* distance, int count,
                           double* parameter) {
  for (int i = 0; i < count; i += kGroup) {
    Lanes t[kLanesPerGroup];
#pragma GCC unroll 4
    for (int u = 0; u < kLanesPerGroup; ++u) {
      t[u] = SpanParameterOf<kDegree, kRoot, Lanes>(span, LoadLanes(distance + i + kLaneCount * u));
    }
#pragma GCC unroll 4
    for (int u = 0; u < kLanesPerGroup; ++u) StoreLanes(parameter + i + kLaneCount * u, t[u]);
  }
}

template <int kRoot>
inline void SpanParametersOfRoot(const ArcSpan& span, const double* distance, int count,
                                 double* parameter) {
  switch (span.degree) {
    case 7:
      return SpanParameters<7, kRoot>(span, distance, count, parameter);
    case 11:
      return SpanParameters<11, kRoot>(span, distance, count, parameter);
    default:
      return SpanParameters<15, kRoot>(span, distance, count, parameter);
  }
}

// t of local distances that all lie in the span.
inline void ParametersOfSpan(const ArcSpan& span, const double* distance, int count,
                             double* parameter) {
  if (span.root == 1) return SpanParametersOfRoot<1>(span, distance, count, parameter);
  if (span.root == 2) return SpanParametersOfRoot<2>(span, distance, count, parameter);
  SpanParametersOfRoot<3>(span, distance, count, parameter);
}

// The same for one distance. The unused coefficients are zero: the full degree gives the same bits
// without a branch.
inline double ParameterOfSpan(const ArcSpan& span, double distance) {
  if (span.root == 1) return SpanParameterOf<kChebyshevOrder - 1, 1, double>(span, distance);
  if (span.root == 2) return SpanParameterOf<kChebyshevOrder - 1, 2, double>(span, distance);
  return SpanParameterOf<kChebyshevOrder - 1, 3, double>(span, distance);
}

// Frame of the curve as the kernels need it.
struct SampleFrame {
  double origin[3];
  double scale;
  double inverse_scale;
};

// Scratch rows of a run of samples.
struct RunColumns {
  double* position[3];
  double* tangent[3];
  double* curvature;
  double* squared_speed;  // |dr/dt|^2, local units.
};

// Value and derivatives of the pieces' polynomials at t; kDerivatives is 0 or 2. value[k][c] is the
// k-th derivative of component c, c = 3 being the weight.
template <int kDim, int kDegree, bool kRational, int kDerivatives, typename T>
inline void PowerValues(const CurvePiece& piece, T t, T value[3][4]) {
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    if (c >= kDim && !(kRational && c == 3)) continue;
    T v = SplatOf<T>(piece.power[kDegree][c]);
#pragma GCC unroll 8
    for (int j = kDegree - 1; j >= 0; --j) v = v * t + SplatOf<T>(piece.power[j][c]);
    value[0][c] = v;
    if constexpr (kDerivatives > 0) {
      T d = SplatOf<T>(piece.first_power[kDegree - 1][c]);
#pragma GCC unroll 8
      for (int j = kDegree - 2; j >= 0; --j) d = d * t + SplatOf<T>(piece.first_power[j][c]);
      value[1][c] = d;
      T s = SplatOf<T>(kDegree > 1 ? piece.second_power[kDegree > 1 ? kDegree - 2 : 0][c] : 0.0);
#pragma GCC unroll 8
      for (int j = kDegree - 3; j >= 0; --j) s = s * t + SplatOf<T>(piece.second_power[j][c]);
      value[2][c] = s;
    }
  }
}

template <int kDim, typename T>
inline T CrossOfDerivatives(const T* first, const T* second) {
  if constexpr (kDim == 2) {
    return first[0] * second[1] - first[1] * second[0];
  } else {
    const T x = first[1] * second[2] - first[2] * second[1];
    const T y = first[2] * second[0] - first[0] * second[2];
    const T z = first[0] * second[1] - first[1] * second[0];
    return SqrtOf(x * x + y * y + z * z);
  }
}

template <typename T>
inline void StoreOf(double* p, T v) {
  if constexpr (sizeof(T) == sizeof(double)) {
    *p = v;
  } else {
    StoreLanes(p, v);
  }
}

template <int kDim, int kDegree, bool kRational, bool kDirections, typename T>
inline void EvaluateSamples(const CurvePiece& piece, const SampleFrame& frame, T t, int i,
                            const RunColumns& out) {
  T value[3][4];
  PowerValues<kDim, kDegree, kRational, kDirections ? 2 : 0, T>(piece, t, value);
  if constexpr (kRational) {
    const T inverse = SplatOf<T>(1.0) / value[0][3];
#pragma GCC unroll 3
    for (int c = 0; c < kDim; ++c) {
      value[0][c] = value[0][c] * inverse;
      if constexpr (kDirections) {
        value[1][c] = (value[1][c] - value[0][c] * value[1][3]) * inverse;
        value[2][c] = (value[2][c] - SplatOf<T>(2.0) * value[1][c] * value[1][3] -
                       value[0][c] * value[2][3]) *
                      inverse;
      }
    }
  }
#pragma GCC unroll 3
  for (int c = 0; c < kDim; ++c) {
    StoreOf(out.position[c] + i,
            SplatOf<T>(frame.origin[c]) + SplatOf<T>(frame.scale) * value[0][c]);
  }
  if constexpr (kDirections) {
    T squared = value[1][0] * value[1][0] + value[1][1] * value[1][1];
    if constexpr (kDim == 3) squared = squared + value[1][2] * value[1][2];
    const T inverse = SplatOf<T>(1.0) / SqrtOf(squared);
#pragma GCC unroll 3
    for (int c = 0; c < kDim; ++c) StoreOf(out.tangent[c] + i, value[1][c] * inverse);
    const T cross = CrossOfDerivatives<kDim, T>(value[1], value[2]);
    StoreOf(out.curvature + i,
            cross * inverse * (inverse * inverse) * SplatOf<T>(frame.inverse_scale));
    StoreOf(out.squared_speed + i, squared);
  }
}

template <int kDim, int kDegree, bool kRational, bool kDirections>
inline void RunSamples(const CurvePiece& piece, const SampleFrame& frame, const double* t,
                       int count, const RunColumns& out) {
  if (count == 1) {
    EvaluateSamples<kDim, kDegree, kRational, kDirections, double>(piece, frame, t[0], 0, out);
    return;
  }
  for (int i = 0; i < count; i += 2 * kLaneCount) {
    const Lanes first = LoadLanes(t + i), second = LoadLanes(t + i + kLaneCount);
    EvaluateSamples<kDim, kDegree, kRational, kDirections, Lanes>(piece, frame, first, i, out);
    EvaluateSamples<kDim, kDegree, kRational, kDirections, Lanes>(piece, frame, second,
                                                                  i + kLaneCount, out);
  }
}

template <int kDim, bool kRational, bool kDirections>
inline void SamplesOfDegree(const CurvePiece& piece, const SampleFrame& frame, const double* t,
                            int count, const RunColumns& out) {
  switch (piece.degree) {
    case 1:
      return RunSamples<kDim, 1, kRational, kDirections>(piece, frame, t, count, out);
    case 2:
      return RunSamples<kDim, 2, kRational, kDirections>(piece, frame, t, count, out);
    case 3:
      return RunSamples<kDim, 3, kRational, kDirections>(piece, frame, t, count, out);
    case 4:
      return RunSamples<kDim, 4, kRational, kDirections>(piece, frame, t, count, out);
    default:
      return RunSamples<kDim, 5, kRational, kDirections>(piece, frame, t, count, out);
  }
}

// Positions, and tangents and curvatures when `directions`, of parameters on one piece.
template <int kDim>
inline void SamplesOfPiece(const CurvePiece& piece, const SampleFrame& frame, const double* t,
                           int count, bool directions, const RunColumns& out) {
  if (piece.rational) {
    return directions ? SamplesOfDegree<kDim, true, true>(piece, frame, t, count, out)
                      : SamplesOfDegree<kDim, true, false>(piece, frame, t, count, out);
  }
  return directions ? SamplesOfDegree<kDim, false, true>(piece, frame, t, count, out)
                    : SamplesOfDegree<kDim, false, false>(piece, frame, t, count, out);
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_SAMPLE_KERNELS_H_
