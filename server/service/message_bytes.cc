// SPDX-License-Identifier: Apache-2.0
#include "server/service/message_bytes.h"

#include <grpc/slice.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <cstdint>
#include <limits>

namespace arclane {

bool ParseBytes(const grpc::ByteBuffer& bytes, google::protobuf::Message& message) {
  grpc::Slice slice;
  if (bytes.TrySingleSlice(&slice).ok()) {
    return message.ParseFromArray(slice.begin(), static_cast<int>(slice.size()));
  }
  message.Clear();
  if (bytes.Length() == 0) return true;
  grpc::ByteBuffer shared(
      bytes);  // Shares the slices: the reader wants a buffer that it may change.
  grpc::ProtoBufferReader reader(&shared);
  return reader.status().ok() && message.ParseFromZeroCopyStream(&reader);
}

bool ToSlice(const google::protobuf::Message& message, grpc::Slice* slice) {
  const size_t size = message.ByteSizeLong();
  if (size > static_cast<size_t>(std::numeric_limits<int32_t>::max())) return false;
  grpc_slice raw = grpc_slice_malloc(size);
  message.SerializeWithCachedSizesToArray(GRPC_SLICE_START_PTR(raw));
  *slice = grpc::Slice(raw, grpc::Slice::STEAL_REF);
  return true;
}

WorkGlance GlanceAtWork(WorkKind kind, const grpc::ByteBuffer& bytes) {
  grpc::Slice slice;
  if (bytes.TrySingleSlice(&slice).ok()) {
    return GlanceAtWork(kind, {reinterpret_cast<const char*>(slice.begin()), slice.size()});
  }
  WorkGlance glance;
  glance.kind = kind;
  glance.bytes = bytes.Length();
  return glance;
}

Failure MalformedMessage(const google::protobuf::Message& message) {
  Failure failure;
  failure.reason = FailureReason::kMalformedMessage;
  failure.message = "the bytes are no " + message.GetDescriptor()->full_name();
  return failure;
}

Failure TooManyBytes(const char* limit_name, size_t limit, size_t bytes) {
  Failure failure;
  failure.reason = FailureReason::kTooLarge;
  failure.message = "the request has " + std::to_string(bytes) + " bytes, the limit " + limit_name +
                    " is " + std::to_string(limit);
  failure.metadata = {{"limit", limit_name},
                      {"maximum", std::to_string(limit)},
                      {"requested", std::to_string(bytes)}};
  return failure;
}

Failure AnswerTooLarge() {
  Failure failure;
  failure.reason = FailureReason::kTooLarge;
  failure.message = "the answer exceeds 2 GiB; ask for fewer samples or columns";
  failure.metadata = {{"limit", "answer_bytes"},
                      {"maximum", std::to_string(std::numeric_limits<int32_t>::max())}};
  return failure;
}

}  // namespace arclane
