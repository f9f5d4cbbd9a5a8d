// SPDX-License-Identifier: Apache-2.0
#include "server/service/watch_routes_stream.h"

#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "arclane/v1/navmesh.pb.h"
#include "server/navmesh/route_watch.h"
#include "server/navmesh_codec/change_codec.h"
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

// What one stream may have the server remember.
constexpr size_t kMostRoutes = 100'000;
constexpr size_t kMostDependencies = 2'000'000;

v1::StaleReason ReasonOf(const StaleRoute& stale) {
  switch (stale.reason) {
    case StaleRoute::Reason::kVersionGone:
      return v1::STALE_REASON_VERSION_GONE;
    case StaleRoute::Reason::kTooOld:
      return v1::STALE_REASON_EPOCH_TOO_OLD;
    case StaleRoute::Reason::kChanged:
      break;
  }
  switch (stale.thing.kind) {
    case DependencyKind::kGate:
      return v1::STALE_REASON_GATE_CHANGED;
    case DependencyKind::kTile:
      return v1::STALE_REASON_TILE_CHANGED;
    case DependencyKind::kLink:
      return v1::STALE_REASON_LINK_CHANGED;
    case DependencyKind::kArea:
      break;
  }
  return v1::STALE_REASON_AREA_CHANGED;
}

class WatchRoutesStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                                public StreamWork,
                                private OpenStreams::Stream {
 public:
  WatchRoutesStream(ServiceEnvironment& environment, grpc::CallbackServerContext& context)
      : StreamWork(environment.navmeshes->stream_pool()),
        environment_(environment),
        context_(context),
        account_(environment, MethodId::kWatchRoutes, CallKind::kStream) {
    account_.trace().Begin(context);
  }

  void Begin(std::shared_ptr<WatchRoutesStream> self) {
    self_ = std::move(self);
    registered_ = environment_.streams.Add(*this);
    if (registered_) {
      StartRead(&incoming_);
    } else {
      absl::MutexLock lock(&mutex_);
      ending_ = true;
    }
    Schedule();
  }

 private:
  // What other threads have told; taken by a step.
  struct Told {
    bool writing = false;
    bool read = false;        // A request lies in incoming_.
    bool read_ended = false;  // The client sends no more, or is gone.
    bool ending = false;
    bool gone = false;
  };

  // All of the stream's progress is made here.
  void Step() override {
    if (finished_) return;
    Told told;
    {
      absl::MutexLock lock(&mutex_);
      told = {writing_, std::exchange(read_, false), read_ended_, ending_, gone_};
    }
    if (told.gone) {
      Conclude(ToStatus(CallerGone(context_)));
      return;
    }
    if (told.read && !failure_) {
      failure_ = Take();
      if (!failure_) StartRead(&incoming_);
    }
    if (told.writing) return;  // Its end schedules the next step.
    if (last_) {
      Conclude(StatusOf(*last_));
    } else if (failure_) {
      Conclude(Refuse(*failure_, std::numeric_limits<double>::infinity(), context_));
    } else if (told.ending) {
      WriteEnd(v1::STREAM_END_GOING_AWAY, kGoingAwayDetail);
    } else if (told.read_ended) {
      Conclude(grpc::Status::OK);
    } else if (watch_) {
      Tell();
    }
  }

  std::optional<Failure> Take() {
    v1::WatchRoutesRequest request;
    if (!ParseBytes(incoming_, request)) return MalformedMessage(request);
    if (request.has_scope() == (watch_ != nullptr)) {
      return InvalidField("scope", watch_ == nullptr ? "required in the first message"
                                                     : "belongs into the first message alone");
    }
    if (watch_ == nullptr) {
      if (auto failure = Open(request.scope())) return failure;
    }
    for (const uint64_t id : request.removed()) watch_->Remove(id);
    for (const v1::WatchedRoute& added : request.added()) {
      WatchedRoute route;
      route.id = added.route_id();
      route.version = {added.version()};
      route.epoch = {added.epoch()};
      route.world_epoch = {added.world_epoch()};
      route.reads = ReadReadSet(added.read_set());
      watch_->Add(std::move(route), NavMeshBackend::Now());
    }
    if (watch_->route_count() > kMostRoutes || watch_->dependency_count() > kMostDependencies)
      return TooMany();
    ++request_count_;
    synced_ = false;
    return std::nullopt;
  }

  std::optional<Failure> Open(const v1::WatchRoutesScope& scope) {
    NavMeshRegistry& registry = environment_.navmeshes->registry();
    const auto view = registry.View(scope.navmesh_id(), {scope.version()}, scope.world_id(),
                                    NavMeshBackend::Now());
    if (!view.ok()) return ToFailure(view.failure());
    // Watchers are held for being told that something changed, and never polled.
    std::vector<std::string> worlds = {""};
    if (!scope.world_id().empty()) worlds.push_back(scope.world_id());
    for (const std::string& world : worlds) {
      auto watcher = registry.Watch({scope.navmesh_id(), world, {}}, [this] { Schedule(); });
      if (!watcher.ok()) return ToFailure(watcher.failure());
      watchers_.push_back(*std::move(watcher));
    }
    watch_ = std::make_unique<RouteWatch>(
        registry, RouteScope{scope.navmesh_id(), {scope.version()}, scope.world_id()});
    has_world_ = !scope.world_id().empty();
    return std::nullopt;
  }

  static Failure TooMany() {
    Failure failure;
    failure.reason = FailureReason::kTooLarge;
    failure.message = "a stream watches at most " + std::to_string(kMostRoutes) +
                      " routes that read " + std::to_string(kMostDependencies) + " things";
    failure.metadata = {{"limit", "watched_routes"}, {"maximum", std::to_string(kMostRoutes)}};
    return failure;
  }

  // Writes what went stale, then once that everything else is current.
  void Tell() {
    RouteWatch::Report report = watch_->Check(NavMeshBackend::Now());
    v1::WatchRoutesResponse message;
    message.set_epoch(report.epoch.value);
    message.set_world_epoch(report.world_epoch.value);
    message.set_request_count(request_count_);
    const std::pair<uint64_t, uint64_t> epochs = {report.epoch.value, report.world_epoch.value};
    if (!report.stale.empty()) {
      for (const StaleRoute& stale : report.stale) {
        message.mutable_stale()->add_route_id(stale.id);
        message.mutable_stale()->add_reason(ReasonOf(stale));
        message.mutable_stale()->add_id(stale.thing.id);
      }
      synced_ = false;
    } else if (report.failure) {
      if (has_world_ && report.failure->reason == NavMeshReason::kUnknownWorld) {
        WriteEnd(v1::STREAM_END_WORLD_DELETED, report.failure->message);
      } else {
        failure_ = ToFailure(*report.failure);
        Conclude(Refuse(*failure_, std::numeric_limits<double>::infinity(), context_));
      }
      return;
    } else if (!synced_ || epochs != synced_epochs_) {
      message.mutable_synced();
      synced_ = true;
      synced_epochs_ = epochs;
    } else {
      return;
    }
    Write(message);
  }

  void WriteEnd(v1::StreamEnd reason, const std::string& detail) {
    v1::WatchRoutesResponse message;
    message.set_epoch(synced_epochs_.first);
    message.set_world_epoch(synced_epochs_.second);
    message.set_request_count(request_count_);
    message.mutable_going_away()->set_reason(reason);
    message.mutable_going_away()->set_detail(detail);
    last_ = message.going_away();
    Write(message);
  }

  void Write(const v1::WatchRoutesResponse& message) {
    grpc::Slice slice;
    if (!ToSlice(message, &slice)) {
      Conclude(ToStatus(AnswerTooLarge()));
      return;
    }
    outgoing_ = grpc::ByteBuffer(&slice, 1);
    {
      absl::MutexLock lock(&mutex_);
      writing_ = true;
    }
    StartWrite(&outgoing_);
  }

  void Conclude(const grpc::Status& status) {
    finished_ = true;
    watchers_.clear();
    account_.Ended(status);
    Finish(status);
  }

  void OnReadDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      (ok ? read_ : read_ended_) = true;
    }
    Schedule();
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
  std::shared_ptr<WatchRoutesStream> self_;
  bool registered_ = false;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;

  // Of the steps alone.
  std::unique_ptr<RouteWatch> watch_;  // Null before the scope is known.
  std::vector<std::unique_ptr<NavMeshWatcher>> watchers_;
  bool has_world_ = false;
  uint64_t request_count_ = 0;
  bool synced_ = false;
  std::pair<uint64_t, uint64_t> synced_epochs_;
  std::optional<Failure> failure_;
  std::optional<v1::GoingAway> last_;  // Written, or being written.
  bool finished_ = false;

  absl::Mutex mutex_;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool read_ ABSL_GUARDED_BY(mutex_) = false;
  bool read_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartWatchRoutesStream(
    ServiceEnvironment& environment, grpc::CallbackServerContext& context) {
  auto stream = std::make_shared<WatchRoutesStream>(environment, context);
  WatchRoutesStream* reactor = stream.get();
  reactor->Begin(std::move(stream));
  return reactor;
}

}  // namespace arclane
