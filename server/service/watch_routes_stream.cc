// SPDX-License-Identifier: Apache-2.0
#include "server/service/watch_routes_stream.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arclane/v1/navmesh.pb.h"
#include "server/navmesh/watched_routes.h"
#include "server/navmesh_codec/change_codec.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/pipeline/plan_item.h"
#include "server/service/long_stream.h"
#include "server/service/message_bytes.h"
#include "server/service/registry_fields.h"

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
    case StaleRoute::Reason::kUnknownState:
      return v1::STALE_REASON_STATE_UNKNOWN;
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

class WatchRoutesStream final
    : public LongStreamOf<grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>> {
 public:
  WatchRoutesStream(ServiceEnvironment& environment, grpc::CallbackServerContext& context)
      : LongStreamOf(environment, MethodId::kWatchRoutes, context) {}

  void Begin(std::shared_ptr<WatchRoutesStream> self) { Open(std::move(self)); }

 private:
  void OnReadDone(bool ok) override { WasRead(ok); }
  void ReadNext() override { StartRead(&incoming_); }

  std::optional<Failure> Take() override {
    v1::WatchRoutesRequest request;
    if (!ParseBytes(incoming_, request)) return MalformedMessage(request);
    if (request.has_scope() == (watch_ != nullptr)) {
      return InvalidField("scope", watch_ == nullptr ? "required in the first message"
                                                     : "belongs into the first message alone");
    }
    if (watch_ == nullptr) {
      if (auto failure = OpenScope(request.scope())) return failure;
    }
    for (const uint64_t id : request.removed()) watch_->Remove(id);
    for (const v1::WatchedRoute& added : request.added()) {
      WatchedRoute route;
      route.id = added.route_id();
      route.version = {added.version()};
      route.epoch = {added.epoch()};
      route.world_epoch = {added.world_epoch()};
      route.life = {added.life()};
      route.world_life = {added.world_life()};
      route.reads = ReadReadSet(added.read_set());
      watch_->Add(std::move(route), NavMeshBackend::Now());
    }
    if (watch_->route_count() > kMostRoutes || watch_->dependency_count() > kMostDependencies)
      return TooMany();
    ++request_count_;
    synced_ = false;
    return std::nullopt;
  }

  std::optional<Failure> OpenScope(const v1::WatchRoutesScope& scope) {
    if (auto failure = RegistryFields()
                           .Name("scope.navmesh_id", scope.navmesh_id())
                           .OptionalName("scope.world_id", scope.world_id())
                           .ToFailure())
      return failure;
    NavMeshRegistry& registry = environment().navmeshes->registry();
    const auto view = registry.View(scope.navmesh_id(), {scope.version()}, scope.world_id(),
                                    NavMeshBackend::Now());
    if (!view.ok()) return WithPath(ToFailure(view.failure()), "scope");
    // Watchers are held for being told that something changed, and never polled.
    std::vector<std::string> worlds = {""};
    if (!scope.world_id().empty()) worlds.push_back(scope.world_id());
    for (const std::string& world : worlds) {
      auto watcher = registry.Watch({scope.navmesh_id(), world, {}}, [this] { Schedule(); });
      if (!watcher.ok()) return ToFailure(watcher.failure());
      watchers_.push_back(*std::move(watcher));
    }
    watch_ = std::make_unique<WatchedRoutes>(
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
  void Tell() override {
    if (watch_ == nullptr) return;  // The scope is still to come.
    WatchedRoutes::Report report = watch_->Check(NavMeshBackend::Now());
    v1::WatchRoutesResponse message;
    message.set_epoch(report.epoch.value);
    message.set_world_epoch(report.world_epoch.value);
    message.set_life(report.life.value);
    message.set_world_life(report.world_life.value);
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
        Fail(ToFailure(*report.failure));
      }
      return;
    } else if (!synced_ || epochs != synced_epochs_) {
      message.mutable_synced();
      synced_ = true;
      synced_epochs_ = epochs;
      synced_lives_ = {report.life.value, report.world_life.value};
    } else {
      return;
    }
    Write(message);
  }

  void WriteEnd(v1::StreamEnd reason, const std::string& detail) override {
    v1::WatchRoutesResponse message;
    message.set_epoch(synced_epochs_.first);
    message.set_world_epoch(synced_epochs_.second);
    message.set_life(synced_lives_.first);
    message.set_world_life(synced_lives_.second);
    message.set_request_count(request_count_);
    message.mutable_going_away()->set_reason(reason);
    message.mutable_going_away()->set_detail(detail);
    Write(message);
  }

  void Release() override { watchers_.clear(); }

  grpc::ByteBuffer incoming_;
  std::unique_ptr<WatchedRoutes> watch_;  // Null before the scope is known.
  std::vector<std::unique_ptr<NavMeshWatcher>> watchers_;
  bool has_world_ = false;
  uint64_t request_count_ = 0;
  bool synced_ = false;
  std::pair<uint64_t, uint64_t> synced_epochs_;  // Of the navmesh and of the world.
  std::pair<uint64_t, uint64_t> synced_lives_;
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
