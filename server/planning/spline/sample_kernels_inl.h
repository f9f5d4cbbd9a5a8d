// SPDX-License-Identifier: Apache-2.0
// Kernels on runs of samples, written once for every width of vector. No include guard: each
// including file defines ARCLANE_KERNELS (a namespace), ARCLANE_LANES (2 or 4) and ARCLANE_TARGET
// (attributes of the functions), and includes everything that is used here beforehand.
namespace arclane::ARCLANE_KERNELS {

#define ARCLANE_INLINE ARCLANE_TARGET inline __attribute__((always_inline))

inline constexpr int kLanes = ARCLANE_LANES;
typedef double V __attribute__((vector_size(8 * ARCLANE_LANES)));
typedef double UnalignedV __attribute__((vector_size(8 * ARCLANE_LANES), aligned(8), may_alias));

ARCLANE_INLINE V Load(const double* p) { return *reinterpret_cast<const UnalignedV*>(p); }
ARCLANE_INLINE void Store(double* p, V v) { *reinterpret_cast<UnalignedV*>(p) = v; }

#if ARCLANE_LANES == 4
ARCLANE_INLINE V Splat(double value) { return V{value, value, value, value}; }
ARCLANE_INLINE V Sqrt(V v) { return _mm256_sqrt_pd(v); }
// a where a > b (a < b), else b: a NaN in `a` gives b.
ARCLANE_INLINE V Max(V a, V b) { return _mm256_max_pd(a, b); }
ARCLANE_INLINE V Min(V a, V b) { return _mm256_min_pd(a, b); }
#else
ARCLANE_INLINE V Splat(double value) { return SplatLanes(value); }
ARCLANE_INLINE V Sqrt(V v) { return SqrtLanes(v); }
ARCLANE_INLINE V Max(V a, V b) { return MaxLanes(a, b); }
ARCLANE_INLINE V Min(V a, V b) { return MinLanes(a, b); }
#endif

// z in [-1, 1] of a local distance in the span.
template <int kRoot>
ARCLANE_INLINE V SpanVariable(const ArcSpan& span, V distance) {
  V u = (distance - Splat(span.base)) * Splat(span.rate);
  if constexpr (kRoot == 2) u = Sqrt(Max(u, Splat(0.0)));
  if constexpr (kRoot > 2) {
    for (int k = 0; k < kLanes; ++k) u[k] = HighRoot(u[k], span.root);
  }
  return u - Splat(span.shift);
}

// Even and odd powers apart: two short chains instead of a long one. kVectors of samples at a time
// hide the latency of a step.
template <int kDegree, int kRoot, int kVectors>
ARCLANE_INLINE void ParameterGroup(const ArcSpan& span, const double* distance, double* parameter) {
  static_assert(kDegree % 2 == 1);
  V z[kVectors], w[kVectors], even[kVectors], odd[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    z[v] = SpanVariable<kRoot>(span, Load(distance + kLanes * v));
    w[v] = z[v] * z[v];
    even[v] = Splat(span.coefficient[kDegree - 1]);
    odd[v] = Splat(span.coefficient[kDegree]);
  }
#pragma GCC unroll 8
  for (int j = kDegree - 3; j >= 0; j -= 2) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      even[v] = even[v] * w[v] + Splat(span.coefficient[j]);
      odd[v] = odd[v] * w[v] + Splat(span.coefficient[j + 1]);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const V t = even[v] + z[v] * odd[v];
    Store(parameter + kLanes * v, Min(Max(t, Splat(span.t_begin)), Splat(span.t_end)));
  }
}

template <int kDegree, int kRoot>
ARCLANE_TARGET void ParametersOfDegree(const ArcSpan& span, const double* distance, int count,
                                       double* parameter) {
  constexpr int kVectors = 4;
  int i = 0;
  for (; i + kLanes < count; i += kLanes * kVectors) {
    ParameterGroup<kDegree, kRoot, kVectors>(span, distance + i, parameter + i);
  }
  for (; i < count; i += kLanes) {
    ParameterGroup<kDegree, kRoot, 1>(span, distance + i, parameter + i);
  }
}

