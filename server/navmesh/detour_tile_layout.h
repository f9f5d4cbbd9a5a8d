// SPDX-License-Identifier: Apache-2.0
// How one tile of Detour's data version 7 lies in memory with 32-bit refs: a header of 100 bytes,
// then eight arrays, each of items of a fixed size that is a multiple of 4 (Recast Navigation,
// DetourNavMesh.h and DetourNavMeshBuilder.cpp).
#ifndef ARCLANE_SERVER_NAVMESH_DETOUR_TILE_LAYOUT_H_
#define ARCLANE_SERVER_NAVMESH_DETOUR_TILE_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace arclane {

// 'DNAV' as a 32-bit number.
inline constexpr uint32_t kDetourTileMagic = 0x444e4156;
inline constexpr int32_t kDetourTileVersion = 7;

struct DetourTileHeader {
  uint32_t magic;
  int32_t version;
  int32_t x, y, layer;
  uint32_t user_id;
  int32_t polygon_count;
  int32_t vertex_count;
  int32_t max_link_count;
  int32_t detail_polygon_count;
  int32_t detail_vertex_count;
  int32_t detail_triangle_count;
  int32_t bounds_node_count;
  int32_t connection_count;
  int32_t connection_base;  // Index of the first link polygon.
  float walkable_height;
  float walkable_radius;
  float walkable_climb;
  std::array<float, 3> low;
  std::array<float, 3> high;
  float quantisation;
};
static_assert(sizeof(DetourTileHeader) == 100);

inline constexpr size_t kDetourVerticesPerPolygon = 6;
struct DetourPolygon {
  uint32_t first_link;  // Written at run time.
  std::array<uint16_t, kDetourVerticesPerPolygon> vertices;
  std::array<uint16_t, kDetourVerticesPerPolygon> neighbours;
  uint16_t flags;
  uint8_t vertex_count;
  uint8_t area_and_type;  // Six bits of area, two of type.
};
static_assert(sizeof(DetourPolygon) == 32);
inline constexpr uint16_t kDetourBorderFlag = 0x8000;

// Written at run time as a whole.
inline constexpr size_t kDetourLinkBytes = 12;
inline constexpr size_t kDetourLinkBytes64 = 16;

struct DetourDetailPolygon {
  uint32_t vertex_begin;
  uint32_t triangle_begin;
  uint8_t vertex_count;
  uint8_t triangle_count;
  std::array<uint8_t, 2> padding;
};
static_assert(sizeof(DetourDetailPolygon) == 12);

struct DetourBoundsNode {
  std::array<uint16_t, 3> low;
  std::array<uint16_t, 3> high;
  int32_t index;  // Polygon of a leaf; negative: how many nodes to skip.
};
static_assert(sizeof(DetourBoundsNode) == 16);

struct DetourConnection {
  std::array<float, 6> ends;
  float radius;
  uint16_t polygon;
  uint8_t flags;  // Bit 0: both ways.
  uint8_t side;
  uint32_t user_id;
};
static_assert(sizeof(DetourConnection) == 36);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_DETOUR_TILE_LAYOUT_H_
