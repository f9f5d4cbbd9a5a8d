// SPDX-License-Identifier: Apache-2.0
// What a stream knows of the things that its routes depend on: from its client's changes, and from
// the navmesh that it named, if it did.
#ifndef ARCLANE_SERVER_PIPELINE_FOLLOW_STATES_H_
#define ARCLANE_SERVER_PIPELINE_FOLLOW_STATES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "arclane/v1/follow.pb.h"
#include "server/codec/follow_codec.h"
#include "server/navmesh/navmesh_view.h"
#include "server/navmesh/result.h"
#include "server/planning/follow/follow_step.h"
#include "server/planning/geometry/violation.h"

namespace arclane {

// The state of one version of a navmesh; version 0: the active one, or that of the world.
using ViewSource =
    std::function<NavMeshResult<NavMeshView>(const v1::NavMeshRef& navmesh, uint64_t version)>;

// A route's dependencies and their states, in the order of its read set.
struct RouteStates {
  std::shared_ptr<const FollowedRoute> route;
  std::vector<DependencyState> states;
  // The stamps under which the navmesh's things are as they were for the route; empty without a
  // navmesh.
  std::vector<uint64_t> stamps;
};

// Not thread-safe.
class FollowStates {
 public:
  // `views` may be null: no navmesh can be named then.
  explicit FollowStates(ViewSource views) : views_(std::move(views)) {}

  // Names the navmesh. Tells why it cannot be viewed.
  std::optional<NavMeshFailure> Watch(const v1::NavMeshRef& navmesh);
  bool watches() const { return navmesh_.has_value(); }
  const v1::NavMeshRef& navmesh() const { return *navmesh_; }

  // What the client tells. Nothing is taken over when there are violations.
  void Take(const v1::ChangeColumns& changes, Violations& violations);
  // Looks at the navmesh again. Whether it differs from when it was last looked at. O(1).
  bool Refresh();

  // Gives a new route its states.
  void Begin(RouteStates& route, uint64_t navmesh_version) const;
  // Brings a route up to date with what was taken and refreshed. O(read set).
  void Update(RouteStates& route) const;

 private:
  DependencyState StateOf(const DependencyKey& key, uint64_t stamp) const;

  const ViewSource views_;
  std::optional<v1::NavMeshRef> navmesh_;
  std::optional<NavMeshView> view_;  // None when the navmesh or the world is gone.
  // What the client said has changed; by kind and id.
  absl::flat_hash_map<uint64_t, DependencyState> changed_[5];
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_FOLLOW_STATES_H_
