// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <span>

#include "absl/strings/str_cat.h"
#include "server/navmesh/byte_stream.h"
#include "server/navmesh/detour_tile_layout.h"
#include "server/navmesh/mset_reader.h"
#include "server/navmesh/polygon_check.h"

namespace arclane {
namespace {

constexpr uint8_t kLinkType = 1;

// The arrays of a blob, each starting at its offset.
struct Sections {
  size_t vertices = 0, polygons = 0, links = 0, detail_polygons = 0, detail_vertices = 0,
         detail_triangles = 0, bounds_nodes = 0, connections = 0;
  uint64_t end = 0;
};

Sections SectionsOf(const DetourTileHeader& h, size_t link_bytes) {
  Sections s;
  uint64_t at = sizeof(DetourTileHeader);
  const auto take = [&](int32_t count, size_t item_bytes) {
    const uint64_t begin = at;
    at += static_cast<uint64_t>(count) * item_bytes;  // Below 2^31 * 36 each: cannot overflow.
    return static_cast<size_t>(begin);
  };
  s.vertices = take(h.vertex_count, 12);
  s.polygons = take(h.polygon_count, sizeof(DetourPolygon));
  s.links = take(h.max_link_count, link_bytes);
  s.detail_polygons = take(h.detail_polygon_count, sizeof(DetourDetailPolygon));
  s.detail_vertices = take(h.detail_vertex_count, 12);
  s.detail_triangles = take(h.detail_triangle_count, 4);
  s.bounds_nodes = take(h.bounds_node_count, sizeof(DetourBoundsNode));
  s.connections = take(h.connection_count, sizeof(DetourConnection));
  s.end = at;
  return s;
}

class TileReader {
 public:
  TileReader(std::string_view blob, const DetourTileHeader& header, const Sections& sections,
             const std::string& place, MeshViolations& violations)
      : blob_(blob), h_(header), s_(sections), place_(place), violations_(violations) {}

  // False once something was wrong in this tile.
  bool Read(Tile& tile) {
    const size_t before = violations_.count();
    ReadHeader(tile);
    ReadVertices(tile);
    if (violations_.count() != before) return false;
    ReadPolygons(tile);
    if (violations_.count() != before) return false;
    CheckNeighbours(tile);
    CheckShapes(tile);
    ReadDetail(tile);
    ReadBounds(tile);
    ReadConnections(tile);
    return violations_.count() == before;
  }

 private:
  template <typename T>
  T At(size_t section, size_t index) const {
    T value;
    std::memcpy(&value, blob_.data() + section + index * sizeof(T), sizeof(T));
    return value;
  }
  std::string Place(const char* array, size_t index) const {
    return absl::StrCat(place_, ".", array, "[", index, "]");
  }
  static bool Usable(float v) { return std::isfinite(v) && std::fabs(v) <= kMaxMeshCoordinate; }

  void ReadHeader(Tile& tile) {
    tile.source = TileSource::kDetour;
    tile.at = {h_.x, h_.y, h_.layer};
    tile.walkable_climb = h_.walkable_climb;
    tile.walkable_radius = h_.walkable_radius;
    tile.quantisation = h_.quantisation;
    bool usable = Usable(h_.walkable_climb) && Usable(h_.walkable_radius) &&
                  h_.walkable_climb >= 0 && h_.walkable_radius >= 0;
    for (size_t k = 0; k < 3; ++k) {
      tile.low[k] = h_.low[k];
      tile.high[k] = h_.high[k];
      usable = usable && Usable(h_.low[k]) && Usable(h_.high[k]) && h_.low[k] <= h_.high[k];
    }
    if (!usable) violations_.Add(place_, "its bounds, radius or climb are out of range");
    if (h_.bounds_node_count > 0 && !(h_.quantisation > 0 && Usable(h_.quantisation))) {
      violations_.Add(place_, "its quantisation factor must be > 0");
    }
    if (h_.connection_base < 0 || h_.connection_count > h_.polygon_count ||
        h_.connection_base != h_.polygon_count - h_.connection_count) {
      violations_.Add(place_, "its off-mesh connections are not its last polygons");
    }
  }

  void ReadVertices(Tile& tile) {
    tile.vertices.reserve(h_.vertex_count);
    for (int32_t i = 0; i < h_.vertex_count; ++i) {
      const auto v = At<std::array<float, 3>>(s_.vertices, i);
      if (!Usable(v[0]) || !Usable(v[1]) || !Usable(v[2])) {
        violations_.Add(Place("vertices", i), "a coordinate is not finite or beyond 1e12");
      }
      for (const float c : v) magnitude_ = std::max(magnitude_, std::fabs(static_cast<double>(c)));
      tile.vertices.push_back({v[0], v[1], v[2]});
    }
  }

