// SPDX-License-Identifier: Apache-2.0
// How a request fails: one reason from one enum, which fixes the status code, and every violated
// field.
#ifndef ARCLANE_SERVER_CODEC_FAILURE_H_
#define ARCLANE_SERVER_CODEC_FAILURE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace arclane {

// Stable over versions: clients switch on these names. One table (failure.cc) maps each to its code
// and text.
enum class FailureReason {
  kInvalidField,        // Some fields are malformed; the violations name them all.
  kMalformedMessage,    // The bytes are no message of the method's type.
  kTooLarge,            // A request limit is exceeded; metadata: limit, maximum, requested.
  kQueueFull,           // Shed: too many plans wait; retry_delay_s is set.
  kDraining,            // The server is about to stop; another replica can answer.
  kDeadlineExceeded,    // The deadline passed before or during the plan.
  kCancelled,           // The caller went away.
  kNotFound,            // An id is unknown.
  kVerificationFailed,  // A defect of this service: the finished route did not pass its own check.
  kInternal,            // A defect of this service.
};

struct FieldViolation {
  std::string field;        // Path within the request, such as corridor.portals.left.x[7].
  std::string description;  // What is wrong and what would be right.
};

struct Failure {
  FailureReason reason = FailureReason::kInternal;
  std::string message;
  std::vector<FieldViolation> violations;
  std::map<std::string, std::string> metadata;
  std::optional<double> retry_delay_s;
  // Not empty: the failure comes from a part of the service that has reasons of its own
  // (navmeshes); this name, which lives forever, and this code stand for `reason`.
  std::string_view own_reason;
  absl::StatusCode own_code = absl::StatusCode::kInternal;
};

// Upper-snake-case name, as in ErrorInfo.reason and in metric labels.
std::string_view FailureReasonName(FailureReason reason);
absl::StatusCode FailureStatusCode(FailureReason reason);
// Those of `own_reason` if there is one, otherwise those of `reason`.
std::string_view ReasonName(const Failure& failure);
absl::StatusCode StatusCode(const Failure& failure);
// kInvalidField for a set of violations, which must not be empty; the message names the first.
Failure InvalidFields(std::vector<FieldViolation> violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_FAILURE_H_
