// SPDX-License-Identifier: Apache-2.0
// One PlanBatch call: its items are planned on all planning threads, a slice of time after another,
// and answered in order.
//
// arrival -> size check -> admission -> queue -> [planning threads: split, plan, encode] ->
// messages
//
// A thread gives the batch half a millisecond, or one item, and puts it behind whatever else waits:
// calls of one plan wait for no more than that, however large a batch is. A client that reads too
// slowly stops the planning once little more than two messages are waiting for it.
#ifndef ARCLANE_SERVER_SERVICE_PLAN_BATCH_CALL_H_
#define ARCLANE_SERVER_SERVICE_PLAN_BATCH_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/service/service_environment.h"

namespace arclane {

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartPlanBatchCall(ServiceEnvironment& environment,
                                                               grpc::CallbackServerContext& context,
                                                               const grpc::ByteBuffer& request);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PLAN_BATCH_CALL_H_
