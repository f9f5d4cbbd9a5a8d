// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/batch_driver.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <utility>
#include <vector>

#include "client/loadgen/open_calls.h"
#include "client/loadgen/plan_item_wire.h"

namespace arclane {
namespace {

class BatchDriver final : public CallDriver {
 public:
  BatchDriver(std::shared_ptr<grpc::Channel> channel, grpc::CompletionQueue& queue,
              CallListener& listener)
      : stub_(std::move(channel)), queue_(queue), listener_(listener), open_(listener) {}

  void Start(const OutgoingCall& outgoing) override {
    auto* call = new Call(*this, outgoing);  // Ends itself behind its last step.
    call->context.set_deadline(outgoing.deadline);
    call->rpc = stub_.PrepareCall(&call->context, *outgoing.method, &queue_);
    open_.Add(call->context);
    call->rpc->StartCall(call);
  }

  void Close() override { open_.Close(); }

 private:
  // One step after the other: start, write, read until there is no more, finish.
  struct Call final : QueueEvent {
    Call(BatchDriver& owner, const OutgoingCall& outgoing)
        : driver(owner), request(*outgoing.request), tag(outgoing.tag) {}

    void Happen(bool ok) override {
      switch (step) {
        case Step::kStart:
          step = ok ? Step::kWrite : Step::kFinish;
          if (ok) {
            rpc->WriteLast(request, grpc::WriteOptions(), this);
          } else {
            rpc->Finish(&status, this);
          }
          return;
        case Step::kRead:
          if (ok) CountAnswers();
          [[fallthrough]];
        case Step::kWrite:
          step = ok ? Step::kRead : Step::kFinish;
          if (ok) {
            rpc->Read(&answer, this);
          } else {
            rpc->Finish(&status, this);
          }
          return;
        case Step::kFinish:
          driver.End(*this);
      }
    }

    void CountAnswers() {
      grpc::Slice bytes;
      std::vector<AnsweredItem> answers;
      if (!answer.DumpToSingleSlice(&bytes).ok()) return;
      ReadBatchResponse({reinterpret_cast<const char*>(bytes.begin()), bytes.size()}, answers);
      received.response_bytes += bytes.size();
      for (const AnsweredItem& item : answers)
        ++(item.code == 0 ? received.items_ok : received.items_failed);
    }

    enum class Step { kStart, kWrite, kRead, kFinish };
    BatchDriver& driver;
    const grpc::ByteBuffer request;
    void* const tag;
    Step step = Step::kStart;
    grpc::ClientContext context;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> rpc;
    grpc::ByteBuffer answer;
    grpc::Status status;
    CallEnd received;  // What it has brought so far.
  };

  void End(Call& ended) {
    CallEnd end = EndOf(ended.status, ended.context);
    end.response_bytes = ended.received.response_bytes;
    end.items_ok = ended.received.items_ok;
    end.items_failed = ended.received.items_failed;
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

std::unique_ptr<CallDriver> MakeBatchDriver(std::shared_ptr<grpc::Channel> channel,
                                            grpc::CompletionQueue& queue, CallListener& listener) {
  return std::make_unique<BatchDriver>(std::move(channel), queue, listener);
}

}  // namespace arclane
