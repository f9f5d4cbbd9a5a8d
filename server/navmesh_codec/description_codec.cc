// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh_codec/description_codec.h"

#include <string>

#include "server/navmesh_codec/change_codec.h"

namespace arclane {

void EncodeNavMesh(const NavMeshDescription& description, v1::NavMesh* message) {
  message->set_navmesh_id(description.navmesh_id);
  message->set_epoch(description.epoch.value);
  message->set_active_version(description.active.value);
  message->set_memory_bytes(description.bytes);
  for (const VersionDescription& version : description.versions) {
    v1::NavMeshVersion* added = message->add_versions();
    added->set_version(version.version.value);
    added->set_base_version(version.base_version.value);
    added->set_mesh_digest(std::string(version.digest.view()));
    added->set_active(version.active);
    added->set_retired(version.retired);
    added->set_damage(version.damage);
    added->set_tile_count(version.tile_count);
    added->set_polygon_count(version.polygon_count);
    added->set_memory_bytes(version.bytes);
    added->set_world_count(version.world_count);
    if (!version.states.empty()) EncodeStateChanges(version.states, added->mutable_states());
  }
}

void EncodeWorld(const WorldDescription& description, v1::World* message) {
  message->set_navmesh_id(description.navmesh_id);
  message->set_world_id(description.world_id);
  message->set_version(description.version.value);
  message->set_epoch(description.epoch.value);
  if (!description.states.empty())
    EncodeStateChanges(description.states, message->mutable_states());
}

void EncodeWatchEvent(const WatchEvent& event, v1::WatchNavMeshResponse* message) {
  message->set_epoch(event.epoch.value);
  message->set_life(event.life.value);
  switch (event.type) {
    case WatchEvent::Type::kSnapshot: {
      v1::WatchSnapshot* snapshot = message->mutable_snapshot();
      snapshot->set_resync(event.resync);
      if (event.navmesh) EncodeNavMesh(*event.navmesh, snapshot->mutable_navmesh());
      if (event.world) EncodeWorld(*event.world, snapshot->mutable_world());
      break;
    }
    case WatchEvent::Type::kChange:
      EncodeChangeRecord(*event.change, message->mutable_changes()->add_changes());
      break;
    case WatchEvent::Type::kSynced:
      message->mutable_synced();
      break;
    case WatchEvent::Type::kCutOff:
    case WatchEvent::Type::kGone:
      message->mutable_going_away()->set_reason(event.type == WatchEvent::Type::kCutOff
                                                    ? v1::STREAM_END_TOO_SLOW
                                                    : v1::STREAM_END_WORLD_DELETED);
      message->mutable_going_away()->set_detail(event.reason);
      break;
  }
}

}  // namespace arclane
