// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/neutral_mesh.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/navmesh/edge_overlap.h"
#include "server/navmesh/polygon_check.h"

namespace arclane {
namespace {

class NeutralBuilder {
 public:
  NeutralBuilder(const NeutralMesh& mesh, const NeutralOptions& options)
      : mesh_(mesh), options_(options) {}

  // Every check that can be made on what the checks before it left sound is made, so that all
  // violations are told at once.
  NavMeshResult<NeutralContent> Build() {
    CheckColumns();
    CheckVertices();
    CheckIds();
    CheckPolygons();
    CheckLinks();
    FindNeighbours();
    CheckGates(mesh_.gates, "gates");
    if (!violations_.empty()) return std::move(violations_).ToFailure();
    NeutralContent content;
    content.info = info_;
    for (uint32_t t = 0; t < tiles_.size(); ++t) content.tiles.push_back(BuildTile(t));
    return content;
  }

 private:
  size_t polygon_count() const { return mesh_.vertex_count.size(); }
  uint64_t IdOf(size_t polygon) const {
    return mesh_.polygon_id.empty() ? polygon : mesh_.polygon_id[polygon];
  }
  uint32_t TileOf(size_t polygon) const {
    return mesh_.polygon_tile.empty() ? 0 : mesh_.polygon_tile[polygon];
  }
  size_t Degree(size_t polygon) const { return mesh_.vertex_count[polygon]; }
  // Entry e of a polygon in the vertex and neighbour columns, cyclic.
  size_t Entry(size_t polygon, size_t e) const { return begin_[polygon] + e % Degree(polygon); }
  const MeshPoint& Vertex(size_t polygon, size_t e) const {
    return vertices_[mesh_.vertex_index[Entry(polygon, e)]];
  }
  static std::string Place(const char* column, size_t i) {
    return absl::StrCat(column, "[", i, "]");
  }
  // Edge e of a polygon, as the entry of the column that tells its neighbour.
  std::string EdgePlace(size_t polygon, size_t e) const {
    return Place(mesh_.neighbour.empty() ? "vertex_index" : "neighbour", Entry(polygon, e));
  }
  std::string EdgeName(size_t polygon, size_t e) const {
    return absl::StrCat("edge ", e, " of polygon ", polygon, " ");
  }

  bool HasLength(const char* column, size_t length, size_t wanted, bool may_be_empty) {
    if (length == wanted || (may_be_empty && length == 0)) return true;
    violations_.Add(column, absl::StrCat("has ", length, " entries, must have ", wanted));
    return false;
  }

  void CheckColumns() {
    const std::vector<double>* columns[3] = {&mesh_.x, &mesh_.y, &mesh_.z};
    const char* names[3] = {"vertices.x", "vertices.y", "vertices.z"};
    const auto up = static_cast<size_t>(mesh_.up);
    const size_t vertex_count = columns[up == 0 ? 1 : 0]->size();
    has_vertices_ = true;
    for (size_t k = 0; k < 3; ++k)
      has_vertices_ &= HasLength(names[k], columns[k]->size(), vertex_count, k == up);
    const size_t n = polygon_count();
    uint64_t edges = 0;
    begin_.reserve(n);
    for (const uint32_t count : mesh_.vertex_count) {
      begin_.push_back(edges);
      edges += count;
    }
    has_outlines_ = edges < kNoIndex / 2;
    if (!has_outlines_) violations_.Add("vertex_count", "names more than 2^31 edges");
    has_outlines_ &= HasLength("vertex_index", mesh_.vertex_index.size(), edges, false);
    has_ids_ = HasLength("polygon_ref", mesh_.polygon_id.size(), n, true);
    has_neighbours_ = HasLength("neighbour", mesh_.neighbour.size(), edges, true);
    HasLength("area", mesh_.area.size(), n, true);
    HasLength("flags", mesh_.flags.size(), n, true);
    has_tiles_ = HasLength("polygon_tile", mesh_.polygon_tile.size(), n, true);
    if (n == 0 && !options_.is_update) violations_.Add("vertex_count", "there are no polygons");
    tiles_ = mesh_.tiles;
    if (tiles_.empty()) tiles_.push_back({});
    is_sound_.assign(n, has_vertices_ && has_outlines_);
  }

