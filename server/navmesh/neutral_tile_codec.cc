// SPDX-License-Identifier: Apache-2.0
// The stored form of a neutral tile: the columns of Tile one after another, each preceded by its
// length.
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "server/navmesh/byte_stream.h"
#include "server/navmesh/neutral_mesh.h"

namespace arclane {
namespace {

constexpr uint32_t kNeutralTileMagic = 0x4e544c31;  // "NTL1"

struct StoredConnection {
  double ends[6];
  double radius;
  uint64_t start_polygon, end_polygon;
  uint64_t bidirectional;
};
static_assert(sizeof(StoredConnection) == 80);

template <typename T>
void WriteColumn(ByteWriter& writer, const std::vector<T>& column) {
  writer.Write<uint64_t>(column.size());
  writer.Bytes({reinterpret_cast<const char*>(column.data()), column.size() * sizeof(T)});
}

template <typename T>
bool ReadColumn(ByteReader& reader, std::vector<T>& column) {
  const auto size = reader.Read<uint64_t>();
  if (!reader.Holds(size, sizeof(T))) return false;
  column.resize(size);
  const std::string_view bytes = reader.Bytes(size * sizeof(T));
  if (size > 0) std::memcpy(column.data(), bytes.data(), bytes.size());
  return true;
}

bool IsSound(const Tile& tile) {
  const uint64_t n = tile.area.size();
  if (tile.polygon_begin.size() != n + 1 || tile.flags.size() != n ||
      tile.polygon_ref.size() != n || tile.ground_count > n ||
      tile.connections.size() != n - tile.ground_count || tile.polygon_begin[0] != 0 ||
      tile.polygon_begin[n] != tile.vertex_index.size() ||
      tile.edge_neighbour.size() != tile.vertex_index.size()) {
    return false;
  }
  for (uint64_t p = 0; p < n; ++p) {
    const uint32_t begin = tile.polygon_begin[p], end = tile.polygon_begin[p + 1];
    if (end > tile.vertex_index.size() || end < begin + (tile.is_link(p) ? 2 : 3)) return false;
  }
  for (const uint32_t v : tile.vertex_index) {
    if (v >= tile.vertices.size()) return false;
  }
  for (const int32_t neighbour : tile.edge_neighbour) {
    if (neighbour >= static_cast<int64_t>(tile.ground_count)) return false;
  }
  for (const MeshPoint& v : tile.vertices) {
    if (!std::isfinite(v.x) || !std::isfinite(v.y) || !std::isfinite(v.z)) return false;
  }
  return true;
}

}  // namespace

std::string EncodeNeutralTile(const Tile& tile) {
  ByteWriter writer;
  writer.Write(kNeutralTileMagic);
  writer.Write(tile.ref.value);
  writer.Write(tile.at);
  writer.Write(tile.ground_count);
  WriteColumn(writer, tile.vertices);
  WriteColumn(writer, tile.polygon_begin);
  WriteColumn(writer, tile.vertex_index);
  WriteColumn(writer, tile.edge_neighbour);
  WriteColumn(writer, tile.area);
  WriteColumn(writer, tile.flags);
  WriteColumn(writer, tile.polygon_ref);
  std::vector<StoredConnection> connections;
  for (const OffMeshConnection& c : tile.connections) {
    connections.push_back({{c.start.x, c.start.y, c.start.z, c.end.x, c.end.y, c.end.z},
                           c.radius,
                           c.start_polygon.value,
                           c.end_polygon.value,
                           c.bidirectional});
  }
  WriteColumn(writer, connections);
  return std::move(writer).Take();
}

std::unique_ptr<Tile> DecodeNeutralTile(std::string_view stored) {
  ByteReader reader(stored);
  if (reader.Read<uint32_t>() != kNeutralTileMagic) return nullptr;
  auto tile = std::make_unique<Tile>();
  tile->source = TileSource::kNeutral;
  tile->ref = {reader.Read<uint64_t>()};
  tile->at = reader.Read<TileCoordinates>();
  tile->ground_count = reader.Read<uint32_t>();
  std::vector<StoredConnection> connections;
  if (!ReadColumn(reader, tile->vertices) || !ReadColumn(reader, tile->polygon_begin) ||
      !ReadColumn(reader, tile->vertex_index) || !ReadColumn(reader, tile->edge_neighbour) ||
      !ReadColumn(reader, tile->area) || !ReadColumn(reader, tile->flags) ||
      !ReadColumn(reader, tile->polygon_ref) || !ReadColumn(reader, connections) ||
      !reader.finished()) {
    return nullptr;
  }
  for (size_t i = 0; i < connections.size(); ++i) {
    const StoredConnection& c = connections[i];
    OffMeshConnection connection;
    connection.start = {c.ends[0], c.ends[1], c.ends[2]};
    connection.end = {c.ends[3], c.ends[4], c.ends[5]};
    connection.radius = c.radius;
    connection.polygon = tile->ground_count + static_cast<uint32_t>(i);
    connection.bidirectional = c.bidirectional != 0;
    connection.start_polygon = {c.start_polygon};
    connection.end_polygon = {c.end_polygon};
    tile->connections.push_back(connection);
  }
  if (!IsSound(*tile)) return nullptr;
  tile->FitBounds();
  tile->digest = DigestOf(stored);
  return tile;
}

}  // namespace arclane
