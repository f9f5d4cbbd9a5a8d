// SPDX-License-Identifier: Apache-2.0
// The inner loops of sampling: t(s) within one span, then positions and derivatives on one piece.
// Every loop runs over samples with independent iterations and degrees known at compile time, so
// that compilers vectorise it; the operations on one sample are the same and in the same order
// whatever the number of samples, so its bits are too.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_SAMPLE_KERNELS_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_SAMPLE_KERNELS_H_

#include <cmath>

#include "server/planning/spline/arc_span.h"
#include "server/planning/spline/curve.h"

namespace arclane {

// Even and odd powers apart: two short chains instead of a long one. kDegree is odd.
template <int kDegree>
inline double ParameterPolynomial(const double* coefficient, double z) {
  static_assert(kDegree % 2 == 1);
  const double w = z * z;
  double even = coefficient[kDegree - 1];
  double odd = coefficient[kDegree];
#pragma GCC unroll 8
  for (int j = kDegree - 3; j >= 0; j -= 2) {
    even = even * w + coefficient[j];
    odd = odd * w + coefficient[j + 1];
  }
  return even + z * odd;
}

// y^(1/root) for y in [0, 1], mapped to [-1, 1].
template <int kRoot>
inline double SpanVariable(double y, int root) {
  double r = y > 0.0 ? y : 0.0;
  if constexpr (kRoot == 2) {
    r = std::sqrt(r);
  } else if constexpr (kRoot > 2) {
    r = root == 3 ? std::cbrt(r) : std::pow(r, 1.0 / root);
  }
  return 2.0 * r - 1.0;
}

template <int kDegree, int kRoot, bool kFromEnd>
inline void SpanParameters(const ArcSpan& span, const double* __restrict distance, int count,
                           double* __restrict parameter) {
  const double base = kFromEnd ? span.end : span.begin;
  const double inverse_length = span.inverse_length;
  const double low = span.t_begin, high = span.t_end;
  double c[kDegree + 1];
  for (int j = 0; j <= kDegree; ++j) c[j] = span.coefficient[j];
  for (int i = 0; i < count; ++i) {
    const double from_slow = kFromEnd ? base - distance[i] : distance[i] - base;
    const double z = SpanVariable<kRoot>(from_slow * inverse_length, span.root);
    double t = ParameterPolynomial<kDegree>(c, z);
    t = t < low ? low : t;
    parameter[i] = t > high ? high : t;
  }
}

template <int kDegree>
inline void SpanParametersOfRoot(const ArcSpan& span, const double* distance, int count,
                                 double* parameter) {
  if (span.root == 1) {
    return span.from_end ? SpanParameters<kDegree, 1, true>(span, distance, count, parameter)
                         : SpanParameters<kDegree, 1, false>(span, distance, count, parameter);
  }
  if (span.root == 2) {
    return span.from_end ? SpanParameters<kDegree, 2, true>(span, distance, count, parameter)
                         : SpanParameters<kDegree, 2, false>(span, distance, count, parameter);
  }
  return span.from_end ? SpanParameters<kDegree, 3, true>(span, distance, count, parameter)
                       : SpanParameters<kDegree, 3, false>(span, distance, count, parameter);
}

// t of local distances that all lie in the span.
inline void ParametersOfSpan(const ArcSpan& span, const double* distance, int count,
                             double* parameter) {
  switch (span.degree) {
    case 7:
      return SpanParametersOfRoot<7>(span, distance, count, parameter);
    case 11:
      return SpanParametersOfRoot<11>(span, distance, count, parameter);
    default:
      return SpanParametersOfRoot<15>(span, distance, count, parameter);
  }
}

// Frame of the curve as the kernels need it.
struct SampleFrame {
  double origin[3];
  double scale;
  double inverse_scale;
};

// Where a run of samples goes; no pointer is null.
struct RunColumns {
  double* position[3];
  double* tangent[3];
  double* curvature;
  double* squared_speed;  // |dr/dt|^2, local units.
};

template <int kDim, int kDegree>
inline void PolynomialPositions(const CurvePiece& piece, const SampleFrame& frame,
                                const double* __restrict t, int count, const RunColumns& out) {
  for (int c = 0; c < kDim; ++c) {
    double p[kDegree + 1];
    for (int j = 0; j <= kDegree; ++j) p[j] = piece.power[c][j];
    const double origin = frame.origin[c], scale = frame.scale;
    double* __restrict column = out.position[c];
    for (int i = 0; i < count; ++i) {
      double value = p[kDegree];
#pragma GCC unroll 8
      for (int j = kDegree - 1; j >= 0; --j) value = value * t[i] + p[j];
      column[i] = origin + scale * value;
    }
  }
}

template <int kDim>
inline double CrossOfDerivatives(const double* first, const double* second) {
  if constexpr (kDim == 2) {
    return first[0] * second[1] - first[1] * second[0];
  } else {
    const double x = first[1] * second[2] - first[2] * second[1];
    const double y = first[2] * second[0] - first[0] * second[2];
    const double z = first[0] * second[1] - first[1] * second[0];
    return std::sqrt(x * x + y * y + z * z);
  }
}

template <int kDim>
inline void StoreDirection(const double* first, const double* second, double inverse_scale, int i,
                           double* __restrict const* tangent, double* __restrict curvature,
                           double* __restrict squared_speed) {
  double squared = 0.0;
  for (int c = 0; c < kDim; ++c) squared += first[c] * first[c];
  const double inverse = 1.0 / std::sqrt(squared);
  for (int c = 0; c < kDim; ++c) tangent[c][i] = first[c] * inverse;
  const double cross = CrossOfDerivatives<kDim>(first, second);
  curvature[i] = cross * inverse * (inverse * inverse) * inverse_scale;
  squared_speed[i] = squared;
}

template <int kDim, int kDegree>
inline void PolynomialDirections(const CurvePiece& piece, const SampleFrame& frame,
                                 const double* __restrict t, int count, const RunColumns& out) {
  double d1[kDim][kDegree], d2[kDim][kDegree];
  for (int c = 0; c < kDim; ++c) {
    for (int j = 0; j < kDegree; ++j) d1[c][j] = (j + 1) * piece.power[c][j + 1];
    for (int j = 0; j + 1 < kDegree; ++j) d2[c][j] = (j + 1) * d1[c][j + 1];
    if (kDegree == 1) d2[c][0] = 0.0;
  }
  double* __restrict tangent[3] = {out.tangent[0], out.tangent[1], out.tangent[2]};
  double* __restrict curvature = out.curvature;
  double* __restrict squared_speed = out.squared_speed;
  const double inverse_scale = frame.inverse_scale;
  for (int i = 0; i < count; ++i) {
    double first[kDim], second[kDim];
#pragma GCC unroll 3
    for (int c = 0; c < kDim; ++c) {
      first[c] = d1[c][kDegree - 1];
#pragma GCC unroll 8
      for (int j = kDegree - 2; j >= 0; --j) first[c] = first[c] * t[i] + d1[c][j];
      second[c] = d2[c][kDegree > 1 ? kDegree - 2 : 0];
#pragma GCC unroll 8
      for (int j = kDegree - 3; j >= 0; --j) second[c] = second[c] * t[i] + d2[c][j];
    }
    StoreDirection<kDim>(first, second, inverse_scale, i, tangent, curvature, squared_speed);
  }
}

// Value and, when wanted, two derivatives of a power-basis polynomial.
inline void PowerDerivatives(const CurvePiece::Row& power, int degree, double t, double* value) {
  double v = power[degree], d = 0.0, s = 0.0;
  for (int j = degree - 1; j >= 0; --j) {
    s = s * t + d;
    d = d * t + v;
    v = v * t + power[j];
  }
  value[0] = v;
  value[1] = d;
  value[2] = 2.0 * s;
}

template <int kDim>
inline void RationalSamples(const CurvePiece& piece, const SampleFrame& frame,
                            const double* __restrict t, int count, bool directions,
                            const RunColumns& out) {
  double* __restrict tangent[3] = {out.tangent[0], out.tangent[1], out.tangent[2]};
  for (int i = 0; i < count; ++i) {
    double w[3], first[kDim], second[kDim];
    PowerDerivatives(piece.weight_power, piece.degree, t[i], w);
    const double inverse = 1.0 / w[0];
    for (int c = 0; c < kDim; ++c) {
      double n[3];
      PowerDerivatives(piece.power[c], piece.degree, t[i], n);
      const double r = n[0] * inverse;
      first[c] = (n[1] - r * w[1]) * inverse;
      second[c] = (n[2] - 2.0 * first[c] * w[1] - r * w[2]) * inverse;
      out.position[c][i] = frame.origin[c] + frame.scale * r;
    }
    if (!directions) continue;
    StoreDirection<kDim>(first, second, frame.inverse_scale, i, tangent, out.curvature,
                         out.squared_speed);
  }
}

template <int kDim, int kDegree>
inline void PolynomialSamples(const CurvePiece& piece, const SampleFrame& frame, const double* t,
                              int count, bool directions, const RunColumns& out) {
  PolynomialPositions<kDim, kDegree>(piece, frame, t, count, out);
  if (directions) PolynomialDirections<kDim, kDegree>(piece, frame, t, count, out);
}

template <int kDim>
inline void PieceSamples(const CurvePiece& piece, const SampleFrame& frame, const double* t,
                         int count, bool directions, const RunColumns& out) {
  if (piece.rational) return RationalSamples<kDim>(piece, frame, t, count, directions, out);
  switch (piece.degree) {
    case 1:
      return PolynomialSamples<kDim, 1>(piece, frame, t, count, directions, out);
    case 2:
      return PolynomialSamples<kDim, 2>(piece, frame, t, count, directions, out);
    case 3:
      return PolynomialSamples<kDim, 3>(piece, frame, t, count, directions, out);
    case 4:
      return PolynomialSamples<kDim, 4>(piece, frame, t, count, directions, out);
    default:
      return PolynomialSamples<kDim, 5>(piece, frame, t, count, directions, out);
  }
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_SAMPLE_KERNELS_H_