  void CheckVertices() {
    const size_t count =
        has_vertices_ ? (mesh_.up == MeshUpAxis::kX ? mesh_.y : mesh_.x).size() : 0;
    const std::vector<double>* columns[3] = {&mesh_.x, &mesh_.y, &mesh_.z};
    const char* names[3] = {"vertices.x", "vertices.y", "vertices.z"};
    double magnitude = 0.0;
    vertices_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      double point[3] = {0.0, 0.0, 0.0};
      for (size_t k = 0; k < 3; ++k) {
        if (columns[k]->empty()) continue;
        point[k] = (*columns[k])[i];
        if (!(std::fabs(point[k]) <= kMaxMeshCoordinate))
          violations_.Add(Place(names[k], i), "is not finite or beyond 1e12");
      }
      vertices_.push_back({point[0], point[1], point[2]});
      const Vec2 plan = PlanOf(vertices_.back(), mesh_.up);
      magnitude = std::max({magnitude, std::fabs(plan.x), std::fabs(plan.y)});
    }
    if (has_vertices_ && has_outlines_) CheckIndices(count);
    for (size_t p = 0; has_tiles_ && p < mesh_.polygon_tile.size(); ++p) {
      if (mesh_.polygon_tile[p] >= tiles_.size()) {
        violations_.Add(Place("polygon_tile", p),
                        absl::StrCat("names tile ", mesh_.polygon_tile[p], " of ", tiles_.size()));
      }
    }
    const auto positive = [&](const char* name, double v) {
      if (!(v >= 0 && v <= kMaxMeshCoordinate)) violations_.Add(name, "must be >= 0 and finite");
    };
    positive("baked_radius", mesh_.baked_radius);
    positive("max_step", mesh_.max_step);
    info_.source = TileSource::kNeutral;
    info_.up = mesh_.up;
    info_.baked_radius = mesh_.baked_radius;
    info_.max_step = mesh_.max_step;
    info_.tolerance =
        mesh_.float32_coordinates ? Float32Tolerance(magnitude) : Float64Tolerance(magnitude);
  }

  // Polygons with a wild index, or with a vertex that is none, are not looked at again.
  void CheckIndices(size_t vertex_count) {
    for (size_t p = 0; p < polygon_count(); ++p) {
      for (size_t e = 0; e < Degree(p); ++e) {
        const uint32_t index = mesh_.vertex_index[begin_[p] + e];
        if (index >= vertex_count) {
          violations_.Add(Place("vertex_index", begin_[p] + e),
                          absl::StrCat("names vertex ", index, " of ", vertex_count));
          is_sound_[p] = false;
        } else if (!Usable(vertices_[index])) {
          is_sound_[p] = false;
        }
      }
    }
  }

  static bool Usable(const MeshPoint& p) {
    for (const double c : {p.x, p.y, p.z}) {
      if (!(std::fabs(c) <= kMaxMeshCoordinate)) return false;
    }
    return true;
  }

  void CheckIds() {
    by_id_.reserve(polygon_count());
    for (size_t p = 0; has_ids_ && p < polygon_count(); ++p) {
      if (IdOf(p) == kNoNeighbour) {
        violations_.Add(Place("polygon_ref", p), "2^64 - 1 means no polygon");
        ids_are_clear_ = false;
      } else if (!by_id_.emplace(IdOf(p), p).second) {
        violations_.Add(Place("polygon_ref", p),
                        absl::StrCat(IdOf(p), " is another polygon's ref too"));
        ids_are_clear_ = false;
      }
    }
    absl::flat_hash_set<uint64_t> links, tiles;
    std::map<TileCoordinates, size_t> places;
    for (size_t i = 0; i < mesh_.links.size(); ++i) {
      const uint64_t id = mesh_.links[i].id;
      if (by_id_.contains(id) || id == kNoNeighbour || !links.insert(id).second) {
        violations_.Add(Place("links.link_ref", i),
                        absl::StrCat(id, " is a polygon's or another link's ref too"));
      }
    }
    for (size_t i = 0; i < tiles_.size(); ++i) {
      if (!tiles.insert(tiles_[i].id).second) {
        violations_.Add(Place("tiles.tile_ref", i),
                        absl::StrCat(tiles_[i].id, " is another tile's ref too"));
      }
      if (!places.emplace(tiles_[i].at, i).second) {
        violations_.Add(Place("tiles.x", i),
                        absl::StrCat("another tile is at ", ToString(tiles_[i].at), " too"));
      }
    }
  }

  void CheckPolygons() {
    std::vector<Vec2> outline;
    reversed_.assign(polygon_count(), false);
    for (size_t p = 0; p < polygon_count(); ++p) {
      if (!is_sound_[p]) continue;
      outline.clear();
      for (size_t e = 0; e < Degree(p); ++e) outline.push_back(PlanOf(Vertex(p, e), mesh_.up));
      const OutlineShape shape = ShapeOf(outline, info_.tolerance);
      if (shape == OutlineShape::kCounterClockwise)
        reversed_[p] = true;
      else if (shape != OutlineShape::kClockwise) {
        violations_.Add(Place("vertex_count", p),
                        absl::StrCat("polygon ", p, " ", Describe(shape)));
        is_sound_[p] = false;
      }
    }
  }

