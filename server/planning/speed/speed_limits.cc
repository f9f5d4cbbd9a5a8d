// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/speed_limits.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

void RequirePositive(double value, const char* field, std::vector<SpeedViolation>& violations) {
  if (std::isfinite(value) && value > 0.0) return;
  violations.push_back({field, absl::StrCat("must be finite and > 0, got ", value)});
}

// Limits that may be unlimited: infinity is taken for not given before it comes here.
void RequirePositiveOrUnlimited(double value, const char* field,
                                std::vector<SpeedViolation>& violations) {
  if (std::isfinite(value) && value > 0.0) return;
  violations.push_back({field, absl::StrCat("must be > 0 (infinite: no limit), got ", value)});
}

void RequireNonNegative(double value, const char* field, std::vector<SpeedViolation>& violations) {
  if (std::isfinite(value) && value >= 0.0) return;
  violations.push_back({field, absl::StrCat("must be finite and >= 0, got ", value)});
}

}  // namespace

void AppendLimitViolations(const SpeedLimits& limits, std::vector<SpeedViolation>& violations) {
  const std::size_t before = violations.size();
  RequirePositive(limits.max_speed, "limits.max_speed", violations);
  RequirePositive(limits.max_acceleration, "limits.max_acceleration", violations);
  RequirePositive(limits.max_braking, "limits.max_braking", violations);
  if (limits.max_lateral_acceleration) {
    RequirePositiveOrUnlimited(*limits.max_lateral_acceleration, "limits.max_lateral_acceleration",
                               violations);
  }
  if (limits.max_total_acceleration) {
    RequirePositiveOrUnlimited(*limits.max_total_acceleration, "limits.max_total_acceleration",
                               violations);
  }
  RequireNonNegative(limits.reaction_time_s, "limits.reaction_time_s", violations);

  const bool needs_total = limits.budget_mode != BudgetMode::kIndependent;
  if (needs_total && !limits.max_total_acceleration) {
    violations.push_back(
        {"limits.max_total_acceleration", "must be given, and finite, for this budget mode"});
  }
  if (limits.budget_mode != BudgetMode::kReserved) return;
  if (!limits.max_lateral_acceleration) {
    violations.push_back(
        {"limits.max_lateral_acceleration", "must be given, and finite, for a reserved budget"});
  }
  if (violations.size() != before) return;
  const double longitudinal = std::max(limits.max_acceleration, limits.max_braking);
  const double reserved = std::hypot(longitudinal, *limits.max_lateral_acceleration);
  if (reserved > *limits.max_total_acceleration * (1.0 + kReservedRoundoff)) {
    violations.push_back(
        {"limits.max_total_acceleration", absl::StrCat("the reserved budgets need ", reserved,
                                                       ", got ", *limits.max_total_acceleration)});
  }
}

}  // namespace arclane
