// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/stream_driver.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <deque>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/synchronization/mutex.h"

namespace arclane {
namespace {

class StreamDriver final : public CallDriver {
 public:
  StreamDriver(std::shared_ptr<grpc::Channel> channel, std::unique_ptr<StreamFormat> format,
               grpc::CompletionQueue& queue, CallListener& listener)
      : stub_(std::move(channel)), format_(std::move(format)), queue_(queue), listener_(listener) {}

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
    bool opened = false;      // What opens it is written.
    bool broken = false;      // Nothing is written any more.
    bool going_away = false;  // The server said so.
    bool finished = false;    // Its status is there.
  };

  void Open() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    stream_ = std::make_unique<Stream>();
    stream_->rpc = stub_.PrepareCall(&stream_->context, format_->method(), &queue_);
    stream_->rpc->StartCall(&on_start_);
  }

  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Stream& stream = *stream_;
    if (!stream.started || stream.writing || stream.broken || unsent_.empty()) return;
    stream.writing = true;
    if (!stream.opened) {
      stream.opened = true;
      if (const auto opening = format_->Opening()) {
        stream.rpc->Write(*opening, &on_write_);
        return;
      }
    }
    const uint32_t id = next_id_++;  // Wraps around after those that it could meet are answered.
    stream.rpc->Write(format_->Message(*unsent_.front().request, id), &on_write_);
    sent_.emplace(id, unsent_.front().tag);
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
    std::vector<AnsweredItem> answers;
    std::vector<std::pair<void*, CallEnd>> ended;
    {
      absl::MutexLock lock(&mutex_);
      Stream& stream = *stream_;
      if (ok && !format_->Read(stream.answer, answers, stream.going_away)) {
        stream.context.TryCancel();
        ok = false;
      }
      for (const AnsweredItem& answer : answers) {
        const auto sent = format_->answers_in_order()
                              ? sent_.begin()
                              : sent_.find(static_cast<uint32_t>(answer.correlation_id));
        if (sent == sent_.end()) continue;  // An answer to nothing.
        ended.emplace_back(sent->second, CallEnd{.code = static_cast<grpc::StatusCode>(answer.code),
                                                 .response_bytes = answer.bytes});
        sent_.erase(sent);
      }
      if (stream.going_away) stream.broken = true;
      if (ok) {
        stream.rpc->Read(&stream.answer, &on_read_);
      } else {
        stream.broken = true;
        stream.rpc->Finish(&stream.status, &on_finish_);
      }
    }
    for (const auto& [tag, end] : ended) listener_.OnCallEnd(tag, end);
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
    std::vector<void*> ended;
    CallEnd end;
    bool closed;
    {
      absl::MutexLock lock(&mutex_);
      // A stream that ends well leaves no answer out; what it does leave out is lost.
      end.code =
          stream_->status.ok() ? grpc::StatusCode::UNAVAILABLE : stream_->status.error_code();
      for (const auto& [id, tag] : sent_) ended.push_back(tag);
      sent_.clear();
      const bool in_order = stream_->going_away && !closing_;
      stream_.reset();
      if (!in_order) {
        for (const OutgoingCall& call : unsent_) ended.push_back(call.tag);
        unsent_.clear();
      } else if (!unsent_.empty()) {
        Open();
      }
      closed = closing_;
    }
    for (void* tag : ended) listener_.OnCallEnd(tag, end);
    if (closed) listener_.OnDriverClosed();
  }

  grpc::GenericStub stub_;
  const std::unique_ptr<StreamFormat> format_;
  grpc::CompletionQueue& queue_;
  CallListener& listener_;
  Step on_start_{*this, &StreamDriver::OnStart};
  Step on_write_{*this, &StreamDriver::OnWrite};
  Step on_read_{*this, &StreamDriver::OnRead};
  Step on_finish_{*this, &StreamDriver::OnFinish};

  absl::Mutex mutex_;
  std::unique_ptr<Stream> stream_ ABSL_GUARDED_BY(mutex_);  // Null: none is open.
  std::deque<OutgoingCall> unsent_ ABSL_GUARDED_BY(mutex_);
  absl::btree_map<uint32_t, void*> sent_ ABSL_GUARDED_BY(mutex_);  // Tags by id.
  uint32_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<CallDriver> MakeStreamDriver(std::shared_ptr<grpc::Channel> channel,
                                             std::unique_ptr<StreamFormat> format,
                                             grpc::CompletionQueue& queue, CallListener& listener) {
  return std::make_unique<StreamDriver>(std::move(channel), std::move(format), queue, listener);
}

}  // namespace arclane
