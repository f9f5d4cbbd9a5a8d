// SPDX-License-Identifier: Apache-2.0
// WatchNavMesh: every change of a navmesh or a world, under epochs without gaps.
#ifndef ARCLANE_SERVER_SERVICE_WATCH_NAVMESH_STREAM_H_
#define ARCLANE_SERVER_SERVICE_WATCH_NAVMESH_STREAM_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/service/service_environment.h"

namespace arclane {

// A stream holds one message at most: what its client does not read stays in the log of changes,
// and a client that falls out of it is cut off and told so.
grpc::ServerWriteReactor<grpc::ByteBuffer>* StartWatchNavMeshStream(
    ServiceEnvironment& environment, grpc::CallbackServerContext& context,
    const grpc::ByteBuffer& request);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_WATCH_NAVMESH_STREAM_H_
