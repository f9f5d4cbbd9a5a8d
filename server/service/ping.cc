// SPDX-License-Identifier: Apache-2.0
#include "server/service/ping.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <string>
#include <vector>

#include "arclane/v1/planner.pb.h"
#include "server/service/call_account.h"
#include "server/service/message_bytes.h"
#include "server/service/registry_job.h"
#include "server/service/sequential_stream.h"
#include "server/service/status_mapping.h"

namespace arclane {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Payloads are slices of this block; it is never written.
constexpr size_t kZeroBytes = 1 << 20;
char zero_block[kZeroBytes];

// Payloads up to this size are copied.
constexpr size_t kCopiedBytes = 1024;

// Tags and lengths around a payload.
constexpr size_t kFramingBytes = 32;

constexpr uint32_t Tag(int field, WireFormatLite::WireType type) {
  return static_cast<uint32_t>(field) << 3 | static_cast<uint32_t>(type);
}

Failure TooLarge(uint64_t bytes, size_t most) {
  Failure failure;
  failure.reason = FailureReason::kTooLarge;
  failure.message = "the payload has " + std::to_string(bytes) +
                    " bytes, the limit max_ping_bytes is " + std::to_string(most);
  failure.metadata = {{"limit", "max_ping_bytes"},
                      {"maximum", std::to_string(most)},
                      {"requested", std::to_string(bytes)}};
  return failure;
}

// Steps over the payload instead of copying it, which a generated parser would do.
bool ReadResponseSize(CodedInputStream& input, uint32_t* response_size) {
  while (const uint32_t tag = input.ReadTag()) {
    const bool read =
        tag == Tag(v1::PingRequest::kResponseSizeFieldNumber, WireFormatLite::WIRETYPE_VARINT)
            ? input.ReadVarint32(response_size)
            : WireFormatLite::SkipField(&input, tag);
    if (!read) return false;
  }
  return input.ConsumedEntireMessage();
}

bool ReadResponseSize(const grpc::ByteBuffer& bytes, uint32_t* response_size) {
  *response_size = 0;
  if (bytes.Length() == 0) return true;
  grpc::Slice slice;
  if (bytes.TrySingleSlice(&slice).ok()) {
    CodedInputStream input(slice.begin(), static_cast<int>(slice.size()));
    return ReadResponseSize(input, response_size);
  }
  grpc::ByteBuffer shared(bytes);
  grpc::ProtoBufferReader reader(&shared);
  if (!reader.status().ok()) return false;
  CodedInputStream input(&reader);
  return ReadResponseSize(input, response_size);
}

grpc::ByteBuffer EncodeZeros(uint32_t size) {
  if (size == 0) return grpc::ByteBuffer(nullptr, 0);
  uint8_t header[16] = {
      Tag(v1::PingResponse::kPayloadFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED)};
  const uint8_t* end =
      google::protobuf::io::CodedOutputStream::WriteVarint32ToArray(size, header + 1);
  const auto header_size = static_cast<size_t>(end - header);
  if (size <= kCopiedBytes) {
    // One piece costs less on its way than two.
    uint8_t whole[sizeof(header) + kCopiedBytes] = {};
    std::copy(header, header + header_size, whole);
    const grpc::Slice slice(whole, header_size + size);
    return {&slice, 1};
  }
  std::vector<grpc::Slice> slices = {grpc::Slice(header, header_size)};
  for (size_t left = size; left > 0;) {
    const size_t piece = std::min(left, kZeroBytes);
    slices.emplace_back(zero_block, piece, grpc::Slice::STATIC_SLICE);
    left -= piece;
  }
  return {slices.data(), slices.size()};
}

class PingStreamCall final : public SequentialStream<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  PingStreamCall(ServiceEnvironment& environment, grpc::CallbackServerContext& context)
      : SequentialStream(environment.streams),
        environment_(environment),
        account_(environment, MethodId::kPingStream, CallKind::kStream) {
    account_.trace().Begin(context);
  }

 private:
  std::optional<grpc::Status> Answer(const grpc::ByteBuffer& request,
                                     grpc::ByteBuffer& response) override {
    const auto failure = AnswerPing(request, environment_.limits.max_ping_bytes, &response);
    if (!failure) return std::nullopt;
    return ToStatus(*failure);
  }
  void Ended(const grpc::Status& status) override { account_.Ended(status); }

  ServiceEnvironment& environment_;
  CallAccount account_;
};

}  // namespace

std::optional<Failure> AnswerPing(const grpc::ByteBuffer& request, size_t most_payload_bytes,
                                  grpc::ByteBuffer* response) {
  if (request.Length() > most_payload_bytes + kFramingBytes)
    return TooLarge(request.Length(), most_payload_bytes);
  uint32_t response_size = 0;
  if (!ReadResponseSize(request, &response_size)) {
    Failure failure;
    failure.reason = FailureReason::kMalformedMessage;
    failure.message = "the bytes are no ping";
    return failure;
  }
  if (response_size > most_payload_bytes) return TooLarge(response_size, most_payload_bytes);
  *response = EncodeZeros(response_size);
  return std::nullopt;
}

grpc::ServerUnaryReactor* AnswerPingCall(ServiceEnvironment& environment,
                                         grpc::CallbackServerContext& context,
                                         const grpc::ByteBuffer& request,
                                         grpc::ByteBuffer& response) {
  CallAccount account(environment, MethodId::kPing, CallKind::kUnary);
  account.trace().Begin(context, &request, &response);
  const auto failure = HasArrived(request)
                           ? AnswerPing(request, environment.limits.max_ping_bytes, &response)
                           : CallerGone(context);
  const grpc::Status status = failure ? ToStatus(*failure) : grpc::Status::OK;
  account.Ended(status);
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartPingStream(
    ServiceEnvironment& environment, grpc::CallbackServerContext& context) {
  auto* call = new PingStreamCall(environment, context);
  call->Begin();
  return call;
}

}  // namespace arclane
