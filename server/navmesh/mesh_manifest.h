// SPDX-License-Identifier: Apache-2.0
// A version as it is stored: what holds for all tiles, which tiles it has by their digests, its
// gates, and the refs its lineage has given up. The digest of these bytes is the version's content
// digest.
#ifndef ARCLANE_SERVER_NAVMESH_MESH_MANIFEST_H_
#define ARCLANE_SERVER_NAVMESH_MESH_MANIFEST_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/digest/digest.h"
#include "server/navmesh/snapshot.h"

namespace arclane {

struct MeshManifest {
  struct StoredTile {
    uint32_t slot = 0;
    TileRef ref;
    ContentDigest digest;
  };
  MeshInfo info;
  uint32_t slot_count = 0;
  std::vector<StoredTile> tiles;  // By slot.
  std::vector<GateDefinition> gates;
  std::vector<std::pair<uint64_t, TileCoordinates>> retired;

  static MeshManifest Of(const NavMeshSnapshot& snapshot);
  std::string Encode() const;
  // nullopt when the bytes are no manifest.
  static std::optional<MeshManifest> Decode(std::string_view bytes);
};

// The stored bytes of a tile, whatever its source: read again by DecodeTile, which gives nullptr
// for bytes that are no tile of this mesh.
std::unique_ptr<Tile> DecodeTile(std::string_view stored, TileRef ref, const MeshInfo& info);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_MESH_MANIFEST_H_
