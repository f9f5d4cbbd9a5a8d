// SPDX-License-Identifier: Apache-2.0
// The content of a version as messages: an overview, and a message for each tile.
#ifndef ARCLANE_SERVER_NAVMESH_CODEC_CONTENT_CODEC_H_
#define ARCLANE_SERVER_NAVMESH_CODEC_CONTENT_CODEC_H_

#include <cstdint>

#include "arclane/v1/navmesh.pb.h"
#include "server/navmesh/navmesh_view.h"

namespace arclane {

// With the states of gates and links as the view has them. O(links of the mesh).
void EncodeOverview(const NavMeshView& view, v1::NavMeshOverview* message);
// The slot must hold a tile. O(links of the tile).
void EncodeTile(const NavMeshSnapshot& snapshot, uint32_t slot, v1::NavMeshTile* message);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_CODEC_CONTENT_CODEC_H_