template <int kRoot>
ARCLANE_TARGET void ParametersOfRoot(const ArcSpan& span, const double* distance, int count,
                                     double* parameter) {
  switch (span.degree) {
    case 1:
    case 3:
    case 5:
      return ParametersOfDegree<5, kRoot>(span, distance, count, parameter);
    case 7:
      return ParametersOfDegree<7, kRoot>(span, distance, count, parameter);
    case 9:
      return ParametersOfDegree<9, kRoot>(span, distance, count, parameter);
    case 11:
      return ParametersOfDegree<11, kRoot>(span, distance, count, parameter);
    case 13:
      return ParametersOfDegree<13, kRoot>(span, distance, count, parameter);
    default:
      return ParametersOfDegree<15, kRoot>(span, distance, count, parameter);
  }
}

ARCLANE_TARGET void ParametersOfSpan(const ArcSpan& span, const double* distance, int count,
                                     double* parameter) {
  if (span.root == 1) return ParametersOfRoot<1>(span, distance, count, parameter);
  if (span.root == 2) return ParametersOfRoot<2>(span, distance, count, parameter);
  ParametersOfRoot<3>(span, distance, count, parameter);
}

// The polynomials of a piece, each coefficient in all lanes. Components are x, y, z and the weight.
template <int kDim, int kDegree, bool kRational, bool kDerivatives>
struct PieceVectors {
  static constexpr bool Has(int c) { return c < kDim || (kRational && c == 3); }

  ARCLANE_INLINE explicit PieceVectors(const CurvePiece& piece) {
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      if (!Has(c)) continue;
#pragma GCC unroll 8
      for (int j = 0; j <= kDegree; ++j) power[j][c] = Splat(piece.power[j][c]);
#pragma GCC unroll 8
      for (int j = 0; kDerivatives && j < kDegree; ++j) {
        first[j][c] = Splat(piece.first_power[j][c]);
      }
#pragma GCC unroll 8
      for (int j = 0; kDerivatives && j < kDegree - 1; ++j) {
        second[j][c] = Splat(piece.second_power[j][c]);
      }
    }
  }

  V power[kDegree + 1][4];
  V first[kDegree][4];
  V second[kDegree > 1 ? kDegree - 1 : 1][4];
};

// Value and, with kDerivatives, derivatives at t: value[k][c] is the k-th of component c.
template <int kDim, int kDegree, bool kRational, bool kDerivatives>
ARCLANE_INLINE void PowerValues(const PieceVectors<kDim, kDegree, kRational, kDerivatives>& piece,
                                V t, V value[3][4]) {
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    if (!piece.Has(c)) continue;
    V v = piece.power[kDegree][c];
#pragma GCC unroll 8
    for (int j = kDegree - 1; j >= 0; --j) v = v * t + piece.power[j][c];
    value[0][c] = v;
    if constexpr (kDerivatives) {
      V d = piece.first[kDegree - 1][c];
#pragma GCC unroll 8
      for (int j = kDegree - 2; j >= 0; --j) d = d * t + piece.first[j][c];
      value[1][c] = d;
      V s = kDegree > 1 ? piece.second[kDegree > 1 ? kDegree - 2 : 0][c] : Splat(0.0);
#pragma GCC unroll 8
      for (int j = kDegree - 3; j >= 0; --j) s = s * t + piece.second[j][c];
      value[2][c] = s;
    }
  }
}

// Unit tangent, curvature and squared speed of sample i on; returns the squared speed.
template <int kDim>
ARCLANE_INLINE V WriteDirections(const V* first, const V* second, double inverse_scale, int i,
                                 const RunColumns& out) {
  V squared = first[0] * first[0] + first[1] * first[1];
  if constexpr (kDim == 3) squared = squared + first[2] * first[2];
  const V inverse = Splat(1.0) / Sqrt(squared);
#pragma GCC unroll 3
  for (int c = 0; c < kDim; ++c) Store(out.tangent[c] + i, first[c] * inverse);
  V cross;
  if constexpr (kDim == 2) {
    cross = first[0] * second[1] - first[1] * second[0];
  } else {
    const V x = first[1] * second[2] - first[2] * second[1];
    const V y = first[2] * second[0] - first[0] * second[2];
    const V z = first[0] * second[1] - first[1] * second[0];
    cross = Sqrt(x * x + y * y + z * z);
  }
  Store(out.curvature + i, cross * inverse * (inverse * inverse) * Splat(inverse_scale));
  Store(out.squared_speed + i, squared);
  return squared;
}