  void ReadPolygons(Tile& tile) {
    tile.ground_count = static_cast<uint32_t>(h_.connection_base);
    size_t index_count = 0;
    for (int32_t i = 0; i < h_.polygon_count; ++i) {
      index_count += std::min<size_t>(At<DetourPolygon>(s_.polygons, i).vertex_count,
                                      kDetourVerticesPerPolygon);
    }
    tile.polygon_begin.reserve(h_.polygon_count + 1);
    tile.polygon_begin.push_back(0);
    tile.vertex_index.reserve(index_count);
    tile.edge_neighbour.reserve(index_count);
    tile.area.reserve(h_.polygon_count);
    tile.flags.reserve(h_.polygon_count);
    for (int32_t i = 0; i < h_.polygon_count; ++i) {
      ReadPolygon(tile, static_cast<uint32_t>(i), At<DetourPolygon>(s_.polygons, i));
    }
  }

  void ReadPolygon(Tile& tile, uint32_t i, const DetourPolygon& p) {
    const bool link = p.area_and_type >> 6 == kLinkType;
    if (p.area_and_type >> 6 > kLinkType || link != tile.is_link(i)) {
      violations_.Add(Place("polygons", i), "its type does not fit its place");
    }
    const size_t n = p.vertex_count;
    if (tile.is_link(i) ? n != 2 : n < 3 || n > kDetourVerticesPerPolygon) {
      violations_.Add(Place("polygons", i), absl::StrCat("has ", n, " vertices"));
    }
    for (size_t e = 0; e < std::min(n, kDetourVerticesPerPolygon); ++e) {
      if (p.vertices[e] >= h_.vertex_count) {
        violations_.Add(Place("polygons", i), absl::StrCat("vertex ", e, " names vertex ",
                                                           p.vertices[e], " of ", h_.vertex_count));
      }
      tile.vertex_index.push_back(p.vertices[e]);
      tile.edge_neighbour.push_back(tile.is_link(i) ? kWallEdge : Neighbour(i, e, p.neighbours[e]));
    }
    tile.polygon_begin.push_back(static_cast<uint32_t>(tile.vertex_index.size()));
    tile.area.push_back(p.area_and_type & 0x3f);
    tile.flags.push_back(p.flags);
  }

  int32_t Neighbour(uint32_t polygon, size_t edge, uint16_t stored) {
    if (stored == 0) return kWallEdge;
    if (stored & kDetourBorderFlag) {
      const uint16_t side = stored & ~kDetourBorderFlag;
      if (side <= 6 && side % 2 == 0) return kBorderEdge - side;
      violations_.Add(Place("polygons", polygon),
                      absl::StrCat("edge ", edge, " lies on side ", side, " of the tile"));
      return kWallEdge;
    }
    if (stored > h_.connection_base) {
      violations_.Add(Place("polygons", polygon),
                      absl::StrCat("edge ", edge, " has polygon ", stored - 1,
                                   " as its neighbour, of ", h_.connection_base));
      return kWallEdge;
    }
    return stored - 1;
  }

  // Every inner border is told by both polygons, and is the same edge of both.
  void CheckNeighbours(const Tile& tile) {
    for (uint32_t p = 0; p < tile.ground_count; ++p) {
      const auto neighbours = tile.neighbours_of(p);
      for (size_t e = 0; e < neighbours.size(); ++e) {
        if (neighbours[e] < 0) continue;
        const auto q = static_cast<uint32_t>(neighbours[e]);
        if (q == p || !SharesEdge(tile, p, e, q)) {
          violations_.Add(
              absl::StrCat(Place("polygons", p), ".edges[", e, "]"),
              absl::StrCat("is linked to polygon ", q, ", which has no such edge linked back"));
        }
      }
    }
  }

  static bool SharesEdge(const Tile& tile, uint32_t p, size_t edge, uint32_t q) {
    const auto a = tile.vertices_of(p), b = tile.vertices_of(q);
    const auto back = tile.neighbours_of(q);
    const MeshPoint& first = tile.vertices[a[edge]];
    const MeshPoint& second = tile.vertices[a[(edge + 1) % a.size()]];
    for (size_t e = 0; e < b.size(); ++e) {
      if (back[e] == static_cast<int32_t>(p) && tile.vertices[b[e]] == second &&
          tile.vertices[b[(e + 1) % b.size()]] == first) {
        return true;
      }
    }
    return false;
  }

