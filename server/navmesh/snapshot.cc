// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/snapshot.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

const Border* BorderTo(const LinkedTile& tile, uint32_t slot) {
  for (const auto& border : tile.borders) {
    if (border->target_slot == slot) return border.get();
  }
  return nullptr;
}

std::pair<const BorderLink*, const BorderLink*> LinksOf(const Border& border, uint32_t polygon) {
  const auto begin =
      std::lower_bound(border.links.begin(), border.links.end(), polygon,
                       [](const BorderLink& link, uint32_t wanted) { return link.from < wanted; });
  auto end = begin;
  while (end != border.links.end() && end->from == polygon) ++end;
  return {border.links.data() + (begin - border.links.begin()),
          border.links.data() + (end - border.links.begin())};
}

PortalEnds EndsOf(const LinkedTile& tile, const Border& border, const BorderLink& link) {
  if (link.portal != kNoIndex) return border.portals[link.portal];
  return EdgePortal(*tile.tile, link.from, link.edge, link.low, link.high);
}

}  // namespace

std::optional<uint32_t> NavMeshSnapshot::SlotOf(TileRef ref) const {
  const auto it = by_ref_.find(ref);
  return it == by_ref_.end() ? std::nullopt : std::optional<uint32_t>(it->second);
}

std::optional<uint32_t> NavMeshSnapshot::SlotAt(const TileCoordinates& at) const {
  const auto it = std::lower_bound(
      by_coordinates_.begin(), by_coordinates_.end(), at,
      [](const auto& entry, const TileCoordinates& wanted) { return entry.first < wanted; });
  if (it == by_coordinates_.end() || it->first != at) return std::nullopt;
  return it->second;
}

std::optional<PolygonLocation> NavMeshSnapshot::Find(PolygonRef ref) const {
  if (info_.source == TileSource::kNeutral) {
    const auto it = by_polygon_->find(ref);
    return it == by_polygon_->end() ? std::nullopt : std::optional<PolygonLocation>(it->second);
  }
  const uint64_t mask = info_.params.polygon_mask();
  const auto slot = SlotOf(TileRef{ref.value & ~mask});
  const auto polygon = static_cast<uint32_t>(ref.value & mask);
  if (!slot || polygon >= tiles_[*slot]->tile->polygon_count()) return std::nullopt;
  return PolygonLocation{*slot, polygon};
}

NavMeshFailure NavMeshSnapshot::Explain(PolygonRef ref, const std::string& place) const {
  NavMeshFailure failure;
  std::optional<TileCoordinates> replaced;
  if (info_.source == TileSource::kNeutral) {
    replaced = retired_.Find(ref.value);
  } else {
    const TileRef tile_ref{ref.value & ~info_.params.polygon_mask()};
    replaced = retired_.Find(tile_ref.value);
    // The same tile slot under another salt: a tile that came before this one, or will come after
    // it.
    const auto slot = by_tile_index_.find(info_.params.tile_index(tile_ref));
    if (!replaced && !SlotOf(tile_ref) && slot != by_tile_index_.end() && ref.value <= 0xffffffff) {
      replaced = tiles_[slot->second]->tile->at;
    }
  }
  if (replaced) {
    failure.reason = NavMeshReason::kReplacedTile;
    failure.message =
        absl::StrCat(place, ": polygon ref ", ref.value, " belongs to another build of tile ",
                     ToString(*replaced), " than this version has");
    failure.metadata.emplace_back("tile", ToString(*replaced));
  } else {
    failure.reason = NavMeshReason::kUnknownPolygon;
    failure.message = absl::StrCat(place, ": no polygon has ref ", ref.value);
  }
  failure.metadata.emplace_back("polygon_ref", absl::StrCat(ref.value));
  failure.violations.push_back({place, failure.message.substr(place.size() + 2)});
  failure.message = failure.reason == NavMeshReason::kReplacedTile ? "a polygon's tile was replaced"
                                                                   : "a polygon is unknown";
  return failure;
}

std::optional<Crossing> NavMeshSnapshot::CrossingBetween(PolygonLocation from,
                                                         PolygonLocation to) const {
  const LinkedTile& tile = *tiles_[from.slot];
  if (is_link(to)) {
    if (is_link(from)) return std::nullopt;
    const LandedLink& link = landed(to);
    if (from.slot == to.slot && link.start_polygon == from.polygon) {
      return Crossing{CrossingKind::kLinkEntry, {link.start, link.start}};
    }
    const Tile& target = *tiles_[to.slot]->tile;
    const bool both_ways = target.connections[to.polygon - target.ground_count].bidirectional;
    if (both_ways && link.end_slot == from.slot && link.end_polygon == from.polygon) {
      return Crossing{CrossingKind::kLinkEntry, {link.end, link.end}};
    }
    return std::nullopt;
  }
  if (is_link(from)) {
    const LandedLink& link = landed(from);
    if (link.end_slot == to.slot && link.end_polygon == to.polygon) {
      return Crossing{CrossingKind::kLinkExit, {link.end, link.end}};
    }
    const bool both_ways =
        tile.tile->connections[from.polygon - tile.tile->ground_count].bidirectional;
    if (both_ways && from.slot == to.slot && link.start_polygon == to.polygon) {
      return Crossing{CrossingKind::kLinkExit, {link.start, link.start}};
    }
    return std::nullopt;
  }
  if (from.slot == to.slot) {
    const auto neighbours = tile.tile->neighbours_of(from.polygon);
    for (uint32_t e = 0; e < neighbours.size(); ++e) {
      if (neighbours[e] == static_cast<int32_t>(to.polygon)) {
        return Crossing{CrossingKind::kEdge, EdgePortal(*tile.tile, from.polygon, e, 0, 255)};
      }
    }
    return std::nullopt;
  }
  const Border* border = BorderTo(tile, to.slot);
  if (border == nullptr) return std::nullopt;
  const auto [begin, end] = LinksOf(*border, from.polygon);
  for (const BorderLink* link = begin; link != end; ++link) {
    if (link->to == to.polygon) return Crossing{CrossingKind::kEdge, EndsOf(tile, *border, *link)};
  }
  return std::nullopt;
}

