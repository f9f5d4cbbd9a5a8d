// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/stream_driver.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <deque>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace arclane {
namespace {

class StreamDriver final : public CallDriver {
 public:
  StreamDriver(std::shared_ptr<grpc::Channel> channel, std::string method,
               grpc::CompletionQueue& queue, CallListener& listener)
      : stub_(std::move(channel)), method_(std::move(method)), queue_(queue), listener_(listener) {}

  void Start(const OutgoingCall& call) override {
    absl::MutexLock lock(&mutex_);
    unsent_.push_back(call);
    if (!stream_) {
      Open();
    } else {
      WriteNext();
    }
  }

  void Close() override {
    bool closed;
    {
      absl::MutexLock lock(&mutex_);
      closing_ = true;
      closed = !stream_;
      if (stream_) stream_->context.TryCancel();
    }
    if (closed) listener_.OnDriverClosed();
  }

 private:
  struct Step final : QueueEvent {
    Step(StreamDriver& owner, void (StreamDriver::*method)(bool))
        : driver(owner), happened(method) {}
    void Happen(bool ok) override { (driver.*happened)(ok); }
    StreamDriver& driver;
    void (StreamDriver::*const happened)(bool);
  };

  struct Stream {
    grpc::ClientContext context;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> rpc;
    grpc::ByteBuffer answer;
    grpc::Status status;
    bool started = false;
    bool writing = false;
    bool broken = false;    // Nothing is written any more.
    bool finished = false;  // Its status is there.
  };

  void Open() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    stream_ = std::make_unique<Stream>();
    stream_->rpc = stub_.PrepareCall(&stream_->context, method_, &queue_);
    stream_->rpc->StartCall(&on_start_);
  }

  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Stream& stream = *stream_;
    if (!stream.started || stream.writing || stream.broken || unsent_.empty()) return;
    stream.writing = true;
    stream.rpc->Write(*unsent_.front().request, &on_write_);
    sent_.push_back(unsent_.front().tag);
    unsent_.pop_front();
  }

  void OnStart(bool ok) {
    absl::MutexLock lock(&mutex_);
    stream_->started = ok;
    if (ok) {
      stream_->rpc->Read(&stream_->answer, &on_read_);
      WriteNext();
    } else {
      stream_->broken = true;
      stream_->rpc->Finish(&stream_->status, &on_finish_);
    }
  }

  void OnWrite(bool ok) {
    bool over;
    {
      absl::MutexLock lock(&mutex_);
      stream_->writing = false;
      if (!ok) stream_->broken = true;
      over = stream_->finished;
      if (!over) WriteNext();
    }
    if (over) End();
  }

  void OnRead(bool ok) {
    void* tag = nullptr;
    CallEnd end;
    {
      absl::MutexLock lock(&mutex_);
      if (!ok || sent_.empty()) {
        stream_->broken = true;
        stream_->rpc->Finish(&stream_->status, &on_finish_);
        if (ok) stream_->context.TryCancel();  // An answer to nothing.
        return;
      }
      tag = sent_.front();
      sent_.pop_front();
      end.response_bytes = stream_->answer.Length();
      stream_->rpc->Read(&stream_->answer, &on_read_);
    }
    listener_.OnCallEnd(tag, end);
  }

  void OnFinish(bool) {
    bool over;
    {
      absl::MutexLock lock(&mutex_);
      stream_->finished = true;
      over = !stream_->writing;
    }
    if (over) End();
  }

  // No operation of the stream is under way any more.
  void End() {
    std::deque<void*> ended;
    CallEnd end;
    bool closed;
    {
      absl::MutexLock lock(&mutex_);
      end.code = stream_->status.error_code();
      // A stream that ends well has left these unanswered.
      if (stream_->status.ok()) end.code = grpc::StatusCode::UNAVAILABLE;
      ended = std::move(sent_);
      sent_.clear();
      for (const OutgoingCall& call : unsent_) ended.push_back(call.tag);
      unsent_.clear();
      stream_.reset();
      closed = closing_;
    }
    for (void* tag : ended) listener_.OnCallEnd(tag, end);
    if (closed) listener_.OnDriverClosed();
  }

  grpc::GenericStub stub_;
  const std::string method_;
  grpc::CompletionQueue& queue_;
  CallListener& listener_;
  Step on_start_{*this, &StreamDriver::OnStart};
  Step on_write_{*this, &StreamDriver::OnWrite};
  Step on_read_{*this, &StreamDriver::OnRead};
  Step on_finish_{*this, &StreamDriver::OnFinish};

  absl::Mutex mutex_;
  std::unique_ptr<Stream> stream_ ABSL_GUARDED_BY(mutex_);  // Null: none is open.
  std::deque<OutgoingCall> unsent_ ABSL_GUARDED_BY(mutex_);
  std::deque<void*> sent_ ABSL_GUARDED_BY(mutex_);  // Tags, in the order of their answers.
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<CallDriver> MakeStreamDriver(std::shared_ptr<grpc::Channel> channel,
                                             std::string method, grpc::CompletionQueue& queue,
                                             CallListener& listener) {
  return std::make_unique<StreamDriver>(std::move(channel), std::move(method), queue, listener);
}

}  // namespace arclane