  void CheckShapes(const Tile& tile) {
    const double tolerance = Float32Tolerance(magnitude_);
    std::vector<Vec2> outline;
    for (uint32_t p = 0; p < tile.ground_count; ++p) {
      outline.clear();
      for (const uint32_t v : tile.vertices_of(p)) {
        outline.push_back(PlanOf(tile.vertices[v], MeshUpAxis::kY));
      }
      const OutlineShape shape = ShapeOf(outline, tolerance);
      if (shape == OutlineShape::kClockwise) continue;
      violations_.Add(Place("polygons", p), shape == OutlineShape::kCounterClockwise
                                                ? "runs counter-clockwise in the plane (x, z)"
                                                : Describe(shape));
    }
  }

  void ReadDetail(Tile& tile) {
    if (h_.detail_polygon_count == 0) return;
    if (h_.detail_polygon_count < h_.connection_base) {
      violations_.Add(place_, "has heights for some of its polygons only");
      return;
    }
    tile.detail_vertices.reserve(h_.detail_vertex_count);
    for (int32_t i = 0; i < h_.detail_vertex_count; ++i) {
      const auto v = At<std::array<float, 3>>(s_.detail_vertices, i);
      if (!Usable(v[0]) || !Usable(v[1]) || !Usable(v[2])) {
        violations_.Add(Place("detail_vertices", i), "a coordinate is not finite or beyond 1e12");
      }
      tile.detail_vertices.push_back(v);
    }
    tile.detail_triangles.reserve(h_.detail_triangle_count);
    for (int32_t i = 0; i < h_.detail_triangle_count; ++i) {
      tile.detail_triangles.push_back(At<std::array<uint8_t, 4>>(s_.detail_triangles, i));
    }
    tile.detail_polygons.reserve(tile.ground_count);
    for (uint32_t p = 0; p < tile.ground_count; ++p) ReadDetailPolygon(tile, p);
  }

  void ReadDetailPolygon(Tile& tile, uint32_t p) {
    const auto d = At<DetourDetailPolygon>(s_.detail_polygons, p);
    tile.detail_polygons.push_back(
        {d.vertex_begin, d.triangle_begin, d.vertex_count, d.triangle_count});
    const uint64_t vertices_end = uint64_t{d.vertex_begin} + d.vertex_count;
    const uint64_t triangles_end = uint64_t{d.triangle_begin} + d.triangle_count;
    bool fits = vertices_end <= static_cast<uint64_t>(h_.detail_vertex_count) &&
                triangles_end <= static_cast<uint64_t>(h_.detail_triangle_count);
    const size_t corners = tile.vertices_of(p).size() + d.vertex_count;
    for (uint64_t t = d.triangle_begin; fits && t < triangles_end; ++t) {
      for (size_t k = 0; k < 3; ++k) fits = fits && tile.detail_triangles[t][k] < corners;
    }
    if (!fits)
      violations_.Add(Place("detail_polygons", p), "names vertices or triangles beyond the tile's");
  }

  void ReadBounds(Tile& tile) {
    for (int32_t i = 0; i < h_.bounds_node_count; ++i) {
      const auto node = At<DetourBoundsNode>(s_.bounds_nodes, i);
      if (node.index < 0) continue;
      // Files may hold unused nodes, all zero, after the tree's own; those name polygon 0 and are
      // harmless.
      if (node.index >= h_.polygon_count) {
        violations_.Add(Place("bounds_nodes", i), absl::StrCat("names polygon ", node.index));
        continue;
      }
      tile.bounds.push_back({node.low, node.high, static_cast<uint32_t>(node.index)});
    }
    tile.bounds.shrink_to_fit();
  }

  void ReadConnections(Tile& tile) {
    tile.connections.resize(h_.connection_count);
    std::vector<bool> seen(h_.connection_count, false);
    for (int32_t i = 0; i < h_.connection_count; ++i) {
      const auto c = At<DetourConnection>(s_.connections, i);
      const int64_t at = int64_t{c.polygon} - h_.connection_base;
      if (at < 0 || at >= h_.connection_count || seen[at]) {
        violations_.Add(Place("connections", i),
                        absl::StrCat("names polygon ", c.polygon, ", which is no link or taken"));
        continue;
      }
      seen[at] = true;
      bool usable = Usable(c.radius) && c.radius >= 0 && (c.side <= 7 || c.side == kNoSide);
      for (const float v : c.ends) usable = usable && Usable(v);
      if (!usable)
        violations_.Add(Place("connections", i), "its ends, radius or side are out of range");
      OffMeshConnection& connection = tile.connections[at];
      connection.start = {c.ends[0], c.ends[1], c.ends[2]};
      connection.end = {c.ends[3], c.ends[4], c.ends[5]};
      connection.radius = c.radius;
      connection.polygon = c.polygon;
      connection.bidirectional = (c.flags & 1) != 0;
      connection.end_side = c.side;
      connection.user_id = c.user_id;
    }
  }

