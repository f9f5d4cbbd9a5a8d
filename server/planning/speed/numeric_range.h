// SPDX-License-Identifier: Apache-2.0
// The numbers with which the planner can compute in double. Internal to the speed planner.
//
// Squared speeds, their squares on grip circles and products of three quantities must not leave the
// range of double, 2^-1022 to 2^1024. With every limit, length and radius in the range below, the
// largest such product is about 2^800 and the smallest 2^-800. Problems with other numbers are
// computed in long double, whose exponents are sixteen times larger on all supported targets.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_NUMERIC_RANGE_H_
#define ARCLANE_SERVER_PLANNING_SPEED_NUMERIC_RANGE_H_

#include <limits>

#include "server/planning/speed/speed_limits.h"

namespace arclane {

inline constexpr double kSmallestOrdinary = 0x1p-200;
inline constexpr double kLargestOrdinary = 0x1p200;
// Curves multiply up to twice as many quantities.
inline constexpr double kSmallestOrdinaryOnCurves = 0x1p-100;
inline constexpr double kLargestOrdinaryOnCurves = 0x1p100;

// A cap that is none.
inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

static_assert(std::numeric_limits<long double>::max_exponent >= 16384,
              "extreme problems need long double's range");

inline bool IsOrdinary(double value) {
  return value >= kSmallestOrdinary && value <= kLargestOrdinary;
}
inline bool IsOrdinaryOrZero(double value) { return value == 0.0 || IsOrdinary(value); }

inline bool HasOrdinaryLimits(const SpeedLimits& limits) {
  return IsOrdinary(limits.max_speed) && IsOrdinary(limits.max_acceleration) &&
         IsOrdinary(limits.max_braking) &&
         IsOrdinary(limits.max_lateral_acceleration.value_or(1.0)) &&
         IsOrdinary(limits.max_total_acceleration.value_or(1.0)) &&
         IsOrdinaryOrZero(limits.reaction_time_s);
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_NUMERIC_RANGE_H_
