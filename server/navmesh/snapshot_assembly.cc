// SPDX-License-Identifier: Apache-2.0
// Puts tiles together into a version: finds neighbours, links borders, lands off-mesh connections,
// checks gates.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "server/navmesh/polygon_check.h"
#include "server/navmesh/snapshot.h"

namespace arclane {
namespace {

// Comparisons of border edges, about 5 ns each: a few seconds at most. A mesh of 100,000 tiles with
// 100 border edges a side needs 4e9 / 64 of them.
constexpr uint64_t kLinkBudget = uint64_t{1} << 29;

// Offsets to the tile over side s: +x first, then in steps of 45 degrees towards +y.
constexpr std::array<std::array<int32_t, 2>, 8> kSides = {
    {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}}};

}  // namespace

size_t LinkedTile::ByteSize() const {
  size_t bytes = sizeof(LinkedTile) + borders.capacity() * sizeof(borders[0]) +
                 links.capacity() * sizeof(LandedLink);
  for (const auto& border : borders) {
    bytes += sizeof(Border) + border->links.capacity() * sizeof(BorderLink) +
             border->portals.capacity() * sizeof(PortalEnds);
  }
  return bytes;
}

class SnapshotAssembly {
 public:
  SnapshotAssembly(const MeshInfo& info, std::vector<std::shared_ptr<const Tile>> tiles,
                   std::shared_ptr<const GateTable> gates, const NavMeshSnapshot* base,
                   std::atomic<uint64_t>& next_stamp, const GatePlaces* places)
      : tiles_(std::move(tiles)),
        base_(base),
        next_stamp_(next_stamp),
        places_(places),
        budget_(kLinkBudget) {
    snapshot_->info_ = info;
    snapshot_->gates_ = std::move(gates);
    if (base != nullptr) snapshot_->retired_ = base->retired();
  }

  NavMeshResult<std::shared_ptr<const NavMeshSnapshot>> Run(const RetiredRefs* retired) {
    IndexTiles();
    IndexPolygons();
    if (retired != nullptr) {
      snapshot_->retired_ = *retired;
    } else if (base_ != nullptr) {
      RetireReplaced();
    }
    if (!violations_.empty()) return std::move(violations_).ToFailure();
    LinkTiles();
    if (!budget_.Spend(0)) {
      return NavMeshFailure{NavMeshReason::kLimitExceeded,
                            "more border edges lie on common lines than can be compared",
                            {},
                            0,
                            {}};
    }
    CheckGates();
    StampTiles();
    if (!violations_.empty()) return std::move(violations_).ToFailure();
    snapshot_->byte_size_ = UnsharedBytes(*snapshot_, nullptr);
    return std::shared_ptr<const NavMeshSnapshot>(std::move(snapshot_));
  }

 private:
  const Tile* BaseTile(uint32_t slot) const {
    if (base_ == nullptr || slot >= base_->slot_count() || base_->tile(slot) == nullptr)
      return nullptr;
    return base_->tile(slot)->tile.get();
  }
  bool Unchanged(uint32_t slot) const { return BaseTile(slot) == tiles_[slot].get(); }

  void IndexTiles() {
    snapshot_->tiles_.resize(tiles_.size());
    for (uint32_t slot = 0; slot < tiles_.size(); ++slot) {
      const Tile* tile = tiles_[slot].get();
      if (tile == nullptr) continue;
      if (!snapshot_->by_ref_.emplace(tile->ref, slot).second) {
        violations_.Add(absl::StrCat("tile ", ToString(tile->at)),
                        absl::StrCat("its ref ", tile->ref.value, " is another tile's too"));
      }
      if (tile->source == TileSource::kDetour &&
          !snapshot_->by_tile_index_.emplace(snapshot_->info_.params.tile_index(tile->ref), slot)
               .second) {
        violations_.Add(absl::StrCat("tile ", ToString(tile->at)),
                        absl::StrCat("its ref ", tile->ref.value, " names another tile's slot"));
      }
      snapshot_->by_coordinates_.emplace_back(tile->at, slot);
      snapshot_->polygon_count_ += tile->polygon_count();
    }
    auto& order = snapshot_->by_coordinates_;
    std::sort(order.begin(), order.end());
    for (size_t i = 1; i < order.size(); ++i) {
      if (order[i].first == order[i - 1].first) {
        violations_.Add(absl::StrCat("tile ", ToString(order[i].first)),
                        "there are two tiles in this place");
      }
    }
  }

