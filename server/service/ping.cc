// SPDX-License-Identifier: Apache-2.0
#include "server/service/ping.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "arclane/v1/planner.pb.h"
#include "server/service/call_account.h"
#include "server/service/immediate_call.h"
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

Failure StreamEnds() {
  Failure failure;
  failure.reason = FailureReason::kDraining;
  failure.message =
      "the server is about to stop; open the stream again, at another replica if there is one";
  return failure;
}

// Answers one message at a time. At any moment one of reading, answering or finishing is going on.
class PingStreamCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                             private OpenStreams::Stream {
 public:
  PingStreamCall(ServiceEnvironment& environment, grpc::CallbackServerContext& context)
      : environment_(environment), account_(environment, MethodId::kPingStream, CallKind::kStream) {
    EchoIdentity(context);
    registered_ = environment_.streams.Add(*this);
    if (registered_) {
      ReadOrFinish();
    } else {
      {
        absl::MutexLock lock(&mutex_);
        finished_ = true;
      }
      EndWith(ToStatus(StreamEnds()));
    }
  }

  void OnReadDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      reading_ = false;
      if (finished_) return;
      finished_ = !ok;
    }
    if (!ok) {
      EndWith(grpc::Status::OK);  // The client has no more messages, or is gone.
      return;
    }
    if (const auto failure = AnswerPing(request_, environment_.limits.max_ping_bytes, &response_)) {
      Conclude(ToStatus(*failure));
    } else {
      StartWrite(&response_);
    }
  }

  void OnWriteDone(bool ok) override {
    if (ok) {
      ReadOrFinish();
    } else {
      Conclude(grpc::Status(grpc::StatusCode::CANCELLED, "the client is gone"));
    }
  }

  void OnDone() override {
    if (registered_) environment_.streams.Remove(*this);
    delete this;
  }

 private:
  ~PingStreamCall() override = default;

  void End() override {
    bool finish = false;
    {
      absl::MutexLock lock(&mutex_);
      ending_ = true;
      finish = reading_ && !finished_;
      finished_ = finished_ || finish;
    }
    if (finish) EndWith(ToStatus(StreamEnds()));
  }

  void ReadOrFinish() {
    {
      absl::MutexLock lock(&mutex_);
      if (!ending_) {
        // Under the lock, so that End cannot finish the stream between the decision and the read.
        reading_ = true;
        StartRead(&request_);
        return;
      }
      finished_ = true;
    }
    EndWith(ToStatus(StreamEnds()));
  }

  void Conclude(const grpc::Status& status) {
    {
      absl::MutexLock lock(&mutex_);
      finished_ = true;
    }
    EndWith(status);
  }

  // Without the lock: the stream may be destroyed on another thread as soon as it is finished.
  void EndWith(const grpc::Status& status) {
    account_.Ended(status);
    Finish(status);
  }

  ServiceEnvironment& environment_;
  CallAccount account_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  bool registered_ = false;
  absl::Mutex mutex_;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
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

grpc::ServerUnaryReactor* StartPing(ServiceEnvironment& environment, grpc::CallbackServerContext&,
                                    const grpc::ByteBuffer& request, grpc::ByteBuffer& response) {
  auto* call = new ImmediateCall(environment, MethodId::kPing);
  const auto failure = AnswerPing(request, environment.limits.max_ping_bytes, &response);
  call->EndWith(failure ? ToStatus(*failure) : grpc::Status::OK);
  return call;
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartPingStream(
    ServiceEnvironment& environment, grpc::CallbackServerContext& context) {
  return new PingStreamCall(environment, context);
}

}  // namespace arclane