  // The distance in plan from a polygon.
  double PlanDistance(size_t polygon, const MeshPoint& point) const {
    const Vec2 p = PlanOf(point, mesh_.up);
    double nearest = std::numeric_limits<double>::infinity();
    bool left = false, right = false;
    for (size_t e = 0; e < Degree(polygon); ++e) {
      const Vec2 a = PlanOf(Vertex(polygon, e), mesh_.up),
                 b = PlanOf(Vertex(polygon, e + 1), mesh_.up);
      const double side = Cross(b - a, p - a);
      left = left || side > 0;
      right = right || side < 0;
      const double t = std::clamp(Dot(p - a, b - a) / SquaredNorm(b - a), 0.0, 1.0);
      nearest = std::min(nearest, Distance(p, Lerp(a, b, t)));
    }
    return left && right ? nearest : 0.0;
  }

  void CheckLinks() {
    for (size_t i = 0; i < mesh_.links.size(); ++i) {
      const NeutralLink& link = mesh_.links[i];
      if (!Usable(link.start) || !Usable(link.end) ||
          !(link.radius >= 0 && link.radius <= kMaxMeshCoordinate)) {
        violations_.Add(Place("links.link_ref", i),
                        "its ends or its radius are not finite or out of range");
        continue;
      }
      CheckLinkEnd(i, "start", link.start_polygon, link.start, /*may_be_outside=*/false);
      CheckLinkEnd(i, "end", link.end_polygon, link.end, options_.is_update);
    }
  }

  void CheckLinkEnd(size_t i, const char* end, uint64_t polygon, const MeshPoint& point,
                    bool may_be_outside) {
    const auto it = by_id_.find(polygon);
    if (it == by_id_.end()) {
      if (!may_be_outside && has_ids_)
        violations_.Add(absl::StrCat("links.", end, "_polygon[", i, "]"),
                        absl::StrCat("names polygon ", polygon, ", which there is not"));
      return;
    }
    const double distance = is_sound_[it->second] ? PlanDistance(it->second, point) : 0.0;
    if (distance > std::max(mesh_.links[i].radius, info_.tolerance)) {
      violations_.Add(
          absl::StrCat("links.", end, "[", i, "]"),
          absl::StrCat("lies ", distance, " beside polygon ", polygon, ", more than its radius"));
    }
  }

  void FindNeighbours() {
    if (!has_vertices_ || !has_outlines_ || !has_ids_ || !has_neighbours_ || !has_tiles_) return;
    edge_neighbour_.assign(mesh_.vertex_index.size(), kWallEdge);
    if (mesh_.neighbour.empty()) {
      MatchEdges();
      return;
    }
    if (!ids_are_clear_) return;  // Whom a neighbour means is not known.
    for (size_t p = 0; p < polygon_count(); ++p) {
      for (size_t e = 0; e < Degree(p); ++e) CheckNeighbour(p, e);
    }
  }

  // Edges with equal ends belong together; what is left may meet another tile.
  void MatchEdges() {
    const std::vector<uint32_t> welded = WeldedVertices();
    absl::flat_hash_map<std::pair<uint32_t, uint32_t>, std::pair<size_t, size_t>> open;
    absl::flat_hash_set<std::pair<uint32_t, uint32_t>> closed;
    const bool has_borders = tiles_.size() > 1 || options_.is_update;
    for (size_t p = 0; p < polygon_count(); ++p) {
      for (size_t e = 0; is_sound_[p] && e < Degree(p); ++e) {
        const uint32_t a = welded[mesh_.vertex_index[Entry(p, e)]];
        const uint32_t b = welded[mesh_.vertex_index[Entry(p, e + 1)]];
        const auto key = std::minmax(a, b);
        if (has_borders) edge_neighbour_[Entry(p, e)] = kOpenBorderEdge;
        const auto it = open.find(key);
        if (closed.contains(key) || (it != open.end() && it->second.first == p)) {
          violations_.Add(
              EdgePlace(p, e),
              absl::StrCat(EdgeName(p, e), "is an edge of three polygons, or twice of one"));
        } else if (it == open.end()) {
          open.emplace(key, std::pair(p, e));
        } else {
          const auto [q, f] = it->second;
          open.erase(it);
          closed.insert(key);
          if (TileOf(p) != TileOf(q)) continue;
          edge_neighbour_[Entry(p, e)] = static_cast<int32_t>(q);
          edge_neighbour_[Entry(q, f)] = static_cast<int32_t>(p);
        }
      }
    }
  }