void NavMeshSnapshot::ForEachLink(PolygonLocation from,
                                  absl::FunctionRef<void(const PolygonLink&)> visit) const {
  const LinkedTile& linked = *tiles_[from.slot];
  const Tile& tile = *linked.tile;
  if (tile.is_link(from.polygon)) {
    const LandedLink& link = landed(from);
    if (link.end_slot != kNoIndex) {
      const OffMeshConnection& connection = tile.connections[from.polygon - tile.ground_count];
      const uint8_t side = connection.end_side;
      visit({{link.end_slot, link.end_polygon}, 1, side, 0, 0, {link.end, link.end}});
    }
    if (link.start_polygon != kNoIndex) {
      visit({{from.slot, link.start_polygon}, 0, kNoSide, 0, 0, {link.start, link.start}});
    }
    return;
  }
  const auto onto_links = [&](uint32_t slot) {
    const LinkedTile& other = *tiles_[slot];
    for (uint32_t i = 0; i < other.links.size(); ++i) {
      const LandedLink& link = other.links[i];
      const PolygonLocation at{slot, other.tile->ground_count + i};
      if (slot == from.slot && link.start_polygon == from.polygon) {
        visit({at, kOntoLink, kNoSide, 0, 0, {link.start, link.start}});
      }
      if (other.tile->connections[i].bidirectional && link.end_slot == from.slot &&
          link.end_polygon == from.polygon) {
        visit({at, kOntoLink, kNoSide, 0, 0, {link.end, link.end}});
      }
    }
  };
  onto_links(from.slot);
  for (int32_t dx = -1; dx <= 1; ++dx) {
    for (int32_t dy = -1; dy <= 1; ++dy) {
      const int64_t x = int64_t{tile.at.x} + dx, y = int64_t{tile.at.y} + dy;
      if (x != static_cast<int32_t>(x) || y != static_cast<int32_t>(y)) continue;
      auto it = std::lower_bound(
          by_coordinates_.begin(), by_coordinates_.end(),
          TileCoordinates{static_cast<int32_t>(x), static_cast<int32_t>(y), INT32_MIN},
          [](const auto& entry, const TileCoordinates& wanted) { return entry.first < wanted; });
      for (; it != by_coordinates_.end() && it->first.x == x && it->first.y == y; ++it) {
        if (it->second != from.slot) onto_links(it->second);
      }
    }
  }
  for (const auto& border : linked.borders) {
    const auto [begin, end] = LinksOf(*border, from.polygon);
    for (const BorderLink* link = begin; link != end; ++link) {
      visit({{border->target_slot, link->to},
             link->edge,
             link->side,
             link->low,
             link->high,
             EndsOf(linked, *border, *link)});
    }
  }
  const auto neighbours = tile.neighbours_of(from.polygon);
  for (uint32_t e = 0; e < neighbours.size(); ++e) {
    if (neighbours[e] < 0) continue;
    visit({{from.slot, static_cast<uint32_t>(neighbours[e])},
           static_cast<uint16_t>(e),
           kNoSide,
           0,
           0,
           EdgePortal(tile, from.polygon, e, 0, 255)});
  }
}

size_t NavMeshSnapshot::CountLinks() const {
  size_t count = 0;
  for (uint32_t slot = 0; slot < tiles_.size(); ++slot) {
    if (tiles_[slot] == nullptr) continue;
    for (uint32_t p = 0; p < tiles_[slot]->tile->polygon_count(); ++p) {
      ForEachLink({slot, p}, [&](const PolygonLink&) { ++count; });
    }
  }
  return count;
}

size_t UnsharedBytes(const NavMeshSnapshot& snapshot, const NavMeshSnapshot* base) {
  size_t bytes = sizeof(NavMeshSnapshot);
  for (uint32_t slot = 0; slot < snapshot.slot_count(); ++slot) {
    const LinkedTile* tile = snapshot.tile(slot);
    const LinkedTile* before =
        base != nullptr && slot < base->slot_count() ? base->tile(slot) : nullptr;
    bytes += sizeof(void*) * 6;  // The slot and its places in the two indices.
    if (tile == nullptr || tile == before) continue;
    bytes += tile->ByteSize();
    if (before == nullptr || tile->tile != before->tile) bytes += tile->tile->ByteSize();
  }
  if (base == nullptr || snapshot.shared_gates() != base->shared_gates()) {
    bytes += snapshot.gates().ByteSize();
  }
  return bytes;
}

}  // namespace arclane
