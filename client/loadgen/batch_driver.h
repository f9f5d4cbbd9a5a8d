// SPDX-License-Identifier: Apache-2.0
#ifndef ARCLANE_CLIENT_LOADGEN_BATCH_DRIVER_H_
#define ARCLANE_CLIENT_LOADGEN_BATCH_DRIVER_H_

#include <grpcpp/channel.h>
#include <grpcpp/completion_queue.h>

#include <memory>

#include "client/loadgen/call_driver.h"

namespace arclane {

// One PlanBatch call a request. The call ends with its last answer; items are counted by their
// status. `queue` and `listener` outlive it.
std::unique_ptr<CallDriver> MakeBatchDriver(std::shared_ptr<grpc::Channel> channel,
                                            grpc::CompletionQueue& queue, CallListener& listener);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_BATCH_DRIVER_H_
