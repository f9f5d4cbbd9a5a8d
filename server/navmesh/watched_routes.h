// SPDX-License-Identifier: Apache-2.0
// Finds which of a set of routes have gone stale: those that were read from something that is not
// any more as it was when they were planned.
#ifndef ARCLANE_SERVER_NAVMESH_WATCHED_ROUTES_H_
#define ARCLANE_SERVER_NAVMESH_WATCHED_ROUTES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/navmesh/dependency.h"
#include "server/navmesh/ids.h"
#include "server/navmesh/navmesh_view.h"
#include "server/navmesh/registry.h"
#include "server/navmesh/result.h"

namespace arclane {

// Whose routes are watched.
struct RouteScope {
  std::string navmesh_id;
  NavMeshVersion version;  // 0: the active one as it changes, or that of the world.
  std::string world_id;
};

// A route and the moment at which it was planned.
struct WatchedRoute {
  uint64_t id = 0;
  NavMeshVersion version;  // 0: the current one.
  Epoch epoch;
  Epoch world_epoch;
  std::vector<Dependency> reads;  // Stamps are not looked at.
  LifeToken life = {};  // In which these epochs were told. 0: not known, and this one is meant.
  LifeToken world_life = {};
};

struct StaleRoute {
  enum class Reason {
    kChanged,       // `thing` is not as it was.
    kVersionGone,   // The version or the world cannot be asked any more.
    kTooOld,        // It was planned before the changes that are remembered.
    kUnknownState,  // It was planned in another life of the navmesh or the world, or at an epoch
                    // that is still to come: what it was read from may have been anything then.
  };
  uint64_t id = 0;
  Reason reason = Reason::kChanged;
  Dependency thing;  // Without stamp; kChanged alone.
};

// Not thread-safe. Memory: the routes' dependencies.
class WatchedRoutes {
 public:
  // The registry must outlive this.
  WatchedRoutes(NavMeshRegistry& registry, RouteScope scope)
      : registry_(registry), scope_(std::move(scope)) {}

  // Takes the place of a route with the same id. A route that is stale already is told by the next
  // Check.
  void Add(WatchedRoute route, double now_s);
  void Remove(uint64_t id);
  size_t dependency_count() const { return dependency_count_; }
  size_t route_count() const { return routes_.size(); }

  // Routes that went stale since the last check, which are not watched any more, as of a state not
  // older than the call. O(dependencies) when the state has changed, otherwise O(stale). When the
  // state cannot be viewed any more, every route is stale and the failure says why.
  struct Report {
    Epoch
        epoch;  // Where the state cannot be viewed: the navmesh's own, and the world's last known.
    Epoch world_epoch;
    LifeToken life;
    LifeToken world_life;
    std::vector<StaleRoute> stale;
    std::optional<NavMeshFailure> failure;
  };
  Report Check(double now_s);

 private:
  struct Route {
    std::vector<Dependency> reads;  // With the stamps of when it was planned.
  };

  // Why a route that was planned at an earlier moment is stale on `view`, if it is.
  std::optional<StaleRoute> StaleAlready(const WatchedRoute& route, const NavMeshView& view,
                                         double now_s) const;
  std::optional<StaleRoute> ChangedSince(const WatchedRoute& route, Epoch known,
                                         std::string_view world_id) const;
  // Whether nothing can be said of what the route was read from.
  bool StateUnknown(const WatchedRoute& route, const NavMeshView& view) const;
  void TellMoment(Report& report) const;
  void Erase(uint64_t id);

  NavMeshRegistry& registry_;
  const RouteScope scope_;
  absl::flat_hash_map<uint64_t, Route> routes_;
  std::vector<StaleRoute> stale_;  // Found by Add.
  size_t dependency_count_ = 0;
  // Of the last view.
  Epoch epoch_;
  Epoch world_epoch_;
  LifeToken life_;
  LifeToken world_life_;
  uint64_t checked_state_ = 0;  // The state under which all routes are current.
  NavMeshVersion checked_version_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_WATCHED_ROUTES_H_
