// SPDX-License-Identifier: Apache-2.0
// The descriptions of the Plan methods; plan_call.h says what a description has.
#ifndef ARCLANE_SERVER_SERVICE_PLAN_METHODS_H_
#define ARCLANE_SERVER_SERVICE_PLAN_METHODS_H_

#include <optional>

#include "server/codec/work_glance.h"
#include "server/pipeline/plan_corridor.h"
#include "server/pipeline/plan_speed.h"
#include "server/pipeline/plan_spline.h"
#include "server/pipeline/plan_trace.h"
#include "server/pipeline/plan_waypoints.h"
#include "server/service/plan_call.h"

namespace arclane {

struct PlanCorridorMethod {
  using Request = v1::PlanCorridorRequest;
  using Response = v1::PlanCorridorResponse;
  static constexpr MethodId kId = MethodId::kPlanCorridor;
  static constexpr WorkKind kWork = WorkKind::kCorridor;
  static constexpr char kByteLimitName[] = "max_plan_corridor_bytes";
  static size_t ByteLimit(const RequestLimits& limits) { return limits.max_plan_corridor_bytes; }
  // Without the cache; what the cache may answer is taken by cached_plan_call.h.
  static std::optional<Failure> Plan(Request& request, const ServiceEnvironment& environment,
                                     StopSignal stop, Response& response, PlanTrace* trace);
  static bool IsQuick(const Request& request) { return IsQuickPlan(request); }
  static std::optional<v1::Outcome> OutcomeOf(const Response& response) {
    return response.route().outcome();
  }
  static bool WantsStageTimes(const Request& request) { return request.include_stage_times(); }
};

struct PlanSpeedMethod {
  using Request = v1::PlanSpeedRequest;
  using Response = v1::PlanSpeedResponse;
  static constexpr MethodId kId = MethodId::kPlanSpeed;
  static constexpr WorkKind kWork = WorkKind::kSpeed;
  static constexpr char kByteLimitName[] = "max_plan_speed_bytes";
  static size_t ByteLimit(const RequestLimits& limits) { return limits.max_plan_speed_bytes; }
  static std::optional<Failure> Plan(const Request& request, const RequestLimits& limits,
                                     StopSignal stop, Response& response, PlanTrace* trace) {
    return AnswerPlanSpeed(request, limits, stop, response, trace);
  }
  static bool IsQuick(const Request&) { return false; }
  static std::optional<v1::Outcome> OutcomeOf(const Response&) { return std::nullopt; }
  static bool WantsStageTimes(const Request&) { return false; }
};

struct PlanWaypointsMethod {
  using Request = v1::PlanWaypointsRequest;
  using Response = v1::PlanWaypointsResponse;
  static constexpr MethodId kId = MethodId::kPlanWaypoints;
  static constexpr WorkKind kWork = WorkKind::kWaypoints;
  static constexpr char kByteLimitName[] = "max_plan_waypoints_bytes";
  static size_t ByteLimit(const RequestLimits& limits) { return limits.max_plan_waypoints_bytes; }
  static std::optional<Failure> Plan(const Request& request, const RequestLimits& limits,
                                     StopSignal stop, Response& response, PlanTrace* trace) {
    return AnswerPlanWaypoints(request, limits, stop, response, trace);
  }
  static bool IsQuick(const Request&) { return false; }
  static std::optional<v1::Outcome> OutcomeOf(const Response& response) {
    return response.route().outcome();
  }
  static bool WantsStageTimes(const Request&) { return false; }
};

struct PlanSplineMethod {
  using Request = v1::PlanSplineRequest;
  using Response = v1::PlanSplineResponse;
  static constexpr MethodId kId = MethodId::kPlanSpline;
  static constexpr WorkKind kWork = WorkKind::kSpline;
  static constexpr char kByteLimitName[] = "max_plan_spline_bytes";
  static size_t ByteLimit(const RequestLimits& limits) { return limits.max_plan_spline_bytes; }
  static std::optional<Failure> Plan(const Request& request, const ServiceEnvironment& environment,
                                     StopSignal stop, Response& response, PlanTrace* trace) {
    return AnswerPlanSpline(
        request, environment.limits, stop, response, trace,
        environment.navmeshes == nullptr ? nullptr : &environment.navmeshes->prepared());
  }
  static bool IsQuick(const Request&) { return false; }
  static std::optional<v1::Outcome> OutcomeOf(const Response&) { return std::nullopt; }
  static bool WantsStageTimes(const Request&) { return false; }
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PLAN_METHODS_H_
