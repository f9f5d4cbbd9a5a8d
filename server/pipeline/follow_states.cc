// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/follow_states.h"

#include <string>
#include <utility>

#include "server/codec/field_checks.h"
#include "server/navmesh/state_overlay.h"

namespace arclane {
namespace {

DependencyState ToState(int change) {
  switch (change) {
    case v1::CHANGE_KIND_GATE_CLOSED:
      return DependencyState::kGateClosed;
    case v1::CHANGE_KIND_LINK_DISABLED:
      return DependencyState::kLinkDisabled;
    case v1::CHANGE_KIND_TILE_REPLACED:
      return DependencyState::kTileReplaced;
    case v1::CHANGE_KIND_AREA_COST:
      return DependencyState::kAreaCostChanged;
    default:
      return DependencyState::kCurrent;
  }
}

// The numbers of the two enums are the same.
DependencyKind KindOf(v1::DependencyKind kind) { return static_cast<DependencyKind>(kind); }

// What a thing of the navmesh is, against the stamp that it had for the route.
DependencyState Compare(v1::DependencyKind kind, uint64_t before, uint64_t now) {
  switch (kind) {
    case v1::DEPENDENCY_KIND_GATE:
      return now == kClosedStamp ? DependencyState::kGateClosed : DependencyState::kCurrent;
    case v1::DEPENDENCY_KIND_LINK:
      return now == kOpenStamp ? DependencyState::kCurrent : DependencyState::kLinkDisabled;
    case v1::DEPENDENCY_KIND_TILE:
      return now == before && now != kNoStamp ? DependencyState::kCurrent
                                              : DependencyState::kTileReplaced;
    case v1::DEPENDENCY_KIND_AREA:
      return now == before ? DependencyState::kCurrent : DependencyState::kAreaCostChanged;
    default:
      return DependencyState::kCurrent;
  }
}

}  // namespace

std::optional<NavMeshFailure> FollowStates::Watch(const v1::NavMeshRef& navmesh) {
  auto view = views_(navmesh, navmesh.version());
  if (!view.ok()) return std::move(view).failure();
  navmesh_ = navmesh;
  view_.emplace(*std::move(view));
  return std::nullopt;
}

void FollowStates::Take(const v1::ChangeColumns& changes, Violations& violations) {
  const size_t before = violations.total();
  CheckSameLength("changes.id", changes.id_size(), changes.kind_size(), violations);
  CheckSameLength("changes.change", changes.change_size(), changes.kind_size(), violations);
  if (violations.total() > before) return;
  for (int i = 0; i < changes.kind_size(); ++i) {
    const std::string at = "[" + std::to_string(i) + "]";
    if (changes.kind(i) == v1::DEPENDENCY_KIND_UNSPECIFIED ||
        !v1::DependencyKind_IsValid(changes.kind(i))) {
      violations.Add(ViolationReason::kUnknownValue, "changes.kind" + at, "unknown value");
    }
    if (!v1::ChangeKind_IsValid(changes.change(i)))
      violations.Add(ViolationReason::kUnknownValue, "changes.change" + at, "unknown value");
  }
  if (violations.total() > before) return;
  for (int i = 0; i < changes.kind_size(); ++i) {
    auto& states = changed_[changes.kind(i)];
    const DependencyState state = ToState(changes.change(i));
    if (state == DependencyState::kCurrent) {
      states.erase(changes.id(i));
    } else {
      states[changes.id(i)] = state;
    }
  }
}

bool FollowStates::Refresh() {
  if (!navmesh_) return false;
  auto view = views_(*navmesh_, navmesh_->version());
  if (!view.ok()) {
    const bool differs = view_.has_value();
    view_.reset();
    return differs;
  }
  const bool differs =
      !view_ || view_->state_id() != view->state_id() || view_->version() != view->version();
  if (differs) view_.emplace(*std::move(view));
  return differs;
}

void FollowStates::Begin(RouteStates& route, uint64_t navmesh_version) const {
  const std::vector<DependencyKey>& read_set = route.route->read_set;
  route.states.assign(read_set.size(), DependencyState::kCurrent);
  route.stamps.clear();
  if (navmesh_) {
    // Tiles are those of the version of the plan; costs those of now.
    std::optional<NavMeshResult<NavMeshView>> planned;
    if (navmesh_version != 0 && view_ && navmesh_version != view_->version().value) {
      v1::NavMeshRef version = *navmesh_;
      version.clear_world_id();
      planned.emplace(views_(version, navmesh_version));
    }
    for (const DependencyKey& key : read_set) {
      uint64_t stamp = kNoStamp;
      if (v1::DependencyKind_IsValid(key.kind) && view_) {
        const bool is_tile = key.kind == v1::DEPENDENCY_KIND_TILE;
        if (!is_tile || !planned) {
          stamp = view_->Stamp(KindOf(key.kind), key.id);
        } else if (planned->ok()) {
          stamp = (*planned)->Stamp(KindOf(key.kind), key.id);
        }
      }
      route.stamps.push_back(stamp);
    }
  }
  Update(route);
}

DependencyState FollowStates::StateOf(const DependencyKey& key, uint64_t stamp) const {
  if (!v1::DependencyKind_IsValid(key.kind)) return DependencyState::kCurrent;
  const auto it = changed_[key.kind].find(key.id);
  if (it != changed_[key.kind].end()) return it->second;
  if (!navmesh_) return DependencyState::kCurrent;
  if (!view_) return DependencyState::kTileReplaced;  // All of the navmesh is gone.
  return Compare(key.kind, stamp, view_->Stamp(KindOf(key.kind), key.id));
}

void FollowStates::Update(RouteStates& route) const {
  const std::vector<DependencyKey>& read_set = route.route->read_set;
  for (size_t i = 0; i < read_set.size(); ++i) {
    route.states[i] = StateOf(read_set[i], route.stamps.empty() ? kNoStamp : route.stamps[i]);
  }
}

}  // namespace arclane
