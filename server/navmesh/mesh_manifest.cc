// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/mesh_manifest.h"

#include <algorithm>

#include "server/navmesh/byte_stream.h"
#include "server/navmesh/neutral_mesh.h"

namespace arclane {
namespace {

constexpr uint32_t kManifestMagic = 0x4e4d4631;  // "NMF1"

void WriteInfo(ByteWriter& writer, const MeshInfo& info) {
  writer.Write(info.source);
  writer.Write(info.up);
  writer.Write(info.baked_radius);
  writer.Write(info.max_step);
  writer.Write(info.tolerance);
  for (const float v : info.params.origin) writer.Write(v);
  writer.Write(info.params.tile_width);
  writer.Write(info.params.tile_height);
  writer.Write(info.params.max_tiles);
  writer.Write(info.params.max_polygons);
}

bool ReadInfo(ByteReader& reader, MeshInfo& info) {
  info.source = static_cast<TileSource>(reader.Read<uint8_t>());
  info.up = static_cast<MeshUpAxis>(reader.Read<uint8_t>());
  info.baked_radius = reader.Read<double>();
  info.max_step = reader.Read<double>();
  info.tolerance = reader.Read<double>();
  for (float& v : info.params.origin) v = reader.Read<float>();
  info.params.tile_width = reader.Read<float>();
  info.params.tile_height = reader.Read<float>();
  info.params.max_tiles = reader.Read<int32_t>();
  info.params.max_polygons = reader.Read<int32_t>();
  if (reader.failed() || info.source > TileSource::kNeutral || info.up > MeshUpAxis::kZ)
    return false;
  return info.source == TileSource::kNeutral || info.params.Problem().empty();
}

bool ReadGates(ByteReader& reader, std::vector<GateDefinition>& gates) {
  const auto count = reader.Read<uint64_t>();
  if (!reader.Holds(count, 8 + 8 + 1 + 8)) return false;
  gates.resize(count);
  for (GateDefinition& gate : gates) {
    gate.id.value = reader.Read<uint64_t>();
    gate.name = std::string(reader.LengthPrefixed());
    gate.initially_open = reader.Read<uint8_t>() != 0;
    const auto borders = reader.Read<uint64_t>();
    if (!reader.Holds(borders, 16)) return false;
    gate.borders.resize(borders);
    for (GateBorder& border : gate.borders) {
      border.a.value = reader.Read<uint64_t>();
      border.b.value = reader.Read<uint64_t>();
    }
  }
  return !reader.failed();
}

// More tiles than any format can name at once.
constexpr uint32_t kMaxSlots = 1 << 24;

}  // namespace

MeshManifest MeshManifest::Of(const NavMeshSnapshot& snapshot) {
  MeshManifest manifest;
  manifest.info = snapshot.info();
  manifest.slot_count = static_cast<uint32_t>(snapshot.slot_count());
  for (uint32_t slot = 0; slot < manifest.slot_count; ++slot) {
    if (const LinkedTile* tile = snapshot.tile(slot)) {
      manifest.tiles.push_back({slot, tile->tile->ref, tile->tile->digest});
    }
  }
  manifest.gates = snapshot.gates().gates();
  manifest.retired = snapshot.retired().All();
  return manifest;
}

std::string MeshManifest::Encode() const {
  ByteWriter writer;
  writer.Write(kManifestMagic);
  WriteInfo(writer, info);
  writer.Write(slot_count);
  writer.Write<uint64_t>(tiles.size());
  for (const StoredTile& tile : tiles) {
    writer.Write(tile.slot);
    writer.Write(tile.ref.value);
    writer.Bytes(tile.digest.view());
  }
  writer.Write<uint64_t>(gates.size());
  for (const GateDefinition& gate : gates) {
    writer.Write(gate.id.value);
    writer.LengthPrefixed(gate.name);
    writer.Write<uint8_t>(gate.initially_open);
    writer.Write<uint64_t>(gate.borders.size());
    for (const GateBorder& border : gate.borders) {
      writer.Write(border.a.value);
      writer.Write(border.b.value);
    }
  }
  writer.Write<uint64_t>(retired.size());
  for (const auto& [ref, at] : retired) {
    writer.Write(ref);
    writer.Write(at);
  }
  return std::move(writer).Take();
}

std::optional<MeshManifest> MeshManifest::Decode(std::string_view bytes) {
  ByteReader reader(bytes);
  MeshManifest manifest;
  if (reader.Read<uint32_t>() != kManifestMagic || !ReadInfo(reader, manifest.info))
    return std::nullopt;
  manifest.slot_count = reader.Read<uint32_t>();
  const auto tile_count = reader.Read<uint64_t>();
  if (!reader.Holds(tile_count, 44)) return std::nullopt;
  manifest.tiles.resize(tile_count);
  for (size_t i = 0; i < tile_count; ++i) {
    StoredTile& tile = manifest.tiles[i];
    tile.slot = reader.Read<uint32_t>();
    tile.ref.value = reader.Read<uint64_t>();
    const std::string_view digest = reader.Bytes(32);
    if (digest.size() == 32) std::copy(digest.begin(), digest.end(), tile.digest.bytes.begin());
    if (tile.slot >= manifest.slot_count || (i > 0 && tile.slot <= manifest.tiles[i - 1].slot))
      return std::nullopt;
  }
  if (!ReadGates(reader, manifest.gates)) return std::nullopt;
  const auto retired_count = reader.Read<uint64_t>();
  if (!reader.Holds(retired_count, 8 + sizeof(TileCoordinates))) return std::nullopt;
  for (uint64_t i = 0; i < retired_count; ++i) {
    const auto ref = reader.Read<uint64_t>();
    manifest.retired.emplace_back(ref, reader.Read<TileCoordinates>());
  }
  if (!reader.finished() || manifest.slot_count > kMaxSlots) return std::nullopt;
  return manifest;
}

std::unique_ptr<Tile> DecodeTile(std::string_view stored, TileRef ref, const MeshInfo& info) {
  if (info.source == TileSource::kNeutral) {
    auto tile = DecodeNeutralTile(stored);
    return tile != nullptr && tile->ref == ref ? std::move(tile) : nullptr;
  }
  MeshViolations violations;
  NavMeshFailure malformed;
  auto tile = ReadDetourTile(ref, stored, info.params, "tile", violations, malformed, nullptr);
  return violations.empty() ? std::move(tile) : nullptr;
}

}  // namespace arclane
