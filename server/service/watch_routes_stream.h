// SPDX-License-Identifier: Apache-2.0
// WatchRoutes: which of the client's routes go stale, and why.
#ifndef ARCLANE_SERVER_SERVICE_WATCH_ROUTES_STREAM_H_
#define ARCLANE_SERVER_SERVICE_WATCH_ROUTES_STREAM_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/service/service_environment.h"

namespace arclane {

// Requests are read one at a time, each when the one before was taken into account and what it
// brought up was written.
grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartWatchRoutesStream(
    ServiceEnvironment& environment, grpc::CallbackServerContext& context);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_WATCH_ROUTES_STREAM_H_
