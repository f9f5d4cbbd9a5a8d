// SPDX-License-Identifier: Apache-2.0
// What a route was read from, and in which state that was then. A kept route is current exactly
// while every stamp is.
#ifndef ARCLANE_SERVER_NAVMESH_DEPENDENCY_H_
#define ARCLANE_SERVER_NAVMESH_DEPENDENCY_H_

#include <cstdint>
#include <vector>

namespace arclane {

// The numbers are those of the wire.
enum class DependencyKind : uint8_t { kGate = 1, kTile = 2, kLink = 3, kArea = 4 };

struct Dependency {
  DependencyKind kind = DependencyKind::kTile;
  uint64_t id = 0;  // GateId, TileRef, the link's PolygonRef, AreaId.
  uint64_t stamp =
      0;  // Names the state: equal stamps mean that nothing a corridor can read differs.

  friend auto operator<=>(const Dependency&, const Dependency&) = default;
};

// The stamp of a thing that does not exist.
inline constexpr uint64_t kNoStamp = 0;

// Tells the stamps of one consistent state. Immutable; thread-safe.
class StampSource {
 public:
  virtual ~StampSource() = default;
  virtual uint64_t Stamp(DependencyKind kind, uint64_t id) const = 0;
  // Unique to the state within the process: two sources with equal ids tell equal stamps. Never 0.
  virtual uint64_t state_id() const = 0;
};

// What a corridor was read from, as columns of equal length in ascending order of (kind, id), each
// thing once.
struct ReadSet {
  std::vector<Dependency> dependencies;
  std::vector<uint32_t> portal_index;  // The first portal that depends; the number of portals for
                                       // the last cell alone.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_DEPENDENCY_H_
