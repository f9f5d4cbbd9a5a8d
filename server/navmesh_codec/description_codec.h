// SPDX-License-Identifier: Apache-2.0
// Descriptions of navmeshes and worlds as messages.
#ifndef ARCLANE_SERVER_NAVMESH_CODEC_DESCRIPTION_CODEC_H_
#define ARCLANE_SERVER_NAVMESH_CODEC_DESCRIPTION_CODEC_H_

#include "arclane/v1/navmesh.pb.h"
#include "server/navmesh/registry_types.h"
#include "server/navmesh/watcher.h"

namespace arclane {

void EncodeNavMesh(const NavMeshDescription& description, v1::NavMesh* message);
void EncodeWorld(const WorldDescription& description, v1::World* message);

// Snapshot, synced and the ends; changes are gathered by the caller (change_codec.h).
void EncodeWatchEvent(const WatchEvent& event, v1::WatchNavMeshResponse* message);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_CODEC_DESCRIPTION_CODEC_H_
