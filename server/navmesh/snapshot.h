// SPDX-License-Identifier: Apache-2.0
// One version of a navmesh: tiles, links between them, gates. Immutable; readers keep a shared_ptr
// to it for as long as they plan, and no lock.
#ifndef ARCLANE_SERVER_NAVMESH_SNAPSHOT_H_
#define ARCLANE_SERVER_NAVMESH_SNAPSHOT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "server/navmesh/gates.h"
#include "server/navmesh/ids.h"
#include "server/navmesh/linked_tile.h"
#include "server/navmesh/mset_reader.h"
#include "server/navmesh/result.h"
#include "server/navmesh/retired_refs.h"
#include "server/navmesh/tile.h"

namespace arclane {

// What holds for all tiles of a lineage.
struct MeshInfo {
  TileSource source = TileSource::kDetour;
  MeshUpAxis up = MeshUpAxis::kY;
  double baked_radius = 0.0;  // The agent radius that the mesh was shrunk by; >= 0.
  DetourParams params;        // Of Detour meshes.
  double max_step = 0.0;      // Neutral: largest difference in height across a border of two tiles.
  double tolerance = 0.0;     // Neutral: points closer than this are the same point.

  friend bool operator==(const MeshInfo&, const MeshInfo&) = default;
};

struct PolygonLocation {
  uint32_t slot = 0;
  uint32_t polygon = 0;

  friend bool operator==(PolygonLocation, PolygonLocation) = default;
};

// What lies between two successive polygons of a corridor.
enum class CrossingKind : uint8_t { kEdge, kLinkEntry, kLinkExit };
struct Crossing {
  CrossingKind kind = CrossingKind::kEdge;
  PortalEnds ends;  // Equal for links.
};

// A directed link as Detour lists it. `edge` is 0xff from ground onto a link; from a link 0 leads
// to its start, 1 to its end.
struct PolygonLink {
  PolygonLocation to;
  uint16_t edge = 0;
  uint8_t side = kNoSide;
  uint8_t low = 0;
  uint8_t high = 0;
  PortalEnds ends;
};
inline constexpr uint16_t kOntoLink = 0xff;

class NavMeshSnapshot {
 public:
  // `tiles` by slot; null slots are allowed. With `base`, a snapshot of the same lineage, whatever
  // did not change is shared with it. Unless `retired` is given, for a version that is read back,
  // every tile of the base that is no longer there is added to the retired refs. `next_stamp`
  // numbers tiles; unique within the registry. Fails with kBrokenMesh (every dangling gate,
  // duplicate ref) or kLimitExceeded (more comparisons of border edges than
  // any sane mesh needs). `places` tells where gates come from, for violations; without it they are
  // named by their ids. O(tiles + changed polygons).
  static NavMeshResult<std::shared_ptr<const NavMeshSnapshot>> Assemble(
      const MeshInfo& info, std::vector<std::shared_ptr<const Tile>> tiles,
      std::shared_ptr<const GateTable> gates, const NavMeshSnapshot* base,
      std::atomic<uint64_t>& next_stamp, const RetiredRefs* retired = nullptr,
      const GatePlaces* places = nullptr);

  const MeshInfo& info() const { return info_; }
  const GateTable& gates() const { return *gates_; }
  const std::shared_ptr<const GateTable>& shared_gates() const { return gates_; }
  const RetiredRefs& retired() const { return retired_; }

  // Slots are stable within a lineage; a slot without a tile is null.
  size_t slot_count() const { return tiles_.size(); }
  const LinkedTile* tile(uint32_t slot) const { return tiles_[slot].get(); }
  std::optional<uint32_t> SlotOf(TileRef ref) const;
  std::optional<uint32_t> SlotAt(const TileCoordinates& at) const;

  size_t tile_count() const { return by_ref_.size(); }
  size_t polygon_count() const { return polygon_count_; }
  // Directed links, as Detour counts them.
  size_t CountLinks() const;

  // nullopt when the ref names no polygon of this version; then Explain tells why.
  std::optional<PolygonLocation> Find(PolygonRef ref) const;
  PolygonRef RefOf(PolygonLocation at) const { return tiles_[at.slot]->tile->ref_of(at.polygon); }
  // kReplacedTile or kUnknownPolygon; `place` names the ref in the request.
  NavMeshFailure Explain(PolygonRef ref, const std::string& place) const;

  // The crossing from one polygon to the next; nullopt when none leads there. O(log links of a
  // border).
  std::optional<Crossing> CrossingBetween(PolygonLocation from, PolygonLocation to) const;
  // Every directed link of a polygon. O(links around its tile) for links onto off-mesh connections.
  void ForEachLink(PolygonLocation from, absl::FunctionRef<void(const PolygonLink&)> visit) const;
  const LandedLink& landed(PolygonLocation link) const {
    const LinkedTile& tile = *tiles_[link.slot];
    return tile.links[link.polygon - tile.tile->ground_count];
  }
  bool is_link(PolygonLocation at) const { return tiles_[at.slot]->tile->is_link(at.polygon); }

  // All that this version holds, shared or not, in bytes.
  size_t ByteSize() const { return byte_size_; }

 private:
  friend class SnapshotAssembly;
  NavMeshSnapshot() = default;

  MeshInfo info_;
  std::shared_ptr<const GateTable> gates_;
  RetiredRefs retired_;
  std::vector<std::shared_ptr<const LinkedTile>> tiles_;
  absl::flat_hash_map<TileRef, uint32_t> by_ref_;
  std::vector<std::pair<TileCoordinates, uint32_t>> by_coordinates_;  // Sorted.
  absl::flat_hash_map<uint64_t, uint32_t> by_tile_index_;  // Detour: the ref's tile bits -> slot.
  std::shared_ptr<const absl::flat_hash_map<PolygonRef, PolygonLocation>> by_polygon_;  // Neutral.
  size_t polygon_count_ = 0;
  size_t byte_size_ = 0;
};

// The bytes that would be added to `base` (which may be null) by keeping `snapshot` too.
size_t UnsharedBytes(const NavMeshSnapshot& snapshot, const NavMeshSnapshot* base);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_SNAPSHOT_H_
