// SPDX-License-Identifier: Apache-2.0
// One RouteFollower.Follow stream: ticks and their answers, one at a time, and between them what
// the server tells by itself.
//
// read -> step (large ticks on a planning thread) -> write -> read ...
//                                    ^ a change of the stream's navmesh, or the end: a pushed
//                                    message
#ifndef ARCLANE_SERVER_SERVICE_FOLLOW_STREAM_H_
#define ARCLANE_SERVER_SERVICE_FOLLOW_STREAM_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/service/service_environment.h"

namespace arclane {

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartFollowStream(
    ServiceEnvironment& environment, grpc::CallbackServerContext& context);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_FOLLOW_STREAM_H_
