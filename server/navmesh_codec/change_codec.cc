// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh_codec/change_codec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

void CheckOnce(const std::vector<StateChange>& changes, const v1::StateChanges& message,
               const std::string& path, MeshViolations& violations) {
  struct Thing {
    StateChange::Kind kind;
    uint64_t id;
    size_t index;
    auto operator<=>(const Thing&) const = default;
  };
  std::vector<Thing> things;
  things.reserve(changes.size());
  for (size_t i = 0; i < changes.size(); ++i) things.push_back({changes[i].kind, changes[i].id, i});
  std::sort(things.begin(), things.end());
  for (size_t i = 1; i < things.size(); ++i) {
    if (things[i].kind != things[i - 1].kind || things[i].id != things[i - 1].id) continue;
    violations.Add(StateChangePath(message, path, things[i].index),
                   absl::StrCat("names ", things[i].id, ", as ",
                                StateChangePath(message, path, things[i - 1].index), " does"));
  }
}

void Append(const google::protobuf::RepeatedField<uint64_t>& ids, DependencyKind kind,
            std::vector<Dependency>& dependencies) {
  for (const uint64_t id : ids) dependencies.push_back({kind, id, kNoStamp});
}

}  // namespace

std::vector<StateChange> ReadStateChanges(const v1::StateChanges& message, const std::string& path,
                                          MeshViolations& violations) {
  std::vector<StateChange> changes;
  for (const uint64_t id : message.open_gates()) changes.push_back(StateChange::Gate({id}, true));
  for (const uint64_t id : message.closed_gates())
    changes.push_back(StateChange::Gate({id}, false));
  for (const uint64_t id : message.enabled_links())
    changes.push_back(StateChange::Link({id}, true));
  for (const uint64_t id : message.disabled_links())
    changes.push_back(StateChange::Link({id}, false));
  if (message.areas_size() != message.area_costs_size()) {
    violations.Add(path + ".area_costs",
                   absl::StrCat("must have as many entries as areas, ", message.areas_size(),
                                ", got ", message.area_costs_size()));
  }
  const int areas = std::min(message.areas_size(), message.area_costs_size());
  for (int i = 0; i < areas; ++i) {
    changes.push_back(StateChange::AreaCost({message.areas(i)}, message.area_costs(i)));
  }
  CheckOnce(changes, message, path, violations);
  return changes;
}

std::string StateChangePath(const v1::StateChanges& message, const std::string& path, size_t i,
                            const char* area_column) {
  // In the order of ReadStateChanges.
  const std::pair<const char*, int> lists[] = {{".open_gates", message.open_gates_size()},
                                               {".closed_gates", message.closed_gates_size()},
                                               {".enabled_links", message.enabled_links_size()},
                                               {".disabled_links", message.disabled_links_size()}};
  for (const auto& [list, size] : lists) {
    if (i < static_cast<size_t>(size)) return absl::StrCat(path, list, "[", i, "]");
    i -= static_cast<size_t>(size);
  }
  return absl::StrCat(path, ".", area_column, "[", i, "]");
}

void EncodeStateChanges(std::span<const StateChange> changes, v1::StateChanges* message) {
  for (const StateChange& change : changes) {
    switch (change.kind) {
      case StateChange::Kind::kGate:
        change.open ? message->add_open_gates(change.id) : message->add_closed_gates(change.id);
        break;
      case StateChange::Kind::kLink:
        change.open ? message->add_enabled_links(change.id)
                    : message->add_disabled_links(change.id);
        break;
      case StateChange::Kind::kAreaCost:
        message->add_areas(change.id);
        message->add_area_costs(change.cost);
        break;
    }
  }
}

std::vector<Dependency> ReadReadSet(const v1::ReadSet& message) {
  std::vector<Dependency> dependencies;
  Append(message.gate(), DependencyKind::kGate, dependencies);
  Append(message.tile(), DependencyKind::kTile, dependencies);
  Append(message.link(), DependencyKind::kLink, dependencies);
  Append(message.area(), DependencyKind::kArea, dependencies);
  std::sort(dependencies.begin(), dependencies.end());
  dependencies.erase(std::unique(dependencies.begin(), dependencies.end()), dependencies.end());
  return dependencies;
}

void EncodeReadSet(std::span<const Dependency> dependencies, v1::ReadSet* message) {
  for (const Dependency& dependency : dependencies) {
    switch (dependency.kind) {
      case DependencyKind::kGate:
        message->add_gate(dependency.id);
        break;
      case DependencyKind::kTile:
        message->add_tile(dependency.id);
        break;
      case DependencyKind::kLink:
        message->add_link(dependency.id);
        break;
      case DependencyKind::kArea:
        message->add_area(dependency.id);
        break;
    }
  }
}

void EncodeTilePlaces(std::span<const TileCoordinates> places, v1::TilePlaces* message) {
  for (const TileCoordinates& place : places) {
    message->add_x(place.x);
    message->add_y(place.y);
    message->add_layer(place.layer);
  }
}

std::vector<TileCoordinates> ReadTilePlaces(const v1::TilePlaces& message, const std::string& path,
                                            MeshViolations& violations) {
  const int size = message.x_size();
  const bool has_layers = message.layer_size() > 0;
  if (message.y_size() != size || (has_layers && message.layer_size() != size)) {
    violations.Add(path, "its columns must have equal lengths");
    return {};
  }
  std::vector<TileCoordinates> places;
  for (int i = 0; i < size; ++i) {
    places.push_back({message.x(i), message.y(i), has_layers ? message.layer(i) : 0});
  }
  return places;
}

void EncodeChangeRecord(const ChangeRecord& record, v1::NavMeshChange* message) {
  message->set_epoch(record.epoch.value);
  // The numbers of the two enums are the same.
  message->set_kind(static_cast<v1::NavMeshChangeKind>(record.type));
  message->set_version(record.version.value);
  message->set_base_version(record.base_version.value);
  if (!record.changes.empty()) EncodeStateChanges(record.changes, message->mutable_changes());
  if (!record.replaced_tiles.empty())
    EncodeTilePlaces(record.replaced_tiles, message->mutable_replaced_tiles());
}

static_assert(static_cast<int>(ChangeType::kPublished) == v1::NAV_MESH_CHANGE_KIND_PUBLISHED);
static_assert(static_cast<int>(ChangeType::kTilesUpdated) ==
              v1::NAV_MESH_CHANGE_KIND_TILES_UPDATED);
static_assert(static_cast<int>(ChangeType::kActivated) == v1::NAV_MESH_CHANGE_KIND_ACTIVATED);
static_assert(static_cast<int>(ChangeType::kRetired) == v1::NAV_MESH_CHANGE_KIND_RETIRED);
static_assert(static_cast<int>(ChangeType::kDeleted) == v1::NAV_MESH_CHANGE_KIND_DELETED);
static_assert(static_cast<int>(ChangeType::kStateChanged) ==
              v1::NAV_MESH_CHANGE_KIND_STATE_CHANGED);
static_assert(static_cast<int>(ChangeType::kMoved) == v1::NAV_MESH_CHANGE_KIND_MOVED);

}  // namespace arclane
