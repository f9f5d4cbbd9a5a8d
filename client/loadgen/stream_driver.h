// SPDX-License-Identifier: Apache-2.0
#ifndef ARCLANE_CLIENT_LOADGEN_STREAM_DRIVER_H_
#define ARCLANE_CLIENT_LOADGEN_STREAM_DRIVER_H_

#include <grpcpp/channel.h>
#include <grpcpp/completion_queue.h>

#include <memory>

#include "client/loadgen/call_driver.h"
#include "client/loadgen/stream_format.h"

namespace arclane {

// Requests as messages of one bidirectional stream. The stream is opened by the first call, and
// again after it ended: a server that goes away in order answers what it has read, and the messages
// behind go to the next stream; when it breaks, all its calls end with its status. Messages have no
// deadline of their own. OutgoingCall::method is not used. `queue` and `listener` outlive it.
std::unique_ptr<CallDriver> MakeStreamDriver(std::shared_ptr<grpc::Channel> channel,
                                             std::unique_ptr<StreamFormat> format,
                                             grpc::CompletionQueue& queue, CallListener& listener);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_STREAM_DRIVER_H_
