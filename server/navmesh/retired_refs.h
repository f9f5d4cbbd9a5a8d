// SPDX-License-Identifier: Apache-2.0
// The refs that a version's own line of updates has used and given up, so that a request that names
// one is told so. That none of them comes to name other geometry is the ledger's care
// (ref_ledger.h).
#ifndef ARCLANE_SERVER_NAVMESH_RETIRED_REFS_H_
#define ARCLANE_SERVER_NAVMESH_RETIRED_REFS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/navmesh/ids.h"

namespace arclane {

// A persistent map: copies share their content. Held as layers of falling size, each at least twice
// the next, so that adding k refs costs O(k log n) amortised and a look-up O(log n) probes.
class RetiredRefs {
 public:
  // Where the tile lay that the ref (of a tile in Detour meshes, of a polygon in neutral ones)
  // named.
  std::optional<TileCoordinates> Find(uint64_t ref) const;
  void Add(const std::vector<std::pair<uint64_t, TileCoordinates>>& refs);
  size_t size() const { return size_; }
  // Every ref, in ascending order.
  std::vector<std::pair<uint64_t, TileCoordinates>> All() const;

 private:
  using Layer = absl::flat_hash_map<uint64_t, TileCoordinates>;
  std::vector<std::shared_ptr<const Layer>> layers_;
  size_t size_ = 0;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_RETIRED_REFS_H_