template <int kDim, int kDegree, bool kRational, bool kDirections>
ARCLANE_INLINE V WritePoints(const PieceVectors<kDim, kDegree, kRational, kDirections>& piece,
                             const SampleFrame& frame, V t, int i, const RunColumns& out) {
  V value[3][4];
  PowerValues(piece, t, value);
  V inverse;
  if constexpr (kRational) inverse = Splat(1.0) / value[0][3];
#pragma GCC unroll 3
  for (int c = 0; c < kDim; ++c) {
    if constexpr (kRational) {
      value[0][c] = value[0][c] * inverse;
      Store(out.position[c] + i, Splat(frame.origin[c]) + value[0][c]);
    } else {
      Store(out.position[c] + i, value[0][c]);
    }
  }
  if constexpr (kDirections) {
#pragma GCC unroll 3
    for (int c = 0; kRational && c < kDim; ++c) {
      const V local = value[0][c] * Splat(frame.inverse_scale);
      value[1][c] = (value[1][c] - local * value[1][3]) * inverse;
      value[2][c] =
          (value[2][c] - Splat(2.0) * value[1][c] * value[1][3] - local * value[2][3]) * inverse;
    }
    return WriteDirections<kDim>(value[1], value[2], frame.inverse_scale, i, out);
  }
  return Splat(0.0);
}

ARCLANE_INLINE double LeastOf(V v) {
  double least = v[0];
  for (int k = 1; k < kLanes; ++k) least = v[k] < least ? v[k] : least;
  return least;
}

template <int kDim, int kDegree, bool kRational, bool kDirections>
ARCLANE_TARGET double PointsOfRun(const CurvePiece& piece, const SampleFrame& frame,
                                  const double* t, int count, const RunColumns& columns) {
  const PieceVectors<kDim, kDegree, kRational, kDirections> vectors(piece);
  const RunColumns out = columns;
  V least = Splat(__builtin_inf());
  int i = 0;
  for (; i + kLanes < count; i += 2 * kLanes) {
    const V first = Load(t + i), second = Load(t + i + kLanes);
    const V a = WritePoints(vectors, frame, first, i, out);
    const V b = WritePoints(vectors, frame, second, i + kLanes, out);
    if constexpr (kDirections) least = Min(b, Min(a, least));
  }
  if (i < count) {
    const V a = WritePoints(vectors, frame, Load(t + i), i, out);
    if constexpr (kDirections) least = Min(a, least);
  }
  return LeastOf(least);
}

template <int kDim>
ARCLANE_TARGET double DirectionsOfRows(const DerivativeRows& rows, const SampleFrame& frame,
                                       int count, const RunColumns& columns) {
  const RunColumns out = columns;
  V least = Splat(__builtin_inf());
  for (int i = 0; i < count; i += kLanes) {
    V first[3], second[3];
#pragma GCC unroll 3
    for (int c = 0; c < kDim; ++c) {
      first[c] = Load(rows.first[c] + i);
      second[c] = Load(rows.second[c] + i);
    }
    least = Min(WriteDirections<kDim>(first, second, frame.inverse_scale, i, out), least);
  }
  return LeastOf(least);
}

template <int kDim, bool kRational, bool kDirections>
PointsKernel PointsOfDegree(int degree) {
  switch (degree) {
    case 1:
      return PointsOfRun<kDim, 1, kRational, kDirections>;
    case 2:
      return PointsOfRun<kDim, 2, kRational, kDirections>;
    case 3:
      return PointsOfRun<kDim, 3, kRational, kDirections>;
    case 4:
      return PointsOfRun<kDim, 4, kRational, kDirections>;
    default:
      return PointsOfRun<kDim, 5, kRational, kDirections>;
  }
}

template <int kDim>
SampleKernels Select(int degree, bool rational, bool directions) {
  SampleKernels kernels{};
  kernels.parameters = ParametersOfSpan;
  kernels.directions = DirectionsOfRows<kDim>;
  if (rational) {
    kernels.points = directions ? PointsOfDegree<kDim, true, true>(degree)
                                : PointsOfDegree<kDim, true, false>(degree);
  } else {
    kernels.points = directions ? PointsOfDegree<kDim, false, true>(degree)
                                : PointsOfDegree<kDim, false, false>(degree);
  }
  return kernels;
}

#undef ARCLANE_INLINE

}  // namespace arclane::ARCLANE_KERNELS