  // For each vertex the first one with the same coordinates.
  std::vector<uint32_t> WeldedVertices() const {
    absl::flat_hash_map<std::array<double, 3>, uint32_t> first;
    first.reserve(vertices_.size());
    std::vector<uint32_t> welded(vertices_.size());
    for (uint32_t i = 0; i < vertices_.size(); ++i) {
      const MeshPoint& v = vertices_[i];
      welded[i] = first.emplace(std::array{v.x + 0.0, v.y + 0.0, v.z + 0.0}, i).first->second;
    }
    return welded;
  }

  void CheckNeighbour(size_t p, size_t e) {
    const uint64_t id = mesh_.neighbour[Entry(p, e)];
    if (id == kNoNeighbour) return;
    const auto it = by_id_.find(id);
    if (it == by_id_.end()) {
      if (options_.is_update)
        edge_neighbour_[Entry(p, e)] = kOpenBorderEdge;
      else
        violations_.Add(EdgePlace(p, e), absl::StrCat(EdgeName(p, e), "has a neighbour, ", id,
                                                      ", that there is not"));
      return;
    }
    const size_t q = it->second;
    if (!is_sound_[p] || !is_sound_[q]) return;
    const bool same_tile = TileOf(p) == TileOf(q);
    const OverlapRule rule{mesh_.up, info_.tolerance, same_tile ? 0.0 : mesh_.max_step};
    bool answered = false, meets = false;
    for (size_t f = 0; f < Degree(q) && q != p; ++f) {
      if (mesh_.neighbour[Entry(q, f)] != IdOf(p)) continue;
      answered = true;
      if (Meets(p, e, q, f, same_tile, rule)) meets = true;
    }
    if (!answered) {
      violations_.Add(EdgePlace(p, e),
                      absl::StrCat(EdgeName(p, e), "has the neighbour ", id,
                                   ", which has no edge with ", IdOf(p), " as its neighbour"));
    } else if (!meets) {
      violations_.Add(EdgePlace(p, e),
                      absl::StrCat(EdgeName(p, e), "lies on no edge of its neighbour ", id,
                                   same_tile ? " as a whole" : ""));
    } else {
      edge_neighbour_[Entry(p, e)] = same_tile ? static_cast<int32_t>(q) : kOpenBorderEdge;
    }
  }

  bool Meets(size_t p, size_t e, size_t q, size_t f, bool whole, const OverlapRule& rule) const {
    const MeshPoint &a = Vertex(p, e), &b = Vertex(p, e + 1);
    const bool opposed = reversed_[p] == reversed_[q];
    const MeshPoint& c = Vertex(q, opposed ? f : f + 1);
    const MeshPoint& d = Vertex(q, opposed ? f + 1 : f);
    if (!whole) return OverlapOf(a, b, c, d, rule).has_value();
    const auto same = [&](const MeshPoint& u, const MeshPoint& v) {
      return Distance(PlanOf(u, mesh_.up), PlanOf(v, mesh_.up)) <= info_.tolerance &&
             std::fabs(HeightOf(u, mesh_.up) - HeightOf(v, mesh_.up)) <=
                 std::max(info_.tolerance, mesh_.max_step);
    };
    return same(a, d) && same(b, c);
  }

  // Those that name polygons in vain; whether polygons have a common border is seen on the whole
  // mesh.
  void CheckGates(const std::vector<GateDefinition>& gates, const char* list) {
    if (!has_ids_ || options_.is_update || violations_.empty()) return;
    absl::flat_hash_set<uint64_t> links;
    for (const NeutralLink& link : mesh_.links) links.insert(link.id);
    const auto is_there = [&](PolygonRef ref) {
      return by_id_.contains(ref.value) || links.contains(ref.value);
    };
    for (size_t i = 0; i < gates.size(); ++i) {
      for (const GateBorder& border : gates[i].borders) {
        for (const PolygonRef ref : {border.a, border.b}) {
          if (is_there(ref)) continue;
          violations_.Add(Place(list, i),
                          absl::StrCat("names polygon ", ref.value, ", which there is not"));
        }
      }
    }
  }

