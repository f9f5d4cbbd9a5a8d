// SPDX-License-Identifier: Apache-2.0
// Two doubles that are worked on at once. Internal to the speed planner.
//
// Compilers do not reliably turn loops with several conditions into masks; these are masks on
// every target (the vector extension of GCC and Clang). All operations are those of IEEE 754, lane
// by lane, so the results have the same bits as one at a time.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_PAIR_H_
#define ARCLANE_SERVER_PLANNING_SPEED_PAIR_H_

#include <cmath>
#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace arclane {

using Pair = double __attribute__((vector_size(16)));
// What comparing pairs gives: all bits set where true.
using PairMask = decltype(Pair{} < Pair{});

inline constexpr std::size_t kPairSize = 2;

inline Pair LoadPair(const double* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof(pair));
  return pair;
}

inline void StorePair(Pair pair, double* to) { std::memcpy(to, &pair, sizeof(pair)); }

inline Pair BothOf(double value) { return Pair{value, value}; }

inline Pair Smaller(Pair a, Pair b) { return b < a ? b : a; }
inline Pair Larger(Pair a, Pair b) { return a < b ? b : a; }

inline Pair Magnitude(Pair a) {
  constexpr auto kSign = static_cast<long long>(1ull << 63);
  return reinterpret_cast<Pair>(reinterpret_cast<PairMask>(a) & ~PairMask{kSign, kSign});
}

// `a` where the mask is set, else 0.
inline Pair Where(PairMask mask, Pair a) {
  return reinterpret_cast<Pair>(reinterpret_cast<PairMask>(a) & mask);
}
// `a` where the mask is set, else `b`.
inline Pair Select(PairMask mask, Pair a, Pair b) {
  return reinterpret_cast<Pair>((reinterpret_cast<PairMask>(a) & mask) |
                                (reinterpret_cast<PairMask>(b) & ~mask));
}

inline Pair SquareRoot(Pair a) {
#if defined(__SSE2__)
  return _mm_sqrt_pd(a);
#else
  return Pair{std::sqrt(a[0]), std::sqrt(a[1])};
#endif
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_PAIR_H_
