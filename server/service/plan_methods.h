// SPDX-License-Identifier: Apache-2.0
// The descriptions of the Plan methods; plan_call.h says what a description has.
#ifndef ARCLANE_SERVER_SERVICE_PLAN_METHODS_H_
#define ARCLANE_SERVER_SERVICE_PLAN_METHODS_H_

#include <optional>

#include "server/service/plan_call.h"
#include "server/pipeline/plan_corridor.h"

namespace arclane {

struct PlanCorridorMethod {
  using Request = v1::PlanCorridorRequest;
  using Response = v1::PlanCorridorResponse;
  static constexpr MethodId kId = MethodId::kPlanCorridor;
  static constexpr char kByteLimitName[] = "max_plan_corridor_bytes";
  static size_t ByteLimit(const RequestLimits& limits) { return limits.max_plan_corridor_bytes; }
  static std::optional<Failure> Plan(const Request& request, const RequestLimits& limits,
                                     StopFunction stop, Response& response) {
    return AnswerPlanCorridor(request, limits, stop, response);
  }
  static std::optional<v1::Outcome> OutcomeOf(const Response& response) {
    return response.route().outcome();
  }
  static bool WantsStageTimes(const Request& request) { return request.include_stage_times(); }
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PLAN_METHODS_H_
