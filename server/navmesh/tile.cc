// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/tile.h"

namespace arclane {
namespace {

template <typename T>
size_t Held(const std::vector<T>& v) {
  return v.capacity() * sizeof(T);
}

}  // namespace

size_t Tile::ByteSize() const {
  return sizeof(Tile) + Held(vertices) + Held(polygon_begin) + Held(vertex_index) +
         Held(edge_neighbour) + Held(area) + Held(flags) + Held(polygon_ref) + Held(connections) +
         Held(bounds) + Held(detail_polygons) + Held(detail_vertices) + Held(detail_triangles);
}

}  // namespace arclane