  void IndexPolygons() {
    if (snapshot_->info_.source != TileSource::kNeutral) return;
    auto index = std::make_shared<absl::flat_hash_map<PolygonRef, PolygonLocation>>();
    index->reserve(snapshot_->polygon_count_);
    for (uint32_t slot = 0; slot < tiles_.size(); ++slot) {
      if (tiles_[slot] == nullptr) continue;
      for (uint32_t p = 0; p < tiles_[slot]->polygon_count(); ++p) {
        if (!index->emplace(tiles_[slot]->ref_of(p), PolygonLocation{slot, p}).second) {
          violations_.Add(absl::StrCat("tile ", ToString(tiles_[slot]->at)),
                          absl::StrCat("polygon id ", tiles_[slot]->ref_of(p).value, " is taken"));
        }
      }
    }
    snapshot_->by_polygon_ = std::move(index);
  }

  void RetireReplaced() {
    std::vector<std::pair<uint64_t, TileCoordinates>> gone;
    for (uint32_t slot = 0; slot < base_->slot_count(); ++slot) {
      const Tile* before = BaseTile(slot);
      if (before == nullptr || (slot < tiles_.size() && Unchanged(slot))) continue;
      if (before->source == TileSource::kDetour) {
        gone.emplace_back(before->ref.value, before->at);
      } else {
        for (uint32_t p = 0; p < before->polygon_count(); ++p) {
          gone.emplace_back(before->ref_of(p).value, before->at);
        }
      }
    }
    snapshot_->retired_.Add(gone);
  }

  // Slots of the tiles at (x, y), by layer.
  std::span<const std::pair<TileCoordinates, uint32_t>> TilesAt(int64_t x, int64_t y) const {
    if (x != static_cast<int32_t>(x) || y != static_cast<int32_t>(y)) return {};
    const auto& order = snapshot_->by_coordinates_;
    const auto begin = std::lower_bound(
        order.begin(), order.end(), std::pair(x, y), [](const auto& entry, const auto& wanted) {
          return std::pair<int64_t, int64_t>(entry.first.x, entry.first.y) < wanted;
        });
    auto end = begin;
    while (end != order.end() && end->first.x == x && end->first.y == y) ++end;
    return {order.data() + (begin - order.begin()), static_cast<size_t>(end - begin)};
  }

  // Calls visit(side, slot) for every tile around a slot, itself excluded.
  template <typename Visit>
  void ForEachNeighbour(uint32_t slot, Visit visit) const {
    const TileCoordinates at = tiles_[slot]->at;
    for (const auto& [unused, other] : TilesAt(at.x, at.y)) {
      if (other != slot) visit(kNoSide, other);
    }
    for (size_t side = 0; side < kSides.size(); ++side) {
      for (const auto& [unused, other] :
           TilesAt(int64_t{at.x} + kSides[side][0], int64_t{at.y} + kSides[side][1])) {
        visit(static_cast<uint8_t>(side), other);
      }
    }
  }

  void LinkTiles() {
    for (uint32_t slot = 0; slot < tiles_.size(); ++slot) {
      if (tiles_[slot] == nullptr) continue;
      bool shared = Unchanged(slot);
      ForEachNeighbour(slot, [&](uint8_t, uint32_t other) {
        shared = shared && Unchanged(other);
        budget_.Spend(1);
      });
      // A neighbour that is gone without a successor leaves a border behind.
      if (shared) {
        const auto stays = [&](uint32_t other) {
          return other < tiles_.size() && tiles_[other] != nullptr && Unchanged(other);
        };
        const LinkedTile& before = *base_->tile(slot);
        for (const auto& border : before.borders) shared = shared && stays(border->target_slot);
        for (const LandedLink& link : before.links) {
          shared = shared && (link.end_slot == kNoIndex || stays(link.end_slot));
        }
      }
      auto linked = std::make_shared<LinkedTile>();
      linked->tile = tiles_[slot];
      const bool far_links =
          tiles_[slot]->source == TileSource::kNeutral && !tiles_[slot]->connections.empty();
      if (shared && far_links) {  // Their ends may lie anywhere.
        Land(slot, *linked);
        shared = linked->links == base_->tile(slot)->links;
        linked->links.clear();
      }
      if (shared) {
        snapshot_->tiles_[slot] = base_->tiles_[slot];
        continue;
      }
      ForEachNeighbour(slot, [&](uint8_t side, uint32_t other) {
        if (auto border = BorderBetween(slot, other, side))
          linked->borders.push_back(std::move(border));
      });
      Land(slot, *linked);
      fresh_.push_back({slot, linked});
      snapshot_->tiles_[slot] = std::move(linked);
    }
  }

