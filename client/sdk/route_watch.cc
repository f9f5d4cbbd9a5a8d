// SPDX-License-Identifier: Apache-2.0
#include "client/sdk/route_watch.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace arclane {
namespace {

using Clock = std::chrono::steady_clock;

DependencyState StateOf(v1::StaleReason reason) {
  switch (reason) {
    case v1::STALE_REASON_GATE_CHANGED:
      return DependencyState::kGateClosed;
    case v1::STALE_REASON_LINK_CHANGED:
      return DependencyState::kLinkDisabled;
    case v1::STALE_REASON_AREA_CHANGED:
      return DependencyState::kAreaCostChanged;
    default:
      return DependencyState::kTileReplaced;
  }
}

v1::DependencyKind KindOf(v1::StaleReason reason) {
  switch (reason) {
    case v1::STALE_REASON_GATE_CHANGED:
      return v1::DEPENDENCY_KIND_GATE;
    case v1::STALE_REASON_TILE_CHANGED:
      return v1::DEPENDENCY_KIND_TILE;
    case v1::STALE_REASON_LINK_CHANGED:
      return v1::DEPENDENCY_KIND_LINK;
    case v1::STALE_REASON_AREA_CHANGED:
      return v1::DEPENDENCY_KIND_AREA;
    default:
      return v1::DEPENDENCY_KIND_UNSPECIFIED;  // All of it.
  }
}

void AddTo(const DependencyKey& key, v1::ReadSet* read_set) {
  switch (key.kind) {
    case v1::DEPENDENCY_KIND_GATE:
      read_set->add_gate(key.id);
      break;
    case v1::DEPENDENCY_KIND_TILE:
      read_set->add_tile(key.id);
      break;
    case v1::DEPENDENCY_KIND_LINK:
      read_set->add_link(key.id);
      break;
    case v1::DEPENDENCY_KIND_AREA:
      read_set->add_area(key.id);
      break;
    default:
      break;
  }
}

}  // namespace

// The stream, what is watched on it, and the threads that read it and ask for signs of life.
class RouteWatch::Feed {
 public:
  Feed(NavMeshClient& client, const v1::WatchRoutesScope& scope, const RouteWatchOptions& options)
      : options_(options), heard_(Clock::now()) {
    CallOptions call;
    call.stop = stop_.get_token();
    session_ = client.WatchRoutes(scope, call);
    reader_ = std::thread([this] { Read(); });
    heart_ = std::thread([this] { Beat(); });
  }

  void Stop() {
    {
      absl::MutexLock lock(&mutex_);
      stopped_ = true;
    }
    stop_.request_stop();
    heart_.join();
    reader_.join();
    absl::MutexLock lock(&writing_);
    session_.reset();
  }

  uint64_t Add(std::shared_ptr<const FollowedRoute> route, const v1::AnswerInfo& planned) {
    v1::WatchedRoute watched;
    watched.set_version(planned.navmesh_version());
    watched.set_epoch(planned.epoch());
    watched.set_world_epoch(planned.world_epoch());
    watched.set_life(planned.life());
    watched.set_world_life(planned.world_life());
    for (const DependencyKey& key : route->read_set) AddTo(key, watched.mutable_read_set());
    uint64_t id = 0;
    {
      absl::MutexLock lock(&mutex_);
      id = ++last_id_;
      watched.set_route_id(id);
      Route& added = routes_[id];
      added.states.assign(route->read_set.size(), DependencyState::kCurrent);
      added.route = std::move(route);
      added.watched = watched;
      added.since = Clock::now();
    }
    v1::WatchRoutesRequest request;
    *request.add_added() = std::move(watched);
    Send(request);
    return id;
  }

  void Remove(uint64_t id) {
    {
      absl::MutexLock lock(&mutex_);
      routes_.erase(id);
    }
    v1::WatchRoutesRequest request;
    request.add_removed(id);
    Send(request);
  }

  void States(uint64_t id, std::vector<DependencyState>* states) const {
    absl::MutexLock lock(&mutex_);
    *states = routes_.at(id).states;
  }

  bool IsSilent(uint64_t id) const {
    absl::MutexLock lock(&mutex_);
    if (stopped_) return true;
    // The plan itself was news.
    const Clock::time_point heard = std::max(heard_, routes_.at(id).since);
    return std::chrono::duration<double>(Clock::now() - heard).count() > options_.age_limit_s;
  }