  ReadTile BuildTile(uint32_t t) {
    if (members_.empty()) SortByTile();
    auto tile = std::make_unique<Tile>();
    tile->source = TileSource::kNeutral;
    tile->ref = {tiles_[t].id};
    tile->at = tiles_[t].at;
    tile->polygon_begin.push_back(0);
    absl::flat_hash_map<uint32_t, uint32_t> local;
    for (const size_t p : members_[t]) AddPolygon(p, local, *tile);
    tile->ground_count = static_cast<uint32_t>(members_[t].size());
    for (const NeutralLink& link : mesh_.links) {
      if (TileOf(by_id_.at(link.start_polygon)) == t) AddLink(link, *tile);
    }
    ReadTile read;
    read.stored = EncodeNeutralTile(*tile);
    // Read back: the columns hold no more memory than they need, and are what a restart will see.
    read.tile = DecodeNeutralTile(read.stored);
    if (!options_.keep_stored) read.stored.clear();
    return read;
  }

  void SortByTile() {
    members_.resize(tiles_.size());
    index_in_tile_.resize(polygon_count());
    for (size_t p = 0; p < polygon_count(); ++p) {
      index_in_tile_[p] = static_cast<uint32_t>(members_[TileOf(p)].size());
      members_[TileOf(p)].push_back(p);
    }
  }

  // Clockwise: a reversed polygon's edge e is the original's edge n - 1 - e.
  void AddPolygon(size_t p, absl::flat_hash_map<uint32_t, uint32_t>& local, Tile& tile) {
    const size_t n = Degree(p);
    for (size_t i = 0; i < n; ++i) {
      const size_t v = reversed_[p] ? n - i : i;
      const size_t e = reversed_[p] ? n - 1 - i : i;
      const uint32_t global = mesh_.vertex_index[Entry(p, v)];
      const auto [it, added] = local.emplace(global, static_cast<uint32_t>(tile.vertices.size()));
      if (added) tile.vertices.push_back(vertices_[global]);
      tile.vertex_index.push_back(it->second);
      const int32_t neighbour = edge_neighbour_[Entry(p, e)];
      tile.edge_neighbour.push_back(
          neighbour < 0 ? neighbour : static_cast<int32_t>(index_in_tile_[neighbour]));
    }
    FinishPolygon({IdOf(p)}, mesh_.area.empty() ? 0 : mesh_.area[p],
                  mesh_.flags.empty() ? 0 : mesh_.flags[p], tile);
  }

  void AddLink(const NeutralLink& link, Tile& tile) {
    OffMeshConnection connection;
    connection.start = link.start;
    connection.end = link.end;
    connection.radius = link.radius;
    connection.polygon = static_cast<uint32_t>(tile.area.size());
    connection.bidirectional = link.bidirectional;
    connection.start_polygon = {link.start_polygon};
    connection.end_polygon = {link.end_polygon};
    tile.connections.push_back(connection);
    for (const MeshPoint& end : {link.start, link.end}) {
      tile.vertex_index.push_back(static_cast<uint32_t>(tile.vertices.size()));
      tile.edge_neighbour.push_back(kWallEdge);
      tile.vertices.push_back(end);
    }
    FinishPolygon({link.id}, link.area, link.flags, tile);
  }

  static void FinishPolygon(PolygonRef ref, uint32_t area, uint32_t flags, Tile& tile) {
    tile.polygon_begin.push_back(static_cast<uint32_t>(tile.vertex_index.size()));
    tile.polygon_ref.push_back(ref);
    tile.area.push_back(area);
    tile.flags.push_back(flags);
  }

  const NeutralMesh& mesh_;
  const NeutralOptions& options_;
  MeshViolations violations_;
  MeshInfo info_;
  std::vector<NeutralTile> tiles_;
  // Whether columns have the lengths that reading them takes.
  bool ids_are_clear_ = true;  // Each names one polygon.
  bool has_vertices_ = false, has_outlines_ = false, has_ids_ = false, has_neighbours_ = false;
  bool has_tiles_ = false;
  std::vector<bool> is_sound_;  // By polygon: its outline can be looked at.
  std::vector<size_t> begin_;
  std::vector<MeshPoint> vertices_;
  absl::flat_hash_map<uint64_t, size_t> by_id_;
  std::vector<bool> reversed_;
  std::vector<int32_t> edge_neighbour_;
  std::vector<std::vector<size_t>> members_;
  std::vector<uint32_t> index_in_tile_;
};

}  // namespace

NavMeshResult<NeutralContent> BuildNeutralTiles(const NeutralMesh& mesh,
                                                const NeutralOptions& options) {
  return NeutralBuilder(mesh, options).Build();
}

}  // namespace arclane
