// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/watched_routes.h"

#include <algorithm>

#include "server/navmesh/watcher.h"

namespace arclane {
namespace {

constexpr size_t kEventsAtOnce = 256;

bool Reads(const std::vector<Dependency>& reads, DependencyKind kind, uint64_t id) {
  return std::any_of(reads.begin(), reads.end(),
                     [&](const Dependency& read) { return read.kind == kind && read.id == id; });
}

StaleRoute Changed(uint64_t id, DependencyKind kind, uint64_t thing) {
  return {id, StaleRoute::Reason::kChanged, {kind, thing, kNoStamp}};
}

}  // namespace

void WatchedRoutes::Erase(uint64_t id) {
  const auto it = routes_.find(id);
  if (it == routes_.end()) return;
  dependency_count_ -= it->second.reads.size();
  routes_.erase(it);
}

void WatchedRoutes::Remove(uint64_t id) {
  Erase(id);
  std::erase_if(stale_, [id](const StaleRoute& stale) { return stale.id == id; });
}

void WatchedRoutes::Add(WatchedRoute route, double now_s) {
  Remove(route.id);
  auto view = registry_.View(scope_.navmesh_id, scope_.version, scope_.world_id, now_s);
  if (view.ok() && view->epoch() < route.epoch) {
    // Perhaps this thread alone has not seen the latest change yet.
    (void)registry_.Moment(scope_.navmesh_id);
    view = registry_.View(scope_.navmesh_id, scope_.version, scope_.world_id, now_s);
  }
  if (!view.ok()) {
    stale_.push_back({route.id, StaleRoute::Reason::kVersionGone, {}});
    return;
  }
  if (auto stale = StaleAlready(route, *view, now_s)) {
    stale_.push_back(*stale);
    return;
  }
  for (Dependency& read : route.reads) read.stamp = view->Stamp(read.kind, read.id);
  dependency_count_ += route.reads.size();
  routes_[route.id].reads = std::move(route.reads);
  // The route is current on this view, the others as of the last check.
  if (view->state_id() != checked_state_ || view->version() != checked_version_) checked_state_ = 0;
}

std::optional<StaleRoute> WatchedRoutes::StaleAlready(const WatchedRoute& route,
                                                      const NavMeshView& view, double now_s) const {
  // Things that are not there, in a version of its own or by now.
  for (const Dependency& read : route.reads) {
    if (view.Stamp(read.kind, read.id) == kNoStamp) return Changed(route.id, read.kind, read.id);
  }
  if (StateUnknown(route, view)) return StaleRoute{route.id, StaleRoute::Reason::kUnknownState, {}};
  if (route.version.value != 0 && route.version != view.version()) {
    const auto before = registry_.View(scope_.navmesh_id, route.version, "", now_s);
    if (!before.ok()) return StaleRoute{route.id, StaleRoute::Reason::kTooOld, {}};
    for (const Dependency& read : route.reads) {
      const bool is_state = read.kind != DependencyKind::kTile;
      if (!is_state && before->Stamp(read.kind, read.id) != view.Stamp(read.kind, read.id))
        return Changed(route.id, read.kind, read.id);
    }
  }
  if (route.epoch.value != 0 && route.epoch < view.epoch()) {
    if (auto stale = ChangedSince(route, route.epoch, "")) return stale;
  }
  if (!scope_.world_id.empty() && route.world_epoch.value != 0 &&
      route.world_epoch < view.world_epoch()) {
    if (auto stale = ChangedSince(route, route.world_epoch, scope_.world_id)) return stale;
  }
  return std::nullopt;
}

// A route that was read from nothing is right in every life.
bool WatchedRoutes::StateUnknown(const WatchedRoute& route, const NavMeshView& view) const {
  if (route.reads.empty()) return false;
  const auto is_other = [](LifeToken told, LifeToken own) {
    return told.value != 0 && told != own;
  };
  if (is_other(route.life, view.life()) || route.epoch > view.epoch()) return true;
  return !scope_.world_id.empty() &&
         (is_other(route.world_life, view.world_life()) || route.world_epoch > view.world_epoch());
}

// A state that changed and came back counts as changed: between the two the route was wrong.
std::optional<StaleRoute> WatchedRoutes::ChangedSince(const WatchedRoute& route, Epoch known,
                                                      std::string_view world_id) const {
  auto watcher = registry_.Watch({scope_.navmesh_id, world_id, known}, [] {});
  if (!watcher.ok()) return StaleRoute{route.id, StaleRoute::Reason::kVersionGone, {}};
  while (true) {
    for (const WatchEvent& event : (*watcher)->Poll(kEventsAtOnce)) {
      switch (event.type) {
        case WatchEvent::Type::kChange:
          for (const StateChange& change : event.change->changes) {
            const auto kind = static_cast<DependencyKind>(change.kind);
            if (Reads(route.reads, kind, change.id)) return Changed(route.id, kind, change.id);
          }
          break;
        case WatchEvent::Type::kSynced:
          return std::nullopt;
        case WatchEvent::Type::kGone:
          return StaleRoute{route.id, StaleRoute::Reason::kVersionGone, {}};
        case WatchEvent::Type::kSnapshot:
        case WatchEvent::Type::kCutOff:
          return StaleRoute{route.id, StaleRoute::Reason::kTooOld, {}};
      }
    }
  }
}

void WatchedRoutes::TellMoment(Report& report) const {
  report.epoch = epoch_;
  report.world_epoch = world_epoch_;
  report.life = life_;
  report.world_life = world_life_;
}

WatchedRoutes::Report WatchedRoutes::Check(double now_s) {
  Report report;
  report.stale = std::exchange(stale_, {});
  const auto view = registry_.View(scope_.navmesh_id, scope_.version, scope_.world_id, now_s);
  if (!view.ok()) {
    for (const auto& [id, route] : routes_)
      report.stale.push_back({id, StaleRoute::Reason::kVersionGone, {}});
    routes_.clear();
    dependency_count_ = 0;
    report.failure = view.failure();
    // A world may have gone with its epochs; the navmesh goes on.
    if (const auto moment = registry_.Moment(scope_.navmesh_id); moment.ok()) {
      epoch_ = moment->epoch;
      life_ = moment->life;
    }
    TellMoment(report);
    return report;
  }
  epoch_ = view->epoch();
  world_epoch_ = view->world_epoch();
  life_ = view->life();
  world_life_ = view->world_life();
  TellMoment(report);
  if (view->state_id() == checked_state_ && view->version() == checked_version_) return report;
  std::vector<uint64_t> gone;
  for (const auto& [id, route] : routes_) {
    const auto changed = std::find_if(
        route.reads.begin(), route.reads.end(),
        [&](const Dependency& read) { return view->Stamp(read.kind, read.id) != read.stamp; });
    if (changed == route.reads.end()) continue;
    report.stale.push_back(Changed(id, changed->kind, changed->id));
    gone.push_back(id);
  }
  for (const uint64_t id : gone) Erase(id);
  checked_state_ = view->state_id();
  checked_version_ = view->version();
  return report;
}

}  // namespace arclane
