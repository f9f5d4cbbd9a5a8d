// SPDX-License-Identifier: Apache-2.0
// Between gRPC's byte buffers and Protobuf's messages, without copies in between.
#ifndef ARCLANE_SERVER_SERVICE_MESSAGE_BYTES_H_
#define ARCLANE_SERVER_SERVICE_MESSAGE_BYTES_H_

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <memory>

#include "server/codec/failure.h"

namespace arclane {

// False when the bytes are no message of this type. The bytes are not consumed.
bool ParseBytes(const grpc::ByteBuffer& bytes, google::protobuf::Message& message);
// The message as one contiguous slice, encoded once. False when it is too large for a message (2
// GiB).
bool ToSlice(const google::protobuf::Message& message, grpc::Slice* slice);

Failure MalformedMessage(const google::protobuf::Message& message);
Failure AnswerTooLarge();

// A request and a response whose memory is used again and again by one thread.
template <typename Request, typename Response>
struct ScratchMessages {
  // Messages of up to this many bytes keep their memory.
  static constexpr size_t kMostKeptBytes = 256 << 10;

  std::unique_ptr<Request> request = std::make_unique<Request>();
  std::unique_ptr<Response> response = std::make_unique<Response>();

  void GiveBackLarge(size_t request_bytes, size_t response_bytes) {
    if (request_bytes > kMostKeptBytes) request = std::make_unique<Request>();
    if (response_bytes > kMostKeptBytes) response = std::make_unique<Response>();
  }
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_MESSAGE_BYTES_H_
