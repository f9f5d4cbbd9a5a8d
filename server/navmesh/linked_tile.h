// SPDX-License-Identifier: Apache-2.0
// A tile within a version: the tile and its links to the tiles around it. Rebuilt when the tile or
// a neighbour is replaced, shared between versions otherwise.
#ifndef ARCLANE_SERVER_NAVMESH_LINKED_TILE_H_
#define ARCLANE_SERVER_NAVMESH_LINKED_TILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "server/navmesh/tile.h"

namespace arclane {

inline constexpr uint32_t kNoIndex = 0xffffffff;

// From an edge of a polygon of this tile to a polygon of the target tile. The portal is the part of
// the edge between the fractions low / 255 and high / 255 from its first vertex; 0 and 255 mean the
// vertices themselves.
struct BorderLink {
  uint32_t from = 0;
  uint32_t to = 0;
  uint16_t edge = 0;
  uint8_t side = kNoSide;
  uint8_t low = 0;
  uint8_t high = 255;
  uint32_t portal =
      kNoIndex;  // Index into Border::portals, where the portal is not a part in 255ths.
};

// The two ends of a portal as seen by an agent that leaves the first polygon.
struct PortalEnds {
  MeshPoint left;
  MeshPoint right;
};

// All links from one tile to one other. Depends on the content of these two tiles alone.
struct Border {
  uint32_t target_slot = 0;
  std::vector<BorderLink>
      links;  // By `from`; links of one polygon in the order in which Detour visits them.
  std::vector<PortalEnds> portals;
};

// An off-mesh connection whose ends were put on the ground, as far as there is any.
struct LandedLink {
  MeshPoint start;  // As published where it does not land; otherwise on the ground below (Detour).
  MeshPoint end;
  uint32_t start_polygon = kNoIndex;  // Ground polygon of the same tile.
  uint32_t end_slot = kNoIndex;
  uint32_t end_polygon = kNoIndex;

  friend bool operator==(const LandedLink&, const LandedLink&) = default;
};

struct LinkedTile {
  std::shared_ptr<const Tile> tile;
  // Unique to the tile's content and the gates on its borders; kept while neither changes. What
  // cached routes remember of the tile.
  uint64_t stamp = 0;
  std::vector<std::shared_ptr<const Border>> borders;
  std::vector<LandedLink> links;  // By link polygon.

  // Of this tile's borders and links alone, without the tile.
  size_t ByteSize() const;
};

// Bounds the work of linking, so that no file can make it quadratic without end. False once used
// up.
class LinkBudget {
 public:
  explicit LinkBudget(uint64_t comparisons) : left_(comparisons) {}
  bool Spend(uint64_t comparisons) {
    if (comparisons > left_)
      left_ = 0;
    else
      left_ -= comparisons;
    return left_ > 0;
  }

 private:
  uint64_t left_;
};

// Links across the border of two Detour tiles, `to` lying over `side` of `from` (kNoSide: another
// layer at the same place). Edges on opposite sides are matched within 0.01 length units in the
// border's plane and within the walkable climb of `to` in height, as Detour's DetourNavMesh.cpp
// does, up to 4 links an edge. Null when there are none, or when the budget is used up.
std::shared_ptr<const Border> LinkDetourBorder(const Tile& from, const Tile& to, uint8_t side,
                                               uint32_t target_slot, LinkBudget& budget);

// Links between two neutral tiles: antiparallel collinear border edges that overlap by more than
// `tolerance` in plan and differ in height there by at most `max_step` (or tolerance). Null when
// there are none.
std::shared_ptr<const Border> LinkNeutralBorder(const Tile& from, const Tile& to, MeshUpAxis up,
                                                double tolerance, double max_step,
                                                uint32_t target_slot, LinkBudget& budget);

// Where a connection's end lands on `tile`: the nearest ground polygon within the radius in plan
// and the climb in height.
struct Landing {
  uint32_t polygon = 0;
  MeshPoint point;
  double distance = 0.0;  // In plan; neutral meshes only, as is the next.
  double height = 0.0;    // Between the point and the polygon.
};
std::optional<Landing> LandOnDetourTile(const Tile& tile, const MeshPoint& point, double radius,
                                        double climb, LinkBudget& budget);
// The polygon of `tile` in which the point lies in plan, the nearest in height; the point stays as
// it is.
std::optional<Landing> LandOnNeutralTile(const Tile& tile, const MeshPoint& point, double radius,
                                         MeshUpAxis up, LinkBudget& budget);

// The ends of the part of a polygon's edge between two fractions in 255ths, in float32 arithmetic
// for Detour's tiles.
PortalEnds EdgePortal(const Tile& tile, uint32_t polygon, uint32_t edge, uint8_t low, uint8_t high);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_LINKED_TILE_H_
