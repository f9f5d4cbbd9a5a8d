// SPDX-License-Identifier: Apache-2.0
#include "server/codec/failure.h"

#include <array>
#include <utility>

namespace arclane {
namespace {

struct ReasonRow {
  FailureReason reason;
  std::string_view name;
  absl::StatusCode code;
};

constexpr std::array<ReasonRow, 10> kReasons = {{
    {FailureReason::kInvalidField, "INVALID_FIELD", absl::StatusCode::kInvalidArgument},
    {FailureReason::kMalformedMessage, "MALFORMED_MESSAGE", absl::StatusCode::kInvalidArgument},
    {FailureReason::kTooLarge, "TOO_LARGE", absl::StatusCode::kResourceExhausted},
    {FailureReason::kQueueFull, "QUEUE_FULL", absl::StatusCode::kResourceExhausted},
    {FailureReason::kDraining, "DRAINING", absl::StatusCode::kUnavailable},
    {FailureReason::kDeadlineExceeded, "DEADLINE_EXCEEDED", absl::StatusCode::kDeadlineExceeded},
    {FailureReason::kCancelled, "CANCELLED", absl::StatusCode::kCancelled},
    {FailureReason::kNotFound, "NOT_FOUND", absl::StatusCode::kNotFound},
    {FailureReason::kVerificationFailed, "VERIFICATION_FAILED", absl::StatusCode::kInternal},
    {FailureReason::kInternal, "INTERNAL", absl::StatusCode::kInternal},
}};

const ReasonRow& Row(FailureReason reason) {
  for (const ReasonRow& row : kReasons) {
    if (row.reason == reason) return row;
  }
  return kReasons.back();
}

}  // namespace

std::string_view FailureReasonName(FailureReason reason) { return Row(reason).name; }
absl::StatusCode FailureStatusCode(FailureReason reason) { return Row(reason).code; }

std::string_view ReasonName(const Failure& failure) {
  return failure.own_reason.empty() ? FailureReasonName(failure.reason) : failure.own_reason;
}
absl::StatusCode StatusCode(const Failure& failure) {
  return failure.own_reason.empty() ? FailureStatusCode(failure.reason) : failure.own_code;
}

Failure InvalidFields(std::vector<FieldViolation> violations) {
  Failure failure;
  failure.reason = FailureReason::kInvalidField;
  failure.message = violations.size() == 1
                        ? violations[0].field + ": " + violations[0].description
                        : std::to_string(violations.size()) + " invalid fields, first " +
                              violations[0].field + ": " + violations[0].description;
  failure.violations = std::move(violations);
  return failure;
}

}  // namespace arclane
