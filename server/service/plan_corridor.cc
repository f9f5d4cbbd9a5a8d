// SPDX-License-Identifier: Apache-2.0
#include "server/service/plan_corridor.h"

namespace arclane {

std::optional<Failure> PlanCorridor(const v1::PlanCorridorRequest&, const RequestLimits&,
                                    absl::FunctionRef<std::optional<FailureReason>()> stop,
                                    v1::PlanCorridorResponse& response) {
  if (const auto reason = stop()) return Failure{.reason = *reason};
  response.mutable_route()->set_outcome(v1::OUTCOME_COMPLETE);
  return std::nullopt;
}

}  // namespace arclane
