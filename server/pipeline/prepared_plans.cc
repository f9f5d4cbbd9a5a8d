// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/prepared_plans.h"

#include <vector>

namespace arclane {
namespace {

template <typename T>
size_t BytesOf(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}
size_t BytesOf(const MeshPointColumns& points) {
  return BytesOf(points.x) + BytesOf(points.y) + BytesOf(points.z);
}

}  // namespace

size_t PreparedRefs::ByteSize() const {
  const CorridorColumns& columns = corridor.columns;
  return BytesOf(columns.vertices) + BytesOf(columns.vertex_count) + BytesOf(columns.left) +
         BytesOf(columns.right) + BytesOf(columns.link_entry) +
         BytesOf(corridor.read_set.dependencies) + BytesOf(corridor.read_set.portal_index) +
         (built ? built->ByteSize() : 0);
}

}  // namespace arclane
