// SPDX-License-Identifier: Apache-2.0
#include "server/service/watch_navmesh_stream.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "arclane/v1/navmesh.pb.h"
#include "server/navmesh_codec/change_codec.h"
#include "server/navmesh_codec/description_codec.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/service/call_account.h"
#include "server/service/message_bytes.h"
#include "server/service/open_streams.h"
#include "server/service/registry_call.h"
#include "server/service/status_mapping.h"
#include "server/service/stream_end.h"
#include "server/service/stream_work.h"

namespace arclane {
namespace {

// Changes that are read from the log at once.
constexpr size_t kEventsPerStep = 256;

class WatchNavMeshStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                                 public StreamWork,
                                 private OpenStreams::Stream {
 public:
  WatchNavMeshStream(ServiceEnvironment& environment, grpc::CallbackServerContext& context)
      : StreamWork(environment.navmeshes->stream_pool()),
        environment_(environment),
        context_(context),
        account_(environment, MethodId::kWatchNavMesh, CallKind::kStream) {
    account_.trace().Begin(context);
  }

  // Parses the request and begins; `self` is kept until gRPC is done with the stream.
  void Begin(const grpc::ByteBuffer& bytes, std::shared_ptr<WatchNavMeshStream> self) {
    self_ = std::move(self);
    v1::WatchNavMeshRequest request;
    if (!ParseBytes(bytes, request)) {
      failure_ = MalformedMessage(request);
    } else {
      WatchRequest watch;
      watch.navmesh_id = request.navmesh_id();
      watch.world_id = request.world_id();
      if (request.has_known_epoch()) watch.known_epoch = Epoch{request.known_epoch()};
      // The watcher is destroyed, and calls no more, before this stream is.
      auto watcher = environment_.navmeshes->registry().Watch(watch, [this] { Schedule(); });
      if (watcher.ok()) {
        watcher_ = *std::move(watcher);
      } else {
        failure_ = ToFailure(watcher.failure());
      }
    }
    if (!environment_.streams.Add(*this)) {
      absl::MutexLock lock(&mutex_);
      ending_ = true;
    } else {
      registered_ = true;
    }
    Schedule();
  }

 private:
  // All of the stream's progress is made here.
  void Step() override {
    if (finished_) return;
    bool writing = false, ending = false, gone = false;
    {
      absl::MutexLock lock(&mutex_);
      writing = writing_;
      ending = ending_;
      gone = gone_;
    }
    if (writing) return;  // Its end schedules the next step.
    if (gone) {
      Conclude(ToStatus(CallerGone(context_)));
    } else if (failure_) {
      Conclude(Refuse(*failure_, std::numeric_limits<double>::infinity(), context_));
    } else if (last_) {
      Conclude(StatusOf(*last_));
    } else if (ending) {
      v1::WatchNavMeshResponse message;
      message.set_epoch(known_epoch_);
      message.mutable_going_away()->set_reason(v1::STREAM_END_GOING_AWAY);
      message.mutable_going_away()->set_detail(kGoingAwayDetail);
      Write(message);
    } else {
      Tell();
    }
  }

  // Writes the next message if there is something to tell: changes that follow one another go
  // together.
  void Tell() {
    if (next_ == events_.size()) {
      events_ = watcher_->Poll(kEventsPerStep);
      next_ = 0;
    }
    if (events_.empty()) return;
    v1::WatchNavMeshResponse message;
    EncodeWatchEvent(events_[next_], &message);
    const bool is_change = events_[next_++].type == WatchEvent::Type::kChange;
    while (is_change && next_ < events_.size() &&
           events_[next_].type == WatchEvent::Type::kChange) {
      const WatchEvent& event = events_[next_++];
      EncodeChangeRecord(*event.change, message.mutable_changes()->add_changes());
      message.set_epoch(event.epoch.value);
    }
    if (next_ == events_.size()) {
      events_.clear();
      next_ = 0;
    }
    Write(message);
  }

  void Write(const v1::WatchNavMeshResponse& message) {
    known_epoch_ = message.epoch();
    if (message.has_going_away()) last_ = message.going_away();
    grpc::Slice slice;
    if (!ToSlice(message, &slice)) {
      Conclude(ToStatus(AnswerTooLarge()));
      return;
    }
    bytes_ = grpc::ByteBuffer(&slice, 1);
    {
      absl::MutexLock lock(&mutex_);
      writing_ = true;
    }
    StartWrite(&bytes_);
  }

  void Conclude(const grpc::Status& status) {
    finished_ = true;
    watcher_.reset();
    account_.Ended(status);
    Finish(status);
  }

  void OnWriteDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      writing_ = false;
      gone_ |= !ok;
    }
    Schedule();
  }
  void OnCancel() override {
    {
      absl::MutexLock lock(&mutex_);
      gone_ = true;
    }
    Schedule();
  }
  void OnDone() override {
    if (registered_) environment_.streams.Remove(*this);
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

  ServiceEnvironment& environment_;
  grpc::CallbackServerContext& context_;
  CallAccount account_;
  std::shared_ptr<WatchNavMeshStream> self_;
  bool registered_ = false;

  // Of the steps alone.
  std::optional<Failure> failure_;
  std::unique_ptr<NavMeshWatcher> watcher_;
  std::vector<WatchEvent> events_;
  size_t next_ = 0;
  uint64_t known_epoch_ = 0;
  std::optional<v1::GoingAway> last_;  // Written, or being written.
  bool finished_ = false;
  grpc::ByteBuffer bytes_;

  absl::Mutex mutex_;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartWatchNavMeshStream(
    ServiceEnvironment& environment, grpc::CallbackServerContext& context,
    const grpc::ByteBuffer& request) {
  auto stream = std::make_shared<WatchNavMeshStream>(environment, context);
  WatchNavMeshStream* reactor = stream.get();
  reactor->Begin(request, std::move(stream));
  return reactor;
}

}  // namespace arclane
