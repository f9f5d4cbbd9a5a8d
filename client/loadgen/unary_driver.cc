// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/unary_driver.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/synchronization/mutex.h"
#include "client/loadgen/retry.h"

namespace arclane {
namespace {

class UnaryDriver final : public CallDriver {
 public:
  UnaryDriver(std::shared_ptr<grpc::Channel> channel, grpc::CompletionQueue& queue,
              CallListener& listener)
      : stub_(std::move(channel)), queue_(queue), listener_(listener) {}

  void Start(const OutgoingCall& outgoing) override {
    auto* call = new Call(*this, outgoing.tag);  // Ends itself in Happen.
    call->context.set_deadline(outgoing.deadline);
    call->reader =
        stub_.PrepareUnaryCall(&call->context, *outgoing.method, *outgoing.request, &queue_);
    {
      absl::MutexLock lock(&mutex_);
      open_.insert(call);
    }
    call->reader->StartCall();
    call->reader->Finish(&call->response, &call->status, call);
  }

  void Close() override {
    bool closed;
    {
      absl::MutexLock lock(&mutex_);
      closing_ = true;
      closed = open_.empty();
      for (Call* call : open_) call->context.TryCancel();
    }
    if (closed) listener_.OnDriverClosed();
  }

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
    CallEnd end;
    end.code = ended.status.error_code();
    if (ended.status.ok()) {
      end.response_bytes = ended.response.Length();
    } else {
      end.pushback_ms = PushbackOf(ended.context);
    }
    void* const tag = ended.tag;
    bool closed;
    {
      absl::MutexLock lock(&mutex_);
      open_.erase(&ended);
      closed = closing_ && open_.empty();
    }
    delete &ended;
    listener_.OnCallEnd(tag, end);
    if (closed) listener_.OnDriverClosed();
  }

  grpc::GenericStub stub_;
  grpc::CompletionQueue& queue_;
  CallListener& listener_;
  absl::Mutex mutex_;
  absl::flat_hash_set<Call*> open_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<CallDriver> MakeUnaryDriver(std::shared_ptr<grpc::Channel> channel,
                                            grpc::CompletionQueue& queue, CallListener& listener) {
  return std::make_unique<UnaryDriver>(std::move(channel), queue, listener);
}

}  // namespace arclane
