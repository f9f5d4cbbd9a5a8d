// SPDX-License-Identifier: Apache-2.0
// Any bytes as a Detour file: an error or a mesh whose every link can be walked.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "server/navmesh/mset_reader.h"
#include "server/navmesh/snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace arclane;
  const auto content = ReadMset({reinterpret_cast<const char*>(data), size});
  if (!content.ok()) {
    if (content.failure().ToStatus().ok()) std::abort();
    return 0;
  }
  MeshInfo info;
  info.params = content->params;
  std::vector<std::shared_ptr<const Tile>> tiles;
  for (const ReadTile& tile : content->tiles) tiles.push_back(tile.tile);
  std::atomic<uint64_t> stamp{1};
  const auto snapshot = NavMeshSnapshot::Assemble(
      info, std::move(tiles), std::make_shared<GateTable>(std::vector<GateDefinition>{}), nullptr,
      stamp);
  if (!snapshot.ok()) return 0;
  for (uint32_t slot = 0; slot < (*snapshot)->slot_count(); ++slot) {
    for (uint32_t p = 0; p < (*snapshot)->tile(slot)->tile->polygon_count(); ++p) {
      (*snapshot)->ForEachLink({slot, p}, [&](const PolygonLink& link) {
        if (!(*snapshot)->Find((*snapshot)->RefOf(link.to))) std::abort();
      });
    }
  }
  return 0;
}
