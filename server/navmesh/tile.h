// SPDX-License-Identifier: Apache-2.0
// One tile of a navmesh as it was published: polygons, borders still open, off-mesh connections.
// Immutable once built and shared by every version that has it, so that readers need no lock. Links
// to other tiles are made when a version is assembled (linked_tile.h).
#ifndef ARCLANE_SERVER_NAVMESH_TILE_H_
#define ARCLANE_SERVER_NAVMESH_TILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/digest/digest.h"
#include "server/navmesh/ids.h"

namespace arclane {

// Coordinates as published, in the caller's axes.
struct MeshPoint {
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;

  friend bool operator==(const MeshPoint&, const MeshPoint&) = default;
};

enum class TileSource : uint8_t { kDetour = 0, kNeutral = 1 };

// What lies beyond an edge: a polygon of the same tile (its index, >= 0), a wall, or perhaps a
// polygon of another tile.
inline constexpr int32_t kWallEdge = -1;
// Border edge towards side s of a Detour tile (0 = +x, then counter-clockwise in steps of 45
// degrees) is kBorderEdge - s.
inline constexpr int32_t kBorderEdge = -2;
// Border edge of a neutral tile: any other tile.
inline constexpr int32_t kOpenBorderEdge = kBorderEdge - 8;

// The side that means: within the tile, or another layer at the same place.
inline constexpr uint8_t kNoSide = 0xff;

// A connection between two points of the mesh over no ground; its polygon has two vertices, start
// and end.
struct OffMeshConnection {
  MeshPoint start;
  MeshPoint end;
  double radius = 0.0;   // How far from start and end ground is looked for.
  uint32_t polygon = 0;  // Index of its polygon in the tile.
  bool bidirectional = false;
  uint8_t end_side = kNoSide;  // Side of the tile over which the end lies (Detour).
  uint32_t user_id = 0;        // As the caller set it; need not be unique.
  PolygonRef start_polygon;    // Neutral meshes name where a link lands; 0 in Detour's.
  PolygonRef end_polygon;
};

// Heights within a polygon, as Detour's detail mesh: triangles over the polygon's and extra
// vertices.
struct DetailPolygon {
  uint32_t vertex_begin = 0;
  uint32_t triangle_begin = 0;
  uint8_t vertex_count = 0;
  uint8_t triangle_count = 0;
};

// Bounds of a polygon in Detour's quantised units, from the leaves of the tile's bounding volume
// tree.
struct QuantisedBounds {
  std::array<uint16_t, 3> low{};
  std::array<uint16_t, 3> high{};
  uint32_t polygon = 0;
};

// Polygons are stored clockwise in the horizontal plane (heading shrinks along them), so that an
// edge's first vertex is the left end of the portal through it. Link polygons come after all ground
// polygons.
struct Tile {
  TileSource source = TileSource::kDetour;
  TileRef ref;
  TileCoordinates at;
  double walkable_climb = 0.0;
  double walkable_radius = 0.0;
  std::array<double, 3> low{};  // Bounds.
  std::array<double, 3> high{};

  std::vector<MeshPoint> vertices;
  std::vector<uint32_t> polygon_begin;  // polygon_count + 1 offsets into the two columns below.
  std::vector<uint32_t> vertex_index;
  std::vector<int32_t> edge_neighbour;  // Edge e runs from vertex e to the next one of its polygon.
  std::vector<uint32_t> area;           // By polygon.
  std::vector<uint32_t> flags;          // By polygon.
  std::vector<PolygonRef>
      polygon_ref;            // By polygon in neutral tiles; empty in Detour's (ref + index).
  uint32_t ground_count = 0;  // Polygons before the first link polygon.
  std::vector<OffMeshConnection> connections;  // By link polygon.

  float quantisation = 0.0f;  // Units per length of `bounds`.
  std::vector<QuantisedBounds> bounds;
  std::vector<DetailPolygon> detail_polygons;  // By ground polygon, or empty.
  std::vector<std::array<float, 3>> detail_vertices;
  std::vector<std::array<uint8_t, 4>> detail_triangles;

  // Of the stored form (tile_codec.h): equal tiles have equal digests.
  ContentDigest digest;

  uint32_t polygon_count() const { return static_cast<uint32_t>(polygon_begin.size()) - 1; }
  bool is_link(uint32_t polygon) const { return polygon >= ground_count; }
  std::span<const uint32_t> vertices_of(uint32_t polygon) const {
    return {vertex_index.data() + polygon_begin[polygon],
            vertex_index.data() + polygon_begin[polygon + 1]};
  }
  std::span<const int32_t> neighbours_of(uint32_t polygon) const {
    return {edge_neighbour.data() + polygon_begin[polygon],
            edge_neighbour.data() + polygon_begin[polygon + 1]};
  }
  PolygonRef ref_of(uint32_t polygon) const {
    return polygon_ref.empty() ? PolygonRef{ref.value | polygon} : polygon_ref[polygon];
  }
  // Sets the bounds to those of the vertices.
  void FitBounds();
  // Memory held, in bytes.
  size_t ByteSize() const;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_TILE_H_
