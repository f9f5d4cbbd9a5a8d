// SPDX-License-Identifier: Apache-2.0
// Ping and PingStream: the floor of every latency. They never touch the pool, and copy no payload.
#ifndef ARCLANE_SERVER_SERVICE_PING_H_
#define ARCLANE_SERVER_SERVICE_PING_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <optional>

#include "server/codec/failure.h"
#include "server/service/service_environment.h"

namespace arclane {

// Reads the encoded PingRequest (or PingStreamRequest, which is the same) and writes the encoded
// answer: as many zero bytes as asked for. Fails for bytes that are no such message and for
// payloads above max_ping_bytes.
std::optional<Failure> AnswerPing(const grpc::ByteBuffer& request, size_t most_payload_bytes,
                                  grpc::ByteBuffer* response);

grpc::ServerUnaryReactor* AnswerPingCall(ServiceEnvironment& environment,
                                         grpc::CallbackServerContext& context,
                                         const grpc::ByteBuffer& request,
                                         grpc::ByteBuffer& response);
grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartPingStream(
    ServiceEnvironment& environment, grpc::CallbackServerContext& context);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PING_H_
