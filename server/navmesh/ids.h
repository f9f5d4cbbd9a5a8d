// SPDX-License-Identifier: Apache-2.0
// The names of things in a navmesh, each a type of its own: a tile's ref never passes for a
// polygon's.
#ifndef ARCLANE_SERVER_NAVMESH_IDS_H_
#define ARCLANE_SERVER_NAVMESH_IDS_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace arclane {

// A 64-bit number with a tag. Hashable, ordered, never converted silently.
template <typename Tag>
struct NavMeshNumber {
  uint64_t value = 0;

  friend constexpr auto operator<=>(NavMeshNumber a, NavMeshNumber b) = default;
  template <typename H>
  friend H AbslHashValue(H h, NavMeshNumber n) {
    return H::combine(std::move(h), n.value);
  }
};

// The caller's name of a polygon, kept as it came: a Detour polygon ref (32 bits, zero-extended) or
// the 64-bit id of a neutral mesh. An off-mesh link is a polygon of two vertices, and its ref is
// the link's id too.
using PolygonRef = NavMeshNumber<struct PolygonRefTag>;
// The caller's name of a tile: a Detour tile ref, or the tile id of a neutral mesh.
using TileRef = NavMeshNumber<struct TileRefTag>;
// A named set of polygon borders that opens and closes as one.
using GateId = NavMeshNumber<struct GateIdTag>;
// A kind of ground.
using AreaId = NavMeshNumber<struct AreaIdTag>;
// The caller's version of a map; 0 means the active one where a request may say so.
using NavMeshVersion = NavMeshNumber<struct NavMeshVersionTag>;
// A published version and all that were made from it by replacing tiles. Unique within one
// registry.
using LineageId = NavMeshNumber<struct LineageIdTag>;
// Counts the changes of one scope (a navmesh or a world) without gaps.
using Epoch = NavMeshNumber<struct EpochTag>;
// One life of a navmesh or a world: drawn at random when it is made, kept for as long as its data
// is. Epochs of one life say nothing about another's. Never 0; 0 means that the life is not told.
using LifeToken = NavMeshNumber<struct LifeTokenTag>;

// Where a tile lies in the grid. Unique among the tiles of one version.
struct TileCoordinates {
  int32_t x = 0;
  int32_t y = 0;
  int32_t layer = 0;

  friend constexpr auto operator<=>(const TileCoordinates&, const TileCoordinates&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const TileCoordinates& c) {
    return H::combine(std::move(h), c.x, c.y, c.layer);
  }
};

// "(x, y, layer)", as in messages.
std::string ToString(const TileCoordinates& coordinates);

// The axis that points up. The horizontal axes are the other two in the order x, y, z.
enum class MeshUpAxis : uint8_t { kX = 0, kY = 1, kZ = 2 };

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_IDS_H_
