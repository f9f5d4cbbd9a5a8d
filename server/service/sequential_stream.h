// SPDX-License-Identifier: Apache-2.0
// A bidirectional stream that answers one message at a time, and that the server can end.
#ifndef ARCLANE_SERVER_SERVICE_SEQUENTIAL_STREAM_H_
#define ARCLANE_SERVER_SERVICE_SEQUENTIAL_STREAM_H_

#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/service/open_streams.h"

namespace arclane {

// UNAVAILABLE with the reason DRAINING: how the server ends streams before it stops.
grpc::Status StreamEndsStatus();

// At any moment one of reading, answering or finishing is going on. Owns itself.
template <typename Request, typename Response>
class SequentialStream : public grpc::ServerBidiReactor<Request, Response>,
                         private OpenStreams::Stream {
 public:
  // Reads the first message; to be called once, as the handler's last step.
  void Begin() {
    registered_ = streams_.Add(*this);
    if (registered_) {
      ReadOrFinish();
    } else {
      Conclude(StreamEndsStatus());
    }
  }

 protected:
  // `streams` outlives the stream.
  explicit SequentialStream(OpenStreams& streams) : streams_(streams) {}
  ~SequentialStream() override = default;

  // Fills the response, or returns the status that ends the stream instead.
  virtual std::optional<grpc::Status> Answer(const Request& request, Response& response) = 0;
  // Told once, before the status is sent.
  virtual void Ended(const grpc::Status& status) = 0;

 private:
  void OnReadDone(bool ok) final {
    {
      absl::MutexLock lock(&mutex_);
      reading_ = false;
      if (finished_) return;
    }
    if (!ok) {
      Conclude(grpc::Status::OK);  // The client has no more messages, or is gone.
    } else if (const auto status = Answer(request_, response_)) {
      Conclude(*status);
    } else {
      unread_.Writing();
      this->StartWrite(&response_);
    }
  }

  void OnWriteDone(bool ok) final {
    unread_.Written();
    if (ok) {
      ReadOrFinish();
    } else {
      Conclude({grpc::StatusCode::CANCELLED, "the client is gone"});
    }
  }

  void OnDone() final {
    if (registered_) streams_.Remove(*this);
    delete this;
  }

  void End() final {
    {
      absl::MutexLock lock(&mutex_);
      ending_ = true;
      // Between messages only; otherwise the stream ends itself after the message that it answers.
      if (!reading_ || finished_) return;
    }
    Conclude(StreamEndsStatus());
  }

  bool IsUnreadSince(std::chrono::steady_clock::time_point time) const final {
    return unread_.IsSince(time);
  }

  void ReadOrFinish() {
    {
      absl::MutexLock lock(&mutex_);
      if (!ending_) {
        // Under the lock, so that End cannot finish the stream between the decision and the read.
        reading_ = true;
        this->StartRead(&request_);
        return;
      }
    }
    Conclude(StreamEndsStatus());
  }

  // Finishes once, without the lock: the stream may be destroyed on another thread as soon as it is
  // finished.
  void Conclude(const grpc::Status& status) {
    {
      absl::MutexLock lock(&mutex_);
      if (finished_) return;
      finished_ = true;
    }
    Ended(status);
    this->Finish(status);
  }

  OpenStreams& streams_;
  Request request_;
  Response response_;
  bool registered_ = false;
  UnreadTime unread_;
  absl::Mutex mutex_;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_SEQUENTIAL_STREAM_H_
