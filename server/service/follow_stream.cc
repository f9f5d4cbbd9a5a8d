// SPDX-License-Identifier: Apache-2.0
#include "server/service/follow_stream.h"

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/pipeline/follow_session.h"
#include "server/service/call_account.h"
#include "server/service/message_bytes.h"
#include "server/service/open_streams.h"
#include "server/service/sequential_stream.h"
#include "server/service/status_mapping.h"
#include "server/service/stream_end.h"
#include "server/service/stream_work.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

// Larger messages are stepped on a planning thread: a few thousand agents take a millisecond, which
// is as long as a network thread may be kept from its other calls.
constexpr size_t kLargeTickBytes = 256 << 10;

ViewSource ViewsOf(NavMeshBackend* navmeshes) {
  if (navmeshes == nullptr) return nullptr;
  return [navmeshes](const v1::NavMeshRef& navmesh, uint64_t version) {
    return navmeshes->registry().View(navmesh.navmesh_id(), {version}, navmesh.world_id(),
                                      NavMeshBackend::Now());
  };
}

class FollowStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                           public StreamWork,
                           private OpenStreams::Stream {
 public:
  FollowStream(ServiceEnvironment& environment, grpc::CallbackServerContext& context)
      : StreamWork(environment.navmeshes->stream_pool()),
        environment_(environment),
        account_(environment, MethodId::kFollow, CallKind::kStream),
        session_(ViewsOf(environment.navmeshes)) {
    account_.trace().Begin(context);
  }

  void Begin(std::shared_ptr<FollowStream> self) {
    self_ = std::move(self);
    registered_ = environment_.streams.Add(*this);
    absl::MutexLock lock(&mutex_);
    if (registered_) {
      StartRead(&incoming_);
    } else {
      Conclude(StreamEndsStatus());
    }
  }

 private:
  // A tick that waits for a planning thread, and keeps its stream.
  class LargeTick final : public PlannerPool::Job {
   public:
    explicit LargeTick(FollowStream& stream) : stream_(stream) {}
    void Run() override {
      const std::shared_ptr<FollowStream> keep = std::move(keep_);
      stream_.AnswerTick();
    }
    std::shared_ptr<FollowStream> keep_;

   private:
    FollowStream& stream_;
  };

  void OnReadDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      if (finished_) return;
      if (!ok) {  // The client has no more messages, or is gone.
        Conclude(grpc::Status::OK);
        return;
      }
      stepping_ = true;
    }
    if (incoming_.Length() > kLargeTickBytes) {
      large_.keep_ = self_;
      if (environment_.pool.TryPush(large_)) return;
      large_.keep_.reset();  // No thread is free: it waits for itself.
    }
    AnswerTick();
  }

  // Steps the tick that was read, and writes its answer.
  void AnswerTick() {
    const std::optional<grpc::Status> failure = StepWithoutThrowing();
    absl::MutexLock lock(&mutex_);
    stepping_ = false;
    if (finished_) return;
    if (failure) {
      Conclude(*failure);
    } else if (writing_) {
      answer_waits_ = true;
    } else {
      WriteAnswer();
    }
  }

  std::optional<grpc::Status> StepWithoutThrowing() {
    absl::MutexLock lock(&session_mutex_);
    try {
      return StepTick();
    } catch (const std::exception& error) {
      Log(LogLevel::kError, "a handler threw", {{"what", error.what()}});
      return grpc::Status(grpc::StatusCode::INTERNAL, "internal error");
    }
  }

  std::optional<grpc::Status> StepTick() ABSL_EXCLUSIVE_LOCKS_REQUIRED(session_mutex_) {
    // Both messages keep their columns' memory from tick to tick.
    if (!ParseBytes(incoming_, request_)) return ToStatus(MalformedMessage(request_));
    response_.Clear();
    if (const std::optional<Failure> failure = session_.Answer(request_, &response_))
      return ToStatus(*failure);
    if (session_.navmesh() != nullptr && watchers_.empty()) {
      if (const auto failure = Listen()) return ToStatus(*failure);
    }
    grpc::Slice slice;
    if (!ToSlice(response_, &slice)) return ToStatus(AnswerTooLarge());
    answer_ = grpc::ByteBuffer(&slice, 1);
    return std::nullopt;
  }

  // Watchers are held for being told that something changed, and never polled.
  std::optional<Failure> Listen() ABSL_EXCLUSIVE_LOCKS_REQUIRED(session_mutex_) {
    const v1::NavMeshRef& navmesh = *session_.navmesh();
    std::vector<std::string> worlds = {""};
    if (!navmesh.world_id().empty()) worlds.push_back(navmesh.world_id());
    for (const std::string& world : worlds) {
      auto watcher = environment_.navmeshes->registry().Watch({navmesh.navmesh_id(), world, {}},
                                                              [this] { Schedule(); });
      if (!watcher.ok()) return ToFailure(watcher.failure());
      watchers_.push_back(*std::move(watcher));
    }
    return std::nullopt;
  }

  // Tells what there is to tell between two answers: the end, or who has gone stale.
  void Step() override {
    bool ends = false;
    {
      absl::MutexLock lock(&mutex_);
      if (finished_) return;
      if (writing_ || stepping_) {
        push_waits_ = true;
        return;
      }
      writing_ = true;  // Answers wait for what may be pushed.
      ends = ending_;
    }
    v1::FollowResponse message;
    bool tells = ends;
    if (ends) {
      message.set_pushed(true);
      message.mutable_going_away()->set_reason(v1::STREAM_END_GOING_AWAY);
      message.mutable_going_away()->set_detail(kGoingAwayDetail);
    } else {
      absl::MutexLock lock(&session_mutex_);
      tells = session_.TellChanges(&message);
    }
    grpc::Slice slice;
    tells = tells && ToSlice(message, &slice);
    absl::MutexLock lock(&mutex_);
    if (finished_) return;
    if (tells) {
      pushed_ = grpc::ByteBuffer(&slice, 1);
      said_goodbye_ = ends;
      unread_.Writing();
      StartWrite(&pushed_);
    } else {
      writing_ = false;
      GoOn();
    }
  }

  void WriteAnswer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    writing_ = writes_answer_ = true;
    answer_waits_ = false;
    unread_.Writing();
    StartWrite(&answer_);
  }

  void OnWriteDone(bool ok) override {
    unread_.Written();
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    if (finished_) return;
    if (!ok) {
      Conclude({grpc::StatusCode::CANCELLED, "the client is gone"});
    } else if (said_goodbye_) {
      Conclude(StreamEndsStatus());
    } else {
      if (std::exchange(writes_answer_, false)) StartRead(&incoming_);
      GoOn();
    }
  }

  // Once nothing is being written: what has waited for that.
  void GoOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (answer_waits_) {
      WriteAnswer();
    } else if (std::exchange(push_waits_, false)) {
      Schedule();
    }
  }

  void OnDone() override {
    if (registered_) environment_.streams.Remove(*this);
    {
      absl::MutexLock lock(&session_mutex_);
      watchers_.clear();
    }
    self_.reset();
  }

  void End() override {
    {
      absl::MutexLock lock(&mutex_);
      ending_ = true;
    }
    Schedule();
  }
  bool EndsByAge() const override { return true; }
  bool IsUnreadSince(std::chrono::steady_clock::time_point time) const override {
    return unread_.IsSince(time);
  }

  void Conclude(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (std::exchange(finished_, true)) return;
    account_.Ended(status);
    Finish(status);
  }

  ServiceEnvironment& environment_;
  CallAccount account_;
  std::shared_ptr<FollowStream> self_;
  bool registered_ = false;
  UnreadTime unread_;
  LargeTick large_{*this};
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer answer_;
  grpc::ByteBuffer pushed_;

  absl::Mutex session_mutex_;  // Not while the other one is held.
  FollowSession session_ ABSL_GUARDED_BY(session_mutex_);
  v1::FollowRequest request_ ABSL_GUARDED_BY(session_mutex_);
  v1::FollowResponse response_ ABSL_GUARDED_BY(session_mutex_);
  std::vector<std::unique_ptr<NavMeshWatcher>> watchers_ ABSL_GUARDED_BY(session_mutex_);

  absl::Mutex mutex_;
  bool stepping_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;  // Or about to.
  bool writes_answer_ ABSL_GUARDED_BY(mutex_) = false;
  bool answer_waits_ ABSL_GUARDED_BY(mutex_) = false;
  bool push_waits_ ABSL_GUARDED_BY(mutex_) = false;
  bool said_goodbye_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartFollowStream(
    ServiceEnvironment& environment, grpc::CallbackServerContext& context) {
  auto stream = std::make_shared<FollowStream>(environment, context);
  FollowStream* reactor = stream.get();
  reactor->Begin(std::move(stream));
  return reactor;
}

}  // namespace arclane
