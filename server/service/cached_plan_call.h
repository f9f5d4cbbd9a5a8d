// SPDX-License-Identifier: Apache-2.0
// One PlanCorridor call that the cache may answer: those that name a navmesh.
//
// arrival -> parse, canonical bytes -> state of the navmesh -> cache -+-> hit: kept bytes, answered
//                                                                     |   on the network's thread
//                                                                     +-> join a plan under way
//                                                                     +-> admission -> planning
//                                                                     thread
//
// Equal requests on equal states share one plan, which belongs to all that wait for it.
#ifndef ARCLANE_SERVER_SERVICE_CACHED_PLAN_CALL_H_
#define ARCLANE_SERVER_SERVICE_CACHED_PLAN_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/service/service_environment.h"

namespace arclane {

// Null when the call is not one for the cache: it names no navmesh, asks to bypass the cache (which
// is counted), or is larger than what is worth keeping. `environment.navmeshes` must be set.
grpc::ServerUnaryReactor* StartCachedPlanCall(ServiceEnvironment& environment,
                                              grpc::CallbackServerContext& context,
                                              const grpc::ByteBuffer& request,
                                              grpc::ByteBuffer& response);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_CACHED_PLAN_CALL_H_
