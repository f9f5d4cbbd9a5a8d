// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/mset_reader.h"

#include <bit>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/navmesh/byte_stream.h"
#include "server/navmesh/detour_tile_layout.h"

namespace arclane {
namespace {

// 'MSET' as a 32-bit number.
constexpr uint32_t kSetMagic = 0x4d534554;
constexpr int32_t kSetVersion = 1;
constexpr size_t kTileHeaderBytes = 8;  // tile ref, size; 16 with 64-bit refs.
// Detour leaves at least this many bits of a ref to the salt.
constexpr uint32_t kMinSaltBits = 10;

uint32_t BitsFor(int32_t count) {
  return count <= 1 ? 0 : static_cast<uint32_t>(std::bit_width(static_cast<uint32_t>(count) - 1));
}

NavMeshFailure Malformed(std::string message) {
  return {NavMeshReason::kMalformed, std::move(message), {}, 0, {}};
}
NavMeshFailure Unsupported(std::string message) {
  return {NavMeshReason::kUnsupported, std::move(message), {}, 0, {}};
}

// Whether tile data that would start right after a 32-bit tile header starts 8 bytes later, as with
// 64-bit refs.
bool Has64BitRefs(std::string_view rest) {
  const auto magic_at = [&](size_t offset) {
    ByteReader reader(rest.substr(std::min(offset, rest.size())));
    return reader.Read<uint32_t>() == kDetourTileMagic;
  };
  return !magic_at(kTileHeaderBytes) && magic_at(2 * kTileHeaderBytes);
}

void CheckTileIdentity(const Tile& tile, const DetourParams& params, const std::string& place,
                       absl::flat_hash_set<uint64_t>& indices,
                       absl::flat_hash_set<TileCoordinates>& coordinates,
                       MeshViolations& violations) {
  if (!indices.insert(params.tile_index(tile.ref)).second) {
    violations.Add(place, "its tile ref names the same tile slot as an earlier one");
  }
  if (!coordinates.insert(tile.at).second) {
    violations.Add(place, absl::StrCat("a tile at ", ToString(tile.at), " came before"));
  }
}

}  // namespace

uint32_t DetourParams::polygon_bits() const { return BitsFor(max_polygons); }
uint32_t DetourParams::tile_bits() const { return BitsFor(max_tiles); }

std::string DetourParams::Problem() const {
  for (const float v : {origin[0], origin[1], origin[2], tile_width, tile_height}) {
    if (!std::isfinite(v)) return "the origin or the tile size is not finite";
  }
  if (max_tiles < 1 || max_polygons < 1) return "max tiles and max polygons must be at least 1";
  if (polygon_bits() + tile_bits() + kMinSaltBits > 32) {
    return absl::StrCat("max tiles ", max_tiles, " and max polygons ", max_polygons,
                        " leave fewer than ", kMinSaltBits, " of a ref's 32 bits to the salt");
  }
  return "";
}

NavMeshResult<MsetContent> ReadMset(std::string_view file, const MsetOptions& options) {
  ByteReader reader(file);
  const auto magic = reader.Read<uint32_t>();
  if (reader.failed() || (magic != kSetMagic && magic != __builtin_bswap32(kSetMagic))) {
    return Malformed("no MSET file: its first four bytes are not MSET");
  }
  if (magic != kSetMagic)
    return Unsupported("a big-endian MSET file; write it on a little-endian machine");
  const auto version = reader.Read<int32_t>();
  const auto tile_count = reader.Read<int32_t>();
  MsetContent content;
  for (float& v : content.params.origin) v = reader.Read<float>();
  content.params.tile_width = reader.Read<float>();
  content.params.tile_height = reader.Read<float>();
  content.params.max_tiles = reader.Read<int32_t>();
  content.params.max_polygons = reader.Read<int32_t>();
  if (reader.failed()) return Malformed("the file ends within its header");
  if (version != kSetVersion) {
    return Unsupported(absl::StrCat("MSET version ", version, "; version 1 is read"));
  }
  if (const std::string problem = content.params.Problem(); !problem.empty()) {
    return Malformed(problem);
  }
  if (tile_count < 0 || tile_count > content.params.max_tiles) {
    return Malformed(absl::StrCat("tile count ", tile_count, " is not in [0, max tiles ",
                                  content.params.max_tiles, "]"));
  }
  if (Has64BitRefs(file.substr(reader.offset()))) {
    return Unsupported(
        "a file of a Detour build with 64-bit polygon refs; only 32-bit refs are read");
  }

  MeshViolations violations;
  absl::flat_hash_set<uint64_t> indices;
  absl::flat_hash_set<TileCoordinates> coordinates;
  for (int32_t i = 0; i < tile_count; ++i) {
    const std::string place = absl::StrCat("tiles[", i, "]");
    const TileRef ref{reader.Read<uint32_t>()};
    const auto size = reader.Read<int32_t>();
    if (reader.failed()) return Malformed(absl::StrCat("the file ends at the header of ", place));
    if (size < 0 || static_cast<size_t>(size) > reader.remaining()) {
      return Malformed(absl::StrCat(place, ": its size ", size, " exceeds the ", reader.remaining(),
                                    " bytes that remain"));
    }
    const std::string_view blob = reader.Bytes(static_cast<size_t>(size));
    NavMeshFailure malformed;
    ReadTile read;
    std::unique_ptr<Tile> tile =
        ReadDetourTile(ref, blob, content.params, place, violations, malformed,
                       options.keep_stored ? &read.stored : nullptr);
    if (!malformed.message.empty()) return malformed;
    if (tile == nullptr) continue;
    CheckTileIdentity(*tile, content.params, place, indices, coordinates, violations);
    read.tile = std::move(tile);
    if (violations.empty()) content.tiles.push_back(std::move(read));
  }
  if (reader.remaining() > 0) {
    return Malformed(absl::StrCat(reader.remaining(), " bytes follow the last tile"));
  }
  if (!violations.empty()) return std::move(violations).ToFailure();
  return content;
}

}  // namespace arclane
