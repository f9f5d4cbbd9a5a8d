// SPDX-License-Identifier: Apache-2.0
#include "server/service/route_follower_service.h"

#include <exception>
#include <optional>

#include "server/pipeline/follow_session.h"
#include "server/service/call_account.h"
#include "server/service/message_bytes.h"
#include "server/service/sequential_stream.h"
#include "server/service/status_mapping.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

class FollowCall final : public SequentialStream<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  FollowCall(ServiceEnvironment& environment, grpc::CallbackServerContext& context)
      : SequentialStream(environment.streams),
        account_(environment, MethodId::kFollow, CallKind::kStream) {
    account_.trace().Begin(context);
  }

 private:
  std::optional<grpc::Status> Answer(const grpc::ByteBuffer& request,
                                     grpc::ByteBuffer& response) override {
    try {
      return Step(request, response);
    } catch (const std::exception& error) {
      Log(LogLevel::kError, "a handler threw", {{"what", error.what()}});
      return grpc::Status(grpc::StatusCode::INTERNAL, "internal error");
    }
  }
  void Ended(const grpc::Status& status) override { account_.Ended(status); }

  std::optional<grpc::Status> Step(const grpc::ByteBuffer& request, grpc::ByteBuffer& response) {
    // Both messages keep their columns' memory from tick to tick.
    if (!ParseBytes(request, request_)) return ToStatus(MalformedMessage(request_));
    response_.Clear();
    if (const std::optional<Failure> failure = session_.Answer(request_, &response_)) {
      return ToStatus(*failure);
    }
    grpc::Slice slice;
    if (!ToSlice(response_, &slice)) return ToStatus(AnswerTooLarge());
    response = grpc::ByteBuffer(&slice, 1);
    return std::nullopt;
  }

  CallAccount account_;
  FollowSession session_;
  v1::FollowRequest request_;
  v1::FollowResponse response_;
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* RouteFollowerService::Follow(
    grpc::CallbackServerContext* context) {
  auto* call = new FollowCall(environment_, *context);
  call->Begin();
  return call;
}

}  // namespace arclane
