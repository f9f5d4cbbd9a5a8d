// SPDX-License-Identifier: Apache-2.0
#include "server/codec/field_checks.h"

#include <charconv>
#include <cmath>

namespace arclane {

std::string NumberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

bool CheckNumber(std::string_view field, double value, const NumberRule& rule,
                 Violations& violations) {
  const bool finite =
      std::isfinite(value) || (rule.infinity_allowed && value > 0.0 && std::isinf(value));
  const bool above = rule.min_allowed ? value >= rule.min : value > rule.min;
  if (finite && above && value <= rule.max) return true;
  std::string wanted;
  if (std::isfinite(rule.min)) wanted += (rule.min_allowed ? ">= " : "> ") + NumberText(rule.min);
  if (std::isfinite(rule.max))
    wanted += (wanted.empty() ? "<= " : " and <= ") + NumberText(rule.max);
  if (!rule.infinity_allowed) wanted += wanted.empty() ? "finite" : " and finite";
  violations.Add(finite ? ViolationReason::kOutOfRange : ViolationReason::kNotFinite,
                 std::string(field), "must be " + wanted + ", got " + NumberText(value));
  return false;
}

bool CheckSameLength(std::string_view field, size_t size, size_t expected, Violations& violations) {
  if (size == expected) return true;
  violations.Add(ViolationReason::kLengthMismatch, std::string(field),
                 "columns must have equal lengths, got " + std::to_string(size) + " instead of " +
                     std::to_string(expected));
  return false;
}

}  // namespace arclane
