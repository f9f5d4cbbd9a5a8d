// SPDX-License-Identifier: Apache-2.0
// Two doubles at a time, in plain IEEE operations: the lanes give the same bits as scalar code
// would, on every machine.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_LANES_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_LANES_H_

#include <cmath>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace arclane {

typedef double Lanes __attribute__((vector_size(16)));
typedef double LanesInMemory __attribute__((vector_size(16), may_alias));
inline constexpr int kLaneCount = 2;

inline Lanes LoadLanes(const double* p) {
  Lanes v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
// From an address that is a multiple of 16: needs no instruction of its own.
inline Lanes LoadAlignedLanes(const double* p) {
  return *reinterpret_cast<const LanesInMemory*>(p);
}
inline void StoreLanes(double* p, Lanes v) { std::memcpy(p, &v, sizeof(v)); }
inline Lanes SplatLanes(double value) { return Lanes{value, value}; }

inline Lanes SqrtLanes(Lanes v) {
#if defined(__SSE2__)
  return _mm_sqrt_pd(v);
#else
  return Lanes{std::sqrt(v[0]), std::sqrt(v[1])};
#endif
}

// a where a > b, else b: a NaN in `a` gives b.
inline Lanes MaxLanes(Lanes a, Lanes b) {
#if defined(__SSE2__)
  return _mm_max_pd(a, b);
#else
  return Lanes{a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
#endif
}

// a where a < b, else b: a NaN in `a` gives b.
inline Lanes MinLanes(Lanes a, Lanes b) {
#if defined(__SSE2__)
  return _mm_min_pd(a, b);
#else
  return Lanes{a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]};
#endif
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_LANES_H_
