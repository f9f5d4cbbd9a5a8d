// SPDX-License-Identifier: Apache-2.0
#ifndef ARCLANE_CLIENT_LOADGEN_STREAM_DRIVER_H_
#define ARCLANE_CLIENT_LOADGEN_STREAM_DRIVER_H_

#include <grpcpp/channel.h>
#include <grpcpp/completion_queue.h>

#include <memory>
#include <string>

#include "client/loadgen/call_driver.h"

namespace arclane {

// Requests as messages of one bidirectional stream that answers in order, such as PingStream. The
// stream is opened by the first call, and again after it broke; calls on a stream that breaks end
// with its status. Messages have no deadline of their own. `method` is the stream's;
// OutgoingCall::method is not used. `queue` and `listener` outlive it.
std::unique_ptr<CallDriver> MakeStreamDriver(std::shared_ptr<grpc::Channel> channel,
                                             std::string method, grpc::CompletionQueue& queue,
                                             CallListener& listener);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_STREAM_DRIVER_H_
