// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/tile.h"

#include <algorithm>

namespace arclane {
namespace {

template <typename T>
size_t Held(const std::vector<T>& v) {
  return v.capacity() * sizeof(T);
}

}  // namespace

void Tile::FitBounds() {
  if (vertices.empty()) return;
  low = high = {vertices[0].x, vertices[0].y, vertices[0].z};
  for (const MeshPoint& v : vertices) {
    const std::array<double, 3> point = {v.x, v.y, v.z};
    for (size_t k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], point[k]);
      high[k] = std::max(high[k], point[k]);
    }
  }
}

size_t Tile::ByteSize() const {
  return sizeof(Tile) + Held(vertices) + Held(polygon_begin) + Held(vertex_index) +
         Held(edge_neighbour) + Held(area) + Held(flags) + Held(polygon_ref) + Held(connections) +
         Held(bounds) + Held(detail_polygons) + Held(detail_vertices) + Held(detail_triangles);
}

}  // namespace arclane
