// SPDX-License-Identifier: Apache-2.0
// Which content the refs of a navmesh have named in the versions that tile updates made, whether
// these versions are still there or not: a ref that once named a tile, or a polygon of a tile,
// never names other content.
#ifndef ARCLANE_SERVER_NAVMESH_REF_LEDGER_H_
#define ARCLANE_SERVER_NAVMESH_REF_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "server/navmesh/ids.h"
#include "server/navmesh/result.h"
#include "server/navmesh/tile.h"

namespace arclane {

// Names a tile's content: the first 64 bits of its digest, which covers its refs.
using ContentMark = NavMeshNumber<struct ContentMarkTag>;
// Marks a ref that has named several contents, as publishing whole versions may have it do, or one
// that nobody remembers: it cannot be given to a new tile.
inline constexpr ContentMark kSeveralContents{0};

// Successive polygon refs, both ends included.
struct RefRange {
  uint64_t first = 0;
  uint64_t last = 0;

  friend bool operator==(const RefRange&, const RefRange&) = default;
};

// The refs that one content bears.
struct ContentRefs {
  ContentMark content;
  std::optional<TileRef> tile;
  std::vector<RefRange> polygons;  // Ascending. Of neutral tiles; those of Detour's are its ref's.
};
ContentRefs RefsOf(const Tile& tile);
// Ascending ranges of refs in any order.
std::vector<RefRange> RangesOf(std::vector<uint64_t> refs);

// Not thread-safe. Memory: what a tile's refs are in a row costs one entry, as callers that number
// polygons tile by tile have it.
class RefLedger {
 public:
  // Refs that have named another content become those of kSeveralContents. O(ranges x log).
  void Add(const ContentRefs& refs);
  // Whether Add would change nothing.
  bool Has(const ContentRefs& refs) const;
  // Whether all refs of the tile are known to name its content, as far as the tile's own ref tells.
  // O(1).
  bool HasTile(const Tile& tile) const;
  // Each adds a violation at `place` for every such ref of the tile that has named other content.
  // O(polygons x log).
  void CheckTileRef(const Tile& tile, const std::string& place, MeshViolations& violations) const;
  void CheckPolygonRefs(const Tile& tile, const std::string& place,
                        MeshViolations& violations) const;
  // nullopt for refs that have named nothing.
  std::optional<ContentMark> Find(TileRef ref) const;
  std::optional<ContentMark> Find(PolygonRef ref) const;
  size_t range_count() const { return polygons_.size(); }

 private:
  struct Entry {
    uint64_t last = 0;
    ContentMark content;
  };
  using Ranges = absl::btree_map<uint64_t, Entry>;  // By their first refs; they do not overlap.

  // The first range that ends at `ref` or after it.
  Ranges::const_iterator EndingAfter(uint64_t ref) const;
  void AddRange(const RefRange& range, ContentMark content);
  // Of a part that is free; joined with its neighbours where they name the same content.
  void Put(RefRange range, ContentMark content);

  absl::flat_hash_map<TileRef, ContentMark> tiles_;
  Ranges polygons_;
};

// A byte form, and back; nullopt when the bytes are none.
std::string EncodeRefs(const std::vector<ContentRefs>& refs);
std::optional<std::vector<ContentRefs>> DecodeRefs(std::string_view bytes);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_REF_LEDGER_H_
