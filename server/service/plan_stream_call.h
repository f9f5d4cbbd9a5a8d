// SPDX-License-Identifier: Apache-2.0
// One PlanStream: items are planned as they come, each a plan of its own for admission and for the
// planning threads, and answered as they are done.
//
// message -> split, unparsed -> [item: admission -> queue -> planning thread: plan, encode] ->
// outbox
//         -> messages, each with all answers that are there
//
// Small items whose plans are sure to be short are planned where they arrive, as single calls are.
// Nothing is read while max_stream_items are unanswered or much waits for the client to read it.
#ifndef ARCLANE_SERVER_SERVICE_PLAN_STREAM_CALL_H_
#define ARCLANE_SERVER_SERVICE_PLAN_STREAM_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/service/service_environment.h"

namespace arclane {

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartPlanStreamCall(
    ServiceEnvironment& environment, grpc::CallbackServerContext& context);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PLAN_STREAM_CALL_H_
