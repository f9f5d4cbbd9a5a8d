// SPDX-License-Identifier: Apache-2.0
// ReadNavMesh: the content of a version, a tile a message.
#ifndef ARCLANE_SERVER_SERVICE_CONTENT_STREAM_H_
#define ARCLANE_SERVER_SERVICE_CONTENT_STREAM_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/service/service_environment.h"

namespace arclane {

// Each message is encoded on a thread of the registry, once the one before is written: a slow
// reader holds one tile's bytes.
grpc::ServerWriteReactor<grpc::ByteBuffer>* StartContentStream(ServiceEnvironment& environment,
                                                               grpc::CallbackServerContext& context,
                                                               const grpc::ByteBuffer& request);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_CONTENT_STREAM_H_
