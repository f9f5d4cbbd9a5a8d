// SPDX-License-Identifier: Apache-2.0
// Failures that every pipeline shares.
#ifndef ARCLANE_SERVER_PIPELINE_PLAN_FAILURE_H_
#define ARCLANE_SERVER_PIPELINE_PLAN_FAILURE_H_

#include <optional>

#include "absl/functional/function_ref.h"
#include "server/codec/failure.h"
#include "server/planning/geometry/violation.h"

namespace arclane {

// Asked between stages and after every bounded amount of work: nullopt to go on, or why to give up.
using StopSignal = absl::FunctionRef<std::optional<FailureReason>()>;

// kTooLarge when one of the violations is a limit, kInvalidField otherwise. There must be one.
Failure ToFailure(const Violations& violations);

Failure GivenUp(FailureReason reason);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_PLAN_FAILURE_H_