  std::shared_ptr<const Border> BorderBetween(uint32_t slot, uint32_t other, uint8_t side) {
    if (Unchanged(slot) && Unchanged(other)) {
      for (const auto& border : base_->tile(slot)->borders) {
        if (border->target_slot == other) return border;
      }
      return nullptr;
    }
    const Tile& from = *tiles_[slot];
    const Tile& to = *tiles_[other];
    if (from.source == TileSource::kDetour) return LinkDetourBorder(from, to, side, other, budget_);
    const MeshInfo& info = snapshot_->info_;
    return LinkNeutralBorder(from, to, info.up, info.tolerance, info.max_step, other, budget_);
  }

  void Land(uint32_t slot, LinkedTile& linked) {
    const Tile& tile = *linked.tile;
    for (const OffMeshConnection& connection : tile.connections) {
      LandedLink link;
      link.start = connection.start;
      link.end = connection.end;
      if (tile.source == TileSource::kDetour) {
        LandDetour(slot, tile, connection, link);
      } else {
        LandNeutral(slot, tile, connection, link);
      }
      linked.links.push_back(link);
    }
  }

  void LandDetour(uint32_t slot, const Tile& tile, const OffMeshConnection& connection,
                  LandedLink& link) {
    const auto start =
        LandOnDetourTile(tile, connection.start, connection.radius, tile.walkable_climb, budget_);
    if (!start) return;  // Detour leaves a connection without a start alone.
    link.start_polygon = start->polygon;
    link.start = start->point;
    const auto try_end = [&](uint32_t other) {
      if (link.end_slot != kNoIndex) return;
      if (const auto end = LandOnDetourTile(*tiles_[other], connection.end, connection.radius,
                                            tile.walkable_climb, budget_)) {
        link.end_slot = other;
        link.end_polygon = end->polygon;
        link.end = end->point;
      }
    };
    if (connection.end_side == kNoSide) try_end(slot);
    ForEachNeighbour(slot, [&](uint8_t side, uint32_t other) {
      if (side == connection.end_side) try_end(other);
    });
  }

  void LandNeutral(uint32_t slot, const Tile& tile, const OffMeshConnection& connection,
                   LandedLink& link) {
    const auto named = [&](PolygonRef ref) -> std::optional<PolygonLocation> {
      const auto it = snapshot_->by_polygon_->find(ref);
      if (it == snapshot_->by_polygon_->end()) return std::nullopt;
      return it->second;
    };
    const MeshUpAxis up = snapshot_->info_.up;
    if (const auto at = named(connection.start_polygon); at && at->slot == slot) {
      link.start_polygon = at->polygon;
    } else if (const auto found =
                   LandOnNeutralTile(tile, connection.start, connection.radius, up, budget_)) {
      link.start_polygon = found->polygon;
    }
    if (const auto at = named(connection.end_polygon)) {
      link.end_slot = at->slot;
      link.end_polygon = at->polygon;
      return;
    }
    // The named polygon is gone with its tile: the nearest ground takes its place, wherever that
    // is.
    const Vec2 end = PlanOf(connection.end, up);
    std::optional<Landing> best;
    for (const auto& [at, other] : snapshot_->by_coordinates_) {
      budget_.Spend(1);
      if (!NearPlan(*tiles_[other], end, connection.radius, up)) continue;
      const auto found =
          LandOnNeutralTile(*tiles_[other], connection.end, connection.radius, up, budget_);
      if (!found || (best && std::pair(found->distance, found->height) >=
                                 std::pair(best->distance, best->height)))
        continue;
      best = found;
      link.end_slot = other;
      link.end_polygon = found->polygon;
    }
  }

  static bool NearPlan(const Tile& tile, Vec2 p, double reach, MeshUpAxis up) {
    const Vec2 low = PlanOf({tile.low[0], tile.low[1], tile.low[2]}, up);
    const Vec2 high = PlanOf({tile.high[0], tile.high[1], tile.high[2]}, up);
    return p.x >= low.x - reach && p.x <= high.x + reach && p.y >= low.y - reach &&
           p.y <= high.y + reach;
  }

  // A fault of the k-th gate of an id.
  void AddGateViolation(GateId id, size_t k, std::string description) {
    const std::string name = absl::StrCat("gate ", id.value);
    if (places_ == nullptr) return violations_.Add(name, std::move(description));
    for (const auto& [gate, place] : places_->defined) {
      if (gate == id && k-- == 0) return violations_.Add(place, std::move(description));
    }
    violations_.Add(places_->of_base, absl::StrCat(name, " of the base version: ", description));
  }