  std::string_view blob_;
  const DetourTileHeader& h_;
  const Sections& s_;
  const std::string& place_;
  MeshViolations& violations_;
  double magnitude_ = 0.0;
};

// The blob without what Detour writes into it at run time: links, and where off-mesh connections
// were put on the ground.
std::string Normalised(std::string_view blob, const Sections& s, const Tile& tile) {
  std::string bytes(blob);
  std::memset(bytes.data() + s.links, 0, s.detail_polygons - s.links);
  for (uint32_t p = 0; p < tile.polygon_count(); ++p) {
    std::memset(bytes.data() + s.polygons + p * sizeof(DetourPolygon), 0, sizeof(uint32_t));
  }
  for (const OffMeshConnection& connection : tile.connections) {
    const auto vertices = tile.vertices_of(connection.polygon);
    const MeshPoint* ends[2] = {&connection.start, &connection.end};
    for (size_t k = 0; k < 2; ++k) {
      const float point[3] = {static_cast<float>(ends[k]->x), static_cast<float>(ends[k]->y),
                              static_cast<float>(ends[k]->z)};
      std::memcpy(bytes.data() + s.vertices + vertices[k] * sizeof(point), point, sizeof(point));
    }
  }
  return bytes;
}

std::string SizeProblem(const DetourTileHeader& h, size_t blob_bytes) {
  for (const int32_t count :
       {h.polygon_count, h.vertex_count, h.max_link_count, h.detail_polygon_count,
        h.detail_vertex_count, h.detail_triangle_count, h.bounds_node_count, h.connection_count}) {
    if (count < 0) return "a count is negative";
  }
  const uint64_t wanted = SectionsOf(h, kDetourLinkBytes).end;
  if (wanted == blob_bytes) return "";
  return absl::StrCat("its counts ask for ", wanted, " bytes and it has ", blob_bytes);
}

}  // namespace

std::unique_ptr<Tile> ReadDetourTile(TileRef ref, std::string_view blob, const DetourParams& params,
                                     const std::string& place, MeshViolations& violations,
                                     NavMeshFailure& malformed, std::string* stored) {
  const auto fail = [&](NavMeshReason reason, const std::string& problem) {
    malformed.reason = reason;
    malformed.message = absl::StrCat(place, ": ", problem);
    return nullptr;
  };
  ByteReader reader(blob);
  const auto header = reader.Read<DetourTileHeader>();
  if (reader.failed()) return fail(NavMeshReason::kMalformed, "it ends within its header");
  if (header.magic != kDetourTileMagic) {
    return fail(NavMeshReason::kMalformed, "its first four bytes are not DNAV");
  }
  if (header.version != kDetourTileVersion) {
    return fail(NavMeshReason::kUnsupported,
                absl::StrCat("tile data version ", header.version, "; version 7 is read"));
  }
  if (const std::string problem = SizeProblem(header, blob.size()); !problem.empty()) {
    if (header.max_link_count > 0 && SectionsOf(header, kDetourLinkBytes64).end == blob.size()) {
      return fail(NavMeshReason::kUnsupported,
                  "a tile of a Detour build with 64-bit polygon refs; only 32-bit refs are read");
    }
    return fail(NavMeshReason::kMalformed, problem);
  }
  auto tile = std::make_unique<Tile>();
  tile->ref = ref;
  if (header.polygon_count > params.max_polygons) {
    violations.Add(place, absl::StrCat("has ", header.polygon_count,
                                       " polygons, more than max polygons ", params.max_polygons));
    return nullptr;
  }
  const uint32_t salt_shift = params.polygon_bits() + params.tile_bits();
  if ((ref.value & params.polygon_mask()) != 0 || ref.value >> salt_shift == 0 ||
      params.tile_index(ref) >= static_cast<uint64_t>(params.max_tiles)) {
    violations.Add(place, absl::StrCat("its ref ", ref.value, " is no tile ref under max tiles ",
                                       params.max_tiles, ", max polygons ", params.max_polygons));
    return nullptr;
  }
  const Sections sections = SectionsOf(header, kDetourLinkBytes);
  TileReader tile_reader(blob, header, sections, place, violations);
  if (!tile_reader.Read(*tile)) return nullptr;

  std::string normalised = Normalised(blob, sections, *tile);
  Sha256 sha;
  sha.Update({reinterpret_cast<const char*>(&ref.value), sizeof(ref.value)});
  sha.Update(normalised);
  tile->digest = sha.Finish();
  if (stored != nullptr) *stored = std::move(normalised);
  return tile;
}

}  // namespace arclane
