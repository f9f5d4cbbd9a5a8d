// SPDX-License-Identifier: Apache-2.0
// Checks of single fields that name the field's path and the value when they fail.
#ifndef ARCLANE_SERVER_CODEC_FIELD_CHECKS_H_
#define ARCLANE_SERVER_CODEC_FIELD_CHECKS_H_

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "server/planning/geometry/violation.h"

namespace arclane {

// What a number must be. NaN breaks every rule.
struct NumberRule {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_allowed = true;  // False: greater than min.
  bool infinity_allowed = false;
};

inline constexpr NumberRule kFinite{};
inline constexpr NumberRule kPositive{0.0, std::numeric_limits<double>::infinity(), false, false};
inline constexpr NumberRule kPositiveOrInfinite{0.0, std::numeric_limits<double>::infinity(), false,
                                                true};
inline constexpr NumberRule kNotNegative{0.0, std::numeric_limits<double>::infinity(), true, false};
inline constexpr NumberRule kNotNegativeOrInfinite{0.0, std::numeric_limits<double>::infinity(),
                                                   true, true};

// Adds a violation of `field` unless `value` keeps the rule; true when it does.
bool CheckNumber(std::string_view field, double value, const NumberRule& rule,
                 Violations& violations);

// Adds a violation of `field`, a column of `size` values, unless it is as long as the others; true
// when it is.
bool CheckSameLength(std::string_view field, size_t size, size_t expected, Violations& violations);

// The shortest text that reads back as the same double.
std::string NumberText(double value);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_FIELD_CHECKS_H_
