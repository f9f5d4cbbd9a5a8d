// SPDX-License-Identifier: Apache-2.0
// Between gRPC's byte buffers and Protobuf's messages, without copies in between.
#ifndef ARCLANE_SERVER_SERVICE_MESSAGE_BYTES_H_
#define ARCLANE_SERVER_SERVICE_MESSAGE_BYTES_H_

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>

#include "server/codec/failure.h"
#include "server/codec/work_glance.h"

namespace arclane {

// False when the call ended before its message came: its handler is called all the same. An empty
// message has arrived.
inline bool HasArrived(const grpc::ByteBuffer& request) { return request.Valid(); }

// False when the bytes are no message of this type. The bytes are not consumed.
bool ParseBytes(const grpc::ByteBuffer& bytes, google::protobuf::Message& message);
// The message as one contiguous slice, encoded once. False when it is too large for a message (2
// GiB).
bool ToSlice(const google::protobuf::Message& message, grpc::Slice* slice);

// Of requests that arrived in pieces, which are large, only the size is looked at.
WorkGlance GlanceAtWork(WorkKind kind, const grpc::ByteBuffer& bytes);

Failure MalformedMessage(const google::protobuf::Message& message);
// Of a request above a limit of GetLimits.
Failure TooManyBytes(const char* limit_name, size_t limit, size_t bytes);
Failure AnswerTooLarge();

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_MESSAGE_BYTES_H_
