// SPDX-License-Identifier: Apache-2.0
// A navmesh in no engine's format: columns of vertices and convex polygons, with optional
// neighbours, areas, tiles, links and gates. Checked as a whole before anything is built from it.
#ifndef ARCLANE_SERVER_NAVMESH_NEUTRAL_MESH_H_
#define ARCLANE_SERVER_NAVMESH_NEUTRAL_MESH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "server/navmesh/gates.h"
#include "server/navmesh/mset_reader.h"
#include "server/navmesh/result.h"
#include "server/navmesh/snapshot.h"
#include "server/navmesh/tile.h"

namespace arclane {

// Marks an edge without a neighbour.
inline constexpr uint64_t kNoNeighbour = UINT64_MAX;

struct NeutralTile {
  uint64_t id = 0;
  TileCoordinates at;  // Only tiles whose x and y differ by at most 1 are linked.
};

struct NeutralLink {
  uint64_t id = 0;  // Polygons and links share one space of ids.
  MeshPoint start;  // On start_polygon, up to `radius` beside it in plan.
  MeshPoint end;
  uint64_t start_polygon = 0;
  uint64_t end_polygon = 0;
  double radius = 0.0;  // Also how far ground is looked for when the tile of an end is replaced.
  bool bidirectional = false;
  uint32_t area = 0;
  uint32_t flags = 0;
};

struct NeutralMesh {
  MeshUpAxis up = MeshUpAxis::kZ;
  double baked_radius = 0.0;  // By which the mesh was shrunk; >= 0.
  double max_step = 0.0;      // Largest height difference across a border between tiles; >= 0.
  bool float32_coordinates =
      false;  // Whether they were rounded to float32: widens what counts as collinear.

  // Vertices; the column of the up axis may be empty (all heights 0).
  std::vector<double> x, y, z;
  // Polygons of either winding, at least three vertices each, convex; collinear vertices are
  // allowed.
  std::vector<uint32_t> vertex_count;
  std::vector<uint32_t> vertex_index;  // sum(vertex_count) entries.
  std::vector<uint64_t> polygon_id;    // Unique; empty: the index.
  // By edge (edge e of a polygon runs from its vertex e to the next): the neighbour's id or
  // kNoNeighbour. Empty: polygons that share two successive vertices, by index or by equal
  // coordinates, are neighbours.
  std::vector<uint64_t> neighbour;
  std::vector<uint32_t> area;          // Empty: 0.
  std::vector<uint32_t> flags;         // Empty: 0.
  std::vector<uint32_t> polygon_tile;  // Index into `tiles`; empty: all in the first.
  std::vector<NeutralTile> tiles;      // Empty: one tile with id 0 at (0, 0, 0).
  std::vector<NeutralLink> links;      // A link belongs to its start polygon's tile.
  std::vector<GateDefinition> gates;
};

struct NeutralContent {
  MeshInfo info;
  std::vector<ReadTile> tiles;
};

struct NeutralOptions {
  // True for tiles that replace some of a mesh: neighbours and link ends may be polygons that are
  // not among these.
  bool is_update = false;
  bool keep_stored = true;
};

// Fails with kBrokenMesh and every violation: columns of wrong length, wild indices, non-finite
// coordinates, polygons that are not convex, duplicate ids, neighbours that do not exist, do not
// answer or have no such edge, links off their polygons. Places are entries of the columns by the
// names of the neutral message, such as `vertex_index[7]`; a polygon's own is `vertex_count[p]`.
// Within a tile neighbours share a whole edge; across tiles a part of it is enough.
NavMeshResult<NeutralContent> BuildNeutralTiles(const NeutralMesh& mesh,
                                                const NeutralOptions& options = {});

// A neutral tile from its stored bytes and back; nullptr when they are not such a tile's. The
// reader checks indices and shapes again: stored bytes may come from anywhere.
std::string EncodeNeutralTile(const Tile& tile);
std::unique_ptr<Tile> DecodeNeutralTile(std::string_view stored);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_NEUTRAL_MESH_H_
