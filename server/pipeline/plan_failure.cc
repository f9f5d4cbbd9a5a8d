// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_failure.h"

#include <string>
#include <utility>
#include <vector>

namespace arclane {

Failure ToFailure(const Violations& violations) {
  std::vector<FieldViolation> fields;
  bool over_limit = false;
  for (const Violation& violation : violations.kept()) {
    over_limit |= violation.reason == ViolationReason::kLimitExceeded;
    fields.push_back({violation.field, violation.description});
  }
  Failure failure = InvalidFields(std::move(fields));
  if (over_limit) failure.reason = FailureReason::kTooLarge;
  if (violations.total() > violations.kept().size()) {
    failure.metadata["violation_count"] = std::to_string(violations.total());
  }
  return failure;
}

Failure GivenUp(FailureReason reason) {
  Failure failure;
  failure.reason = reason;
  failure.message = "the plan was given up";
  return failure;
}

}  // namespace arclane