  void CheckGates() {
    const GateDefinition* before = nullptr;
    size_t same = 0;
    for (const GateDefinition& gate : snapshot_->gates().gates()) {
      same = before != nullptr && before->id == gate.id ? same + 1 : 0;
      before = &gate;
      const auto add = [&](std::string description) {
        AddGateViolation(gate.id, same, std::move(description));
      };
      if (same > 0) add(absl::StrCat("its id ", gate.id.value, " is another gate's too"));
      for (const GateBorder& border : gate.borders) {
        const auto a = snapshot_->Find(border.a), b = snapshot_->Find(border.b);
        if (!a || !b) {
          add(snapshot_->Explain(a ? border.b : border.a, "borders").violations[0].description);
        } else if (!snapshot_->CrossingBetween(*a, *b) && !snapshot_->CrossingBetween(*b, *a)) {
          add(absl::StrCat("polygons ", border.a.value, " and ", border.b.value,
                           " have no common border"));
        }
      }
    }
  }

  // Borders and their gates by tile; both tiles of a border count.
  static absl::flat_hash_map<uint32_t, std::vector<GateTable::Entry>> GatesByTile(
      const NavMeshSnapshot& snapshot) {
    absl::flat_hash_map<uint32_t, std::vector<GateTable::Entry>> by_tile;
    for (const GateDefinition& gate : snapshot.gates().gates()) {
      for (const GateBorder& border : gate.borders) {
        const auto a = snapshot.Find(border.a), b = snapshot.Find(border.b);
        if (!a || !b) continue;
        by_tile[a->slot].push_back({border, gate.id});
        if (b->slot != a->slot) by_tile[b->slot].push_back({border, gate.id});
      }
    }
    return by_tile;
  }

  // A tile keeps its stamp while its content, the ends of its links and the gates on its borders
  // stay the same. Its borders need no care: they follow from its content and the neighbour's,
  // which has a stamp of its own.
  void StampTiles() {
    absl::flat_hash_map<uint32_t, std::vector<GateTable::Entry>> gates, gates_before;
    const bool gates_changed = base_ != nullptr &&
                               base_->shared_gates() != snapshot_->shared_gates() &&
                               base_->gates().gates() != snapshot_->gates().gates();
    if (gates_changed) {
      gates = GatesByTile(*snapshot_);
      gates_before = GatesByTile(*base_);
    }
    const auto same_gates = [&](uint32_t slot) {
      return !gates_changed || gates[slot] == gates_before[slot];
    };
    for (auto& [slot, linked] : fresh_) {
      const bool same =
          Unchanged(slot) && same_gates(slot) && linked->links == base_->tile(slot)->links;
      linked->stamp =
          same ? base_->tile(slot)->stamp : next_stamp_.fetch_add(1, std::memory_order_relaxed);
    }
    if (!gates_changed) return;
    for (uint32_t slot = 0; slot < tiles_.size(); ++slot) {
      auto& shared = snapshot_->tiles_[slot];
      if (shared == nullptr || slot >= base_->slot_count() || shared != base_->tiles_[slot] ||
          same_gates(slot)) {
        continue;
      }
      auto restamped = std::make_shared<LinkedTile>(*shared);
      restamped->stamp = next_stamp_.fetch_add(1, std::memory_order_relaxed);
      shared = std::move(restamped);
    }
  }

  std::shared_ptr<NavMeshSnapshot> snapshot_{new NavMeshSnapshot()};
  std::vector<std::shared_ptr<const Tile>> tiles_;
  const NavMeshSnapshot* base_;
  std::atomic<uint64_t>& next_stamp_;
  const GatePlaces* places_;
  LinkBudget budget_;
  MeshViolations violations_;
  std::vector<std::pair<uint32_t, std::shared_ptr<LinkedTile>>> fresh_;
};

NavMeshResult<std::shared_ptr<const NavMeshSnapshot>> NavMeshSnapshot::Assemble(
    const MeshInfo& info, std::vector<std::shared_ptr<const Tile>> tiles,
    std::shared_ptr<const GateTable> gates, const NavMeshSnapshot* base,
    std::atomic<uint64_t>& next_stamp, const RetiredRefs* retired, const GatePlaces* places) {
  return SnapshotAssembly(info, std::move(tiles), std::move(gates), base, next_stamp, places)
      .Run(retired);
}

}  // namespace arclane
