// SPDX-License-Identifier: Apache-2.0
// Reads Detour's navmesh files: the MSET set of tiles that the Recast demo and many games write,
// little endian with 32-bit polygon refs, tile data version 7 (Recast Navigation, DetourNavMesh.h).
// Nothing in the bytes is trusted: every count, offset and index is checked before it is used, and
// every contradiction is listed. O(bytes), memory below 4 times the bytes.
#ifndef ARCLANE_SERVER_NAVMESH_MSET_READER_H_
#define ARCLANE_SERVER_NAVMESH_MSET_READER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/navmesh/result.h"
#include "server/navmesh/tile.h"

namespace arclane {

// How a Detour navmesh numbers its tiles and polygons.
struct DetourParams {
  std::array<float, 3> origin{};
  float tile_width = 0.0f;
  float tile_height = 0.0f;
  int32_t max_tiles = 0;
  int32_t max_polygons = 0;  // Per tile.

  friend bool operator==(const DetourParams&, const DetourParams&) = default;
  // Bits of a ref, from the lowest: polygon, tile, salt.
  uint32_t polygon_bits() const;
  uint32_t tile_bits() const;
  uint64_t polygon_mask() const { return (uint64_t{1} << polygon_bits()) - 1; }
  uint64_t tile_index(TileRef ref) const {
    return (ref.value >> polygon_bits()) & ((uint64_t{1} << tile_bits()) - 1);
  }
  // Empty, or what is wrong: non-finite numbers, counts below 1, fewer than Detour's 10 bits left
  // for the salt.
  std::string Problem() const;
};

// A tile and the bytes from which it can be read again (ReadDetourTile).
struct ReadTile {
  std::shared_ptr<const Tile> tile;
  std::string stored;
};

struct MsetContent {
  DetourParams params;
  std::vector<ReadTile> tiles;  // In the file's order.
};

// kMalformed: no MSET file, truncated, or sizes that do not add up. kUnsupported: other versions,
// big endian, 64-bit refs. kBrokenMesh: with every violation, places such as
// `tiles[3].polygons[17].edges[2]`. `keep_stored`: whether to fill ReadTile::stored (digests are
// computed anyway).
struct MsetOptions {
  bool keep_stored = true;
};
NavMeshResult<MsetContent> ReadMset(std::string_view file, const MsetOptions& options = {});

// One tile blob (magic DNAV). Null when it had to be given up; what is wrong is in `violations` or,
// for sizes that do not add up, in `malformed`. The digest is that of `ref` and the blob with
// everything that Detour writes at run time set to zero.
std::unique_ptr<Tile> ReadDetourTile(TileRef ref, std::string_view blob, const DetourParams& params,
                                     const std::string& place, MeshViolations& violations,
                                     NavMeshFailure& malformed, std::string* stored);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_MSET_READER_H_
