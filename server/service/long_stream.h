// SPDX-License-Identifier: Apache-2.0
// A stream that the server goes on telling things on for as long as the client listens: told a
// message at a time, on one thread, and ended with a message that says why.
#ifndef ARCLANE_SERVER_SERVICE_LONG_STREAM_H_
#define ARCLANE_SERVER_SERVICE_LONG_STREAM_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "arclane/v1/navmesh.pb.h"
#include "server/codec/failure.h"
#include "server/service/call_account.h"
#include "server/service/message_bytes.h"
#include "server/service/open_streams.h"
#include "server/service/service_environment.h"
#include "server/service/stream_end.h"
#include "server/service/stream_work.h"

namespace arclane {

// The part that depends neither on the method nor on the kind of gRPC's reactor. Progress is made
// in steps; what other threads have to tell is noted and has the next step made.
class LongStream : public StreamWork, private OpenStreams::Stream {
 protected:
  LongStream(ServiceEnvironment& environment, MethodId method,
             grpc::CallbackServerContext& context);

  // Registers the stream; to be called once, by the handler. A stream that comes while the server
  // drains ends at once. `self` is kept until gRPC is done with the stream.
  void Open(std::shared_ptr<LongStream> self);

  // In steps, where nothing is being written. Writes the next message if there is something to
  // tell.
  virtual void Tell() = 0;
  // Writes the message that says why the stream ends.
  virtual void WriteEnd(v1::StreamEnd reason, const std::string& detail) = 0;
  // In steps, when a message has been read: takes it, and tells what is wrong with it.
  virtual std::optional<Failure> Take() { return std::nullopt; }
  // Reads the next message.
  virtual void ReadNext() {}
  // The stream is over: nothing more is to be told.
  virtual void Release() = 0;

  virtual void StartWriting(const grpc::ByteBuffer* bytes) = 0;
  virtual void FinishStream(const grpc::Status& status) = 0;

  // Of the reactor. Each may be the last that is done with the stream before it is destroyed.
  void WasWritten(bool ok);
  void WasRead(bool ok);
  void ClientLeft();
  void IsDone();

  // In steps: writes a message, whose last one tells of the end.
  template <typename Response>
  void Write(const Response& message) {
    if (message.has_going_away()) last_ = message.going_away();
    grpc::Slice slice;
    if (!ToSlice(message, &slice)) {
      Conclude(ToStatusOf(AnswerTooLarge()));
      return;
    }
    WriteBytes(slice);
  }
  // In steps: what ends the stream instead of the next message.
  void Fail(Failure failure) { failure_ = std::move(failure); }

  ServiceEnvironment& environment() { return environment_; }

 private:
  void Step() final;
  void End() final;
  bool EndsByAge() const final { return true; }
  bool IsUnreadSince(std::chrono::steady_clock::time_point time) const final {
    return unread_.IsSince(time);
  }
  static grpc::Status ToStatusOf(const Failure& failure);
  void WriteBytes(const grpc::Slice& slice);
  void Conclude(const grpc::Status& status);

  ServiceEnvironment& environment_;
  grpc::CallbackServerContext& context_;
  CallAccount account_;
  std::shared_ptr<LongStream> self_;
  bool registered_ = false;
  UnreadTime unread_;

  // Of the steps alone.
  std::optional<Failure> failure_;
  std::optional<v1::GoingAway> last_;  // Written, or being written.
  bool finished_ = false;
  grpc::ByteBuffer outgoing_;

  // What other threads have told; looked at by steps.
  struct Told {
    bool writing = false;
    bool read = false;        // A message has been read.
    bool read_ended = false;  // The client sends no more, or is gone.
    bool ending = false;
    bool gone = false;
  };
  absl::Mutex mutex_;
  Told told_ ABSL_GUARDED_BY(mutex_);
};

// With gRPC's reactor, one that writes.
template <typename Reactor>
class LongStreamOf : public Reactor, public LongStream {
 protected:
  using LongStream::LongStream;

  void StartWriting(const grpc::ByteBuffer* bytes) final { this->StartWrite(bytes); }
  void FinishStream(const grpc::Status& status) final { this->Finish(status); }

 private:
  void OnWriteDone(bool ok) final { WasWritten(ok); }
  void OnCancel() final { ClientLeft(); }
  void OnDone() final { IsDone(); }
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_LONG_STREAM_H_