  absl::Status status() const {
    absl::MutexLock lock(&mutex_);
    return status_;
  }

 private:
  struct Route {
    std::shared_ptr<const FollowedRoute> route;
    v1::WatchedRoute watched;
    std::vector<DependencyState> states;
    Clock::time_point since;
  };

  void Send(const v1::WatchRoutesRequest& request) {
    absl::MutexLock lock(&writing_);
    if (session_ != nullptr) session_->Update(request);
  }

  void Read() {
    while (true) {
      const auto event = session_->Next();
      v1::WatchRoutesRequest again;
      {
        absl::MutexLock lock(&mutex_);
        if (!event.ok()) {
          status_ = absl::Status(event.error().code, event.error().message);
          return;
        }
        heard_ = Clock::now();
        for (int i = 0; i < event->stale().route_id_size(); ++i) Take(*event, i, &again);
      }
      if (again.added_size() > 0) Send(again);
    }
  }

  // A stale route is no longer watched; its other dependencies still matter to an agent that has
  // passed the one that changed.
  void Take(const v1::WatchRoutesResponse& event, int i, v1::WatchRoutesRequest* again)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto it = routes_.find(event.stale().route_id(i));
    if (it == routes_.end()) return;
    Route& route = it->second;
    const v1::StaleReason reason = event.stale().reason(i);
    const v1::DependencyKind kind = KindOf(reason);
    const bool all = kind == v1::DEPENDENCY_KIND_UNSPECIFIED;
    const std::vector<DependencyKey>& keys = route.route->read_set;
    for (size_t k = 0; k < keys.size(); ++k) {
      if (all || (keys[k].kind == kind && keys[k].id == event.stale().id(i)))
        route.states[k] = StateOf(reason);
    }
    if (all) return;
    // What changed is known now, and as of these epochs nothing else did.
    route.watched.set_epoch(event.epoch());
    route.watched.set_world_epoch(event.world_epoch());
    route.watched.set_life(event.life());
    route.watched.set_world_life(event.world_life());
    route.watched.clear_version();
    route.watched.clear_read_set();
    for (size_t k = 0; k < keys.size(); ++k) {
      if (route.states[k] == DependencyState::kCurrent)
        AddTo(keys[k], route.watched.mutable_read_set());
    }
    *again->add_added() = route.watched;
  }

  void Beat() {
    const absl::Duration pause = absl::Seconds(options_.heartbeat_s);
    while (true) {
      {
        absl::MutexLock lock(&mutex_);
        if (mutex_.AwaitWithTimeout(absl::Condition(&stopped_), pause)) return;
      }
      Send(v1::WatchRoutesRequest());  // Answered with "synced".
    }
  }

  const RouteWatchOptions options_;
  std::stop_source stop_;
  absl::Mutex writing_;  // One update at a time; not while the other one is held.
  std::unique_ptr<RoutesWatch> session_;
  mutable absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::time_point heard_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Route> routes_ ABSL_GUARDED_BY(mutex_);
  std::thread reader_;
  std::thread heart_;
};

class RouteWatch::Source final : public ReadSetSource {
 public:
  Source(std::shared_ptr<Feed> feed, uint64_t id) : feed_(std::move(feed)), id_(id) {}
  ~Source() override { feed_->Remove(id_); }

  void Read(const FollowedRoute&, std::vector<DependencyState>* states) const override {
    feed_->States(id_, states);
  }
  bool IsSilent(double) const override { return feed_->IsSilent(id_); }

 private:
  const std::shared_ptr<Feed> feed_;
  const uint64_t id_;
};

RouteWatch::RouteWatch(NavMeshClient& client, const v1::WatchRoutesScope& scope,
                       const RouteWatchOptions& options)
    : feed_(std::make_shared<Feed>(client, scope, options)) {}

RouteWatch::~RouteWatch() { feed_->Stop(); }

std::shared_ptr<const ReadSetSource> RouteWatch::Watch(std::shared_ptr<const FollowedRoute> route,
                                                       const v1::AnswerInfo& planned) {
  const uint64_t id = feed_->Add(std::move(route), planned);
  return std::make_shared<Source>(feed_, id);
}

absl::Status RouteWatch::status() const { return feed_->status(); }

}  // namespace arclane
