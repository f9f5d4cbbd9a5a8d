// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/sample_kernels.h"

#include <cmath>

#include "server/planning/spline/lanes.h"
#include "server/planning/spline/scattered_kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define ARCLANE_HAS_AVX2_KERNELS 1
#endif

namespace arclane {
namespace {

// u^(1 / root) for roots above 2, which only coincident controls give.
double HighRoot(double u, int root) {
  u = u > 0.0 ? u : 0.0;
  return root == 3 ? std::cbrt(u) : std::pow(u, 1.0 / root);
}

}  // namespace
}  // namespace arclane

#define ARCLANE_KERNELS two_lanes
#define ARCLANE_LANES 2
#define ARCLANE_TARGET
#include "server/planning/spline/sample_kernels_inl.h"
#undef ARCLANE_KERNELS
#undef ARCLANE_LANES
#undef ARCLANE_TARGET

#if defined(ARCLANE_HAS_AVX2_KERNELS)
#define ARCLANE_KERNELS four_lanes
#define ARCLANE_LANES 4
#define ARCLANE_TARGET __attribute__((target("avx2")))
#include "server/planning/spline/sample_kernels_inl.h"
#undef ARCLANE_KERNELS
#undef ARCLANE_LANES
#undef ARCLANE_TARGET
#endif

namespace arclane {
namespace {

bool HasFourLanes() {
#if defined(ARCLANE_HAS_AVX2_KERNELS)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

template <int kDim>
SampleKernels Select(int degree, bool rational, bool directions, KernelWidth width) {
  SampleKernels kernels = two_lanes::Select<kDim>(degree, rational, directions);
#if defined(ARCLANE_HAS_AVX2_KERNELS)
  if (width == KernelWidth::kBest && HasFourLanes()) {
    kernels = four_lanes::Select<kDim>(degree, rational, directions);
  }
#endif
  kernels.scattered_points = SelectScatteredPoints<kDim>(degree, rational, directions);
  return kernels;
}

// z in [-1, 1] of a local distance in the span.
inline double SpanVariable(const ArcSpan& span, double distance) {
  double u = (distance - span.base) * span.rate;
  if (span.root == 2) {
    u = std::sqrt(u > 0.0 ? u : 0.0);
  } else if (span.root > 2) {
    u = HighRoot(u, span.root);
  }
  return u - span.shift;
}

// Coefficients beyond the span's degree are zero: the full degree gives the same bits without a
// branch.
inline double SpanParameter(const ArcSpan& span, double z) {
  const Lanes w = SplatLanes(z * z);
  Lanes even_odd = LoadAlignedLanes(&span.coefficient[kChebyshevOrder - 2]);
#pragma GCC unroll 8
  for (int j = kChebyshevOrder - 4; j >= 0; j -= 2) {
    even_odd = even_odd * w + LoadAlignedLanes(&span.coefficient[j]);
  }
  double t = even_odd[0] + z * even_odd[1];
  t = t > span.t_begin ? t : span.t_begin;
  return t < span.t_end ? t : span.t_end;
}

}  // namespace

double ParameterOfSpan(const ArcSpan& span, double distance) {
  return SpanParameter(span, SpanVariable(span, distance));
}

void ScatteredParameters(const ArcSpan* spans, const int32_t* span_of, const double* distance,
                         int count, double* parameter) {
  for (int i = 0; i < count; ++i) {
    const ArcSpan& span = spans[span_of[i]];
    parameter[i] = SpanParameter(span, SpanVariable(span, distance[i]));
  }
}

SampleKernels SelectKernels(int dimension, int degree, bool rational, bool directions,
                            KernelWidth width) {
  return dimension == 2 ? Select<2>(degree, rational, directions, width)
                        : Select<3>(degree, rational, directions, width);
}

}  // namespace arclane
