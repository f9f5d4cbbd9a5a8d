// SPDX-License-Identifier: Apache-2.0
// Bytes as the columns of a neutral mesh, and as the stored form of a neutral tile.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "server/navmesh/byte_stream.h"
#include "server/navmesh/mesh_manifest.h"
#include "server/navmesh/neutral_mesh.h"

namespace {

// Small numbers mostly, so that columns fit together often enough.
double Coordinate(arclane::ByteReader& reader) {
  const auto tag = reader.Read<int8_t>();
  return tag == -128 ? reader.Read<double>() : tag * 0.5;
}

arclane::NeutralMesh MeshFrom(arclane::ByteReader& reader) {
  arclane::NeutralMesh mesh;
  const auto options = reader.Read<uint8_t>();
  mesh.up = static_cast<arclane::MeshUpAxis>(options % 3);
  mesh.float32_coordinates = options & 4;
  const size_t vertices = reader.Read<uint8_t>() % 64, polygons = reader.Read<uint8_t>() % 32;
  for (size_t i = 0; i < vertices; ++i) {
    mesh.x.push_back(Coordinate(reader));
    mesh.y.push_back(Coordinate(reader));
    mesh.z.push_back(Coordinate(reader));
  }
  size_t edges = 0;
  for (size_t p = 0; p < polygons; ++p) {
    mesh.vertex_count.push_back(3 + reader.Read<uint8_t>() % 4);
    edges += mesh.vertex_count.back();
  }
  for (size_t e = 0; e < edges; ++e) mesh.vertex_index.push_back(reader.Read<uint8_t>());
  if (options & 8) {
    for (size_t e = 0; e < edges; ++e) {
      const auto n = reader.Read<uint8_t>();
      mesh.neighbour.push_back(n == 255 ? arclane::kNoNeighbour : n);
    }
  }
  if (options & 16) {
    mesh.tiles = {{1, {0, 0, 0}}, {2, {1, 0, 0}}, {3, {0, 0, 1}}};
    for (size_t p = 0; p < polygons; ++p) mesh.polygon_tile.push_back(reader.Read<uint8_t>() % 4);
  }
  if (options & 32) {
    arclane::NeutralLink link;
    link.id = 1000;
    link.start = {Coordinate(reader), Coordinate(reader), Coordinate(reader)};
    link.end = {Coordinate(reader), Coordinate(reader), Coordinate(reader)};
    link.start_polygon = reader.Read<uint8_t>();
    link.end_polygon = reader.Read<uint8_t>();
    link.radius = Coordinate(reader);
    mesh.links.push_back(link);
  }
  if (options & 64)
    mesh.gates.push_back({{1}, "g", {{{reader.Read<uint8_t>()}, {reader.Read<uint8_t>()}}}, true});
  return mesh;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace arclane;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto tile = DecodeNeutralTile(bytes)) {
    if (EncodeNeutralTile(*tile) != bytes) std::abort();
  }
  if (const auto manifest = MeshManifest::Decode(bytes)) manifest->Encode();
  ByteReader reader(bytes);
  const NeutralMesh mesh = MeshFrom(reader);
  const auto content = BuildNeutralTiles(mesh);
  if (!content.ok()) {
    if (content.failure().violations.empty()) std::abort();
    return 0;
  }
  std::vector<std::shared_ptr<const Tile>> tiles;
  for (const ReadTile& tile : content->tiles) tiles.push_back(tile.tile);
  std::atomic<uint64_t> stamp{1};
  const auto snapshot = NavMeshSnapshot::Assemble(
      content->info, std::move(tiles), std::make_shared<GateTable>(mesh.gates), nullptr, stamp);
  if (snapshot.ok()) (*snapshot)->CountLinks();
  return 0;
}
