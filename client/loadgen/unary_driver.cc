// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/unary_driver.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <string>

#include "client/loadgen/open_calls.h"

namespace arclane {
namespace {

class UnaryDriver final : public CallDriver {
 public:
  UnaryDriver(std::shared_ptr<grpc::Channel> channel, grpc::CompletionQueue& queue,
              CallListener& listener)
      : stub_(std::move(channel)), queue_(queue), listener_(listener), open_(listener) {}

  void Start(const OutgoingCall& outgoing) override {
    auto* call = new Call(*this, outgoing.tag);  // Ends itself in Happen.
    call->context.set_deadline(outgoing.deadline);
    call->reader =
        stub_.PrepareUnaryCall(&call->context, *outgoing.method, *outgoing.request, &queue_);
    open_.Add(call->context);
    call->reader->StartCall();
    call->reader->Finish(&call->response, &call->status, call);
  }

  void Close() override { open_.Close(); }

 private:
  struct Call final : QueueEvent {
    Call(UnaryDriver& owner, void* tag) : driver(owner), tag(tag) {}
    void Happen(bool) override { driver.End(*this); }

    UnaryDriver& driver;
    void* const tag;
    grpc::ClientContext context;
    grpc::ByteBuffer response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
  };

  void End(Call& ended) {
    CallEnd end = EndOf(ended.status, ended.context);
    if (ended.status.ok()) end.response_bytes = ended.response.Length();
    void* const tag = ended.tag;
    const bool closed = open_.Remove(ended.context);
    delete &ended;
    listener_.OnCallEnd(tag, end);
    if (closed) open_.Closed();
  }

  grpc::GenericStub stub_;
  grpc::CompletionQueue& queue_;
  CallListener& listener_;
  OpenCalls open_;
};

}  // namespace

std::unique_ptr<CallDriver> MakeUnaryDriver(std::shared_ptr<grpc::Channel> channel,
                                            grpc::CompletionQueue& queue, CallListener& listener) {
  return std::make_unique<UnaryDriver>(std::move(channel), queue, listener);
}

}  // namespace arclane
