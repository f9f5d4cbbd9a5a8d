// SPDX-License-Identifier: Apache-2.0
#include "server/service/path_planner_service.h"

#include <exception>

#include "server/planning/geometry/precision.h"
#include "server/service/cached_plan_call.h"
#include "server/service/call_account.h"
#include "server/service/ping.h"
#include "server/service/plan_batch_call.h"
#include "server/service/plan_methods.h"
#include "server/service/plan_stream_call.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

// An exception that left a handler would reach the client as UNIMPLEMENTED.
template <typename Handler>
grpc::ServerUnaryReactor* WithoutThrowing(grpc::CallbackServerContext& context, Handler handler) {
  try {
    return handler();
  } catch (const std::exception& error) {
    Log(LogLevel::kError, "a handler threw", {{"what", error.what()}});
  } catch (...) {
    Log(LogLevel::kError, "a handler threw");
  }
  auto* reactor = context.DefaultReactor();
  reactor->Finish({grpc::StatusCode::INTERNAL, "internal error"});
  return reactor;
}

}  // namespace

grpc::ServerUnaryReactor* PathPlannerService::PlanCorridor(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request,
                                                           grpc::ByteBuffer* response) {
  return WithoutThrowing(*context, [&]() -> grpc::ServerUnaryReactor* {
    if (environment_.navmeshes != nullptr) {
      if (auto* call = StartCachedPlanCall(environment_, *context, *request, *response))
        return call;
    }
    return PlanCallOf<PlanCorridorMethod>::Start(environment_, *context, *request, *response);
  });
}

grpc::ServerUnaryReactor* PathPlannerService::PlanSpeed(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request,
                                                        grpc::ByteBuffer* response) {
  return WithoutThrowing(*context, [&] {
    return PlanCallOf<PlanSpeedMethod>::Start(environment_, *context, *request, *response);
  });
}

grpc::ServerUnaryReactor* PathPlannerService::PlanWaypoints(grpc::CallbackServerContext* context,
                                                            const grpc::ByteBuffer* request,
                                                            grpc::ByteBuffer* response) {
  return WithoutThrowing(*context, [&] {
    return PlanCallOf<PlanWaypointsMethod>::Start(environment_, *context, *request, *response);
  });
}

grpc::ServerUnaryReactor* PathPlannerService::PlanSpline(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* response) {
  return WithoutThrowing(*context, [&] {
    return PlanCallOf<PlanSplineMethod>::Start(environment_, *context, *request, *response);
  });
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* PathPlannerService::PlanBatch(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return StartPlanBatchCall(environment_, *context, *request);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* PathPlannerService::PlanStream(
    grpc::CallbackServerContext* context) {
  return StartPlanStreamCall(environment_, *context);
}

grpc::ServerUnaryReactor* PathPlannerService::GetLimits(grpc::CallbackServerContext* context,
                                                        const v1::GetLimitsRequest*,
                                                        v1::GetLimitsResponse* response) {
  return WithoutThrowing(*context, [&] {
    CallAccount account(environment_, MethodId::kGetLimits, CallKind::kUnary);
    account.trace().Begin(*context);
    const RequestLimits& limits = environment_.limits;
    response->set_max_receive_bytes(limits.max_receive_bytes);
    response->set_max_plan_corridor_bytes(limits.max_plan_corridor_bytes);
    response->set_max_plan_waypoints_bytes(limits.max_plan_waypoints_bytes);
    response->set_max_plan_spline_bytes(limits.max_plan_spline_bytes);
    response->set_max_plan_speed_bytes(limits.max_plan_speed_bytes);
    response->set_max_portals(limits.max_portals);
    response->set_max_vertices(limits.max_vertices);
    response->set_max_control_points(limits.max_control_points);
    response->set_max_curve_nodes(limits.max_curve_nodes);
    response->set_max_samples(limits.max_samples);
    response->set_max_ping_bytes(limits.max_ping_bytes);
    response->set_max_queued_plans(limits.max_queued_plans);
    response->set_max_coordinate(kMaxCoordinate);
    response->set_max_dependencies(limits.max_dependencies);
    response->set_max_speed_phases(limits.max_speed_phases);
    response->set_max_plan_batch_bytes(limits.max_plan_batch_bytes);
    response->set_max_batch_items(limits.max_batch_items);
    response->set_max_stream_items(limits.max_stream_items);
    if (environment_.navmeshes != nullptr)
      response->set_max_publish_bytes(environment_.navmeshes->max_publish_bytes());
    account.Ended(grpc::Status::OK);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  });
}

grpc::ServerUnaryReactor* PathPlannerService::Ping(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  return WithoutThrowing(
      *context, [&] { return AnswerPingCall(environment_, *context, *request, *response); });
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* PathPlannerService::PingStream(
    grpc::CallbackServerContext* context) {
  return StartPingStream(environment_, *context);
}

}  // namespace arclane
