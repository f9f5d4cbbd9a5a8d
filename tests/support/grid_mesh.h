// SPDX-License-Identifier: Apache-2.0
// Meshes of unit squares for tests: square (i, j) has id j * width + i and the corners (i, j) to (i
// + 1, j + 1).
#ifndef ARCLANE_TESTS_SUPPORT_GRID_MESH_H_
#define ARCLANE_TESTS_SUPPORT_GRID_MESH_H_

#include <cstdint>

#include "server/navmesh/neutral_mesh.h"

namespace arclane::testing {

struct GridOptions {
  uint32_t width = 4;
  uint32_t height = 4;
  uint32_t tile =
      2;  // Squares along a tile's side; tile (x, y) has id 1000 + y * tiles across + x.
  MeshUpAxis up = MeshUpAxis::kZ;
  bool clockwise = false;
  uint64_t first_id = 0;  // Added to every polygon id.
};

inline NeutralMesh GridMesh(const GridOptions& options) {
  NeutralMesh mesh;
  mesh.up = options.up;
  const uint32_t w = options.width, h = options.height;
  auto& first = options.up == MeshUpAxis::kX ? mesh.y : mesh.x;
  auto& second = options.up == MeshUpAxis::kZ ? mesh.y : mesh.z;
  for (uint32_t j = 0; j <= h; ++j) {
    for (uint32_t i = 0; i <= w; ++i) {
      first.push_back(i);
      second.push_back(j);
    }
  }
  const uint32_t across = (w + options.tile - 1) / options.tile;
  const uint32_t down = (h + options.tile - 1) / options.tile;
  for (uint32_t y = 0; y < down; ++y) {
    for (uint32_t x = 0; x < across; ++x) {
      mesh.tiles.push_back(
          {1000 + y * across + x, {static_cast<int32_t>(x), static_cast<int32_t>(y), 0}});
    }
  }
  const auto id = [&](int64_t i, int64_t j) -> uint64_t {
    return i < 0 || j < 0 || i >= w || j >= h ? kNoNeighbour : options.first_id + j * w + i;
  };
  for (int64_t j = 0; j < h; ++j) {
    for (int64_t i = 0; i < w; ++i) {
      const auto at = [&](int64_t a, int64_t b) { return static_cast<uint32_t>(b * (w + 1) + a); };
      mesh.vertex_count.push_back(4);
      if (options.clockwise) {
        for (const uint32_t v : {at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)})
          mesh.vertex_index.push_back(v);
        for (const uint64_t n : {id(i - 1, j), id(i, j + 1), id(i + 1, j), id(i, j - 1)})
          mesh.neighbour.push_back(n);
      } else {
        for (const uint32_t v : {at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)})
          mesh.vertex_index.push_back(v);
        for (const uint64_t n : {id(i, j - 1), id(i + 1, j), id(i, j + 1), id(i - 1, j)})
          mesh.neighbour.push_back(n);
      }
      mesh.polygon_id.push_back(id(i, j));
      mesh.polygon_tile.push_back(
          static_cast<uint32_t>(j / options.tile * across + i / options.tile));
    }
  }
  return mesh;
}

}  // namespace arclane::testing

#endif  // ARCLANE_TESTS_SUPPORT_GRID_MESH_H_
