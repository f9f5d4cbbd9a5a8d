// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/corridor_refs.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

// Corridors of so many polygons are resolved without asking for memory, on some KiB of stack.
constexpr size_t kUsualPolygons = 32;

class CorridorResolver {
 public:
  CorridorResolver(const NavMeshView& view, std::span<const PolygonRef> refs,
                   CorridorByRef& corridor)
      : view_(view), mesh_(view.snapshot()), refs_(refs), corridor_(corridor) {}

  std::optional<NavMeshFailure> Resolve() {
    Locate();
    Cross();
    if (failure_) {
      NavMeshFailure all = std::move(violations_).ToFailure(failure_->reason);
      all.metadata = std::move(failure_->metadata);
      return all;
    }
    AddCells();
    AddPortals();
    CollectReads();
    return std::nullopt;
  }

 private:
  static std::string Place(size_t i) { return absl::StrCat("polygon_refs[", i, "]"); }

  // The first failure gives the reason; violations name every place.
  void Locate() {
    locations_.reserve(refs_.size());
    for (size_t i = 0; i < refs_.size(); ++i) {
      locations_.push_back(mesh_.Find(refs_[i]));
      if (locations_[i]) continue;
      NavMeshFailure failure = mesh_.Explain(refs_[i], Place(i));
      violations_.Add(failure.violations[0].place, failure.violations[0].description);
      if (!failure_) failure_ = std::move(failure);
    }
  }

  void Cross() {
    crossings_.reserve(refs_.size());
    for (size_t i = 0; i + 1 < refs_.size(); ++i) {
      if (!locations_[i] || !locations_[i + 1]) continue;
      if (const auto crossing = mesh_.CrossingBetween(*locations_[i], *locations_[i + 1])) {
        crossings_.push_back(*crossing);
        continue;
      }
      violations_.Add(Place(i + 1),
                      absl::StrCat("polygon ", refs_[i + 1].value,
                                   " cannot be entered from polygon ", refs_[i].value));
      if (!failure_) failure_ = NavMeshFailure{NavMeshReason::kNotAdjacent, "", {}, 0, {}};
    }
  }

  void AddCells() {
    CorridorColumns& columns = corridor_.columns;
    size_t vertex_count = 0;
    for (const auto& at : locations_)
      vertex_count += mesh_.tile(at->slot)->tile->vertices_of(at->polygon).size();
    columns.vertices.Resize(vertex_count);
    columns.vertex_count.resize(refs_.size());
    size_t next = 0;
    for (size_t i = 0; i < refs_.size(); ++i) {
      const Tile& tile = *mesh_.tile(locations_[i]->slot)->tile;
      const auto vertices = tile.vertices_of(locations_[i]->polygon);
      columns.vertex_count[i] = static_cast<uint32_t>(vertices.size());
      if (mesh_.is_link(*locations_[i])) {
        AddLinkCell(i, next);
        next += 2;
      } else {
        for (const uint32_t v : vertices) columns.vertices.Set(next++, tile.vertices[v]);
      }
    }
  }

  void AddLinkCell(size_t i, size_t at) {
    const LandedLink& link = mesh_.landed(*locations_[i]);
    // Entered or left at its end means travelled backwards.
    const bool enters_at_end =
        i > 0 && crossings_[i - 1].ends.left == link.end && link.start != link.end;
    const bool leaves_at_start = i == 0 && !crossings_.empty() &&
                                 crossings_[0].ends.left == link.start && link.start != link.end;
    const bool backwards = enters_at_end || leaves_at_start;
    corridor_.columns.vertices.Set(at, backwards ? link.end : link.start);
    corridor_.columns.vertices.Set(at + 1, backwards ? link.start : link.end);
  }

  void AddPortals() {
    corridor_.columns.left.Resize(crossings_.size());
    corridor_.columns.right.Resize(crossings_.size());
    for (size_t i = 0; i < crossings_.size(); ++i) {
      corridor_.columns.left.Set(i, crossings_[i].ends.left);
      corridor_.columns.right.Set(i, crossings_[i].ends.right);
      if (crossings_[i].kind == CrossingKind::kLinkEntry)
        corridor_.columns.link_entry.push_back(static_cast<uint32_t>(i));
    }
  }

  void Bar(DependencyKind kind, uint64_t id, uint32_t portal) {
    if (!corridor_.blockage || portal < corridor_.blockage->portal_index)
      corridor_.blockage = Blockage{kind, id, portal};
  }

  void CollectReads() {
    struct Read {
      DependencyKind kind;
      uint64_t id;
      uint32_t portal;
      auto operator<=>(const Read&) const = default;
    };
    absl::InlinedVector<Read, 2 * kUsualPolygons + 8> reads;
    reads.reserve(refs_.size() * 2 + 8);
    const auto read = [&](DependencyKind kind, uint64_t id, size_t portal) {
      // Neighbours mostly lie in one tile and area: not every cell needs an entry of its own.
      for (size_t back = 1; back <= std::min<size_t>(2, reads.size()); ++back) {
        const Read& before = reads[reads.size() - back];
        if (before.kind == kind && before.id == id) return;
      }
      reads.push_back({kind, id, static_cast<uint32_t>(portal)});
    };
    for (size_t i = 0; i < refs_.size(); ++i) {
      const size_t portal = i == 0 ? 0 : i - 1;
      const Tile& tile = *mesh_.tile(locations_[i]->slot)->tile;
      read(DependencyKind::kTile, tile.ref.value, portal);
      read(DependencyKind::kArea, tile.area[locations_[i]->polygon], portal);
      if (mesh_.is_link(*locations_[i])) {
        read(DependencyKind::kLink, refs_[i].value, portal);
        if (!view_.IsEnabled(refs_[i]))
          Bar(DependencyKind::kLink, refs_[i].value, static_cast<uint32_t>(portal));
      }
      if (i + 1 == refs_.size()) continue;
      for (const GateTable::Entry& entry : mesh_.gates().GatesBetween(refs_[i], refs_[i + 1])) {
        read(DependencyKind::kGate, entry.gate.value, i);
        if (!view_.IsOpen(entry.gate))
          Bar(DependencyKind::kGate, entry.gate.value, static_cast<uint32_t>(i));
      }
    }
    std::sort(reads.begin(), reads.end());
    for (const Read& r : reads) {
      auto& dependencies = corridor_.read_set.dependencies;
      if (!dependencies.empty() && dependencies.back().kind == r.kind &&
          dependencies.back().id == r.id)
        continue;
      dependencies.push_back({r.kind, r.id, view_.Stamp(r.kind, r.id)});
      corridor_.read_set.portal_index.push_back(r.portal);
    }
  }

  const NavMeshView& view_;
  const NavMeshSnapshot& mesh_;
  std::span<const PolygonRef> refs_;
  // All known, unless it fails.
  absl::InlinedVector<std::optional<PolygonLocation>, kUsualPolygons> locations_;
  absl::InlinedVector<Crossing, kUsualPolygons> crossings_;
  CorridorByRef& corridor_;
  std::optional<NavMeshFailure> failure_;
  MeshViolations violations_;
};

}  // namespace

void CorridorByRef::Clear() {
  columns.vertices.Clear();
  columns.vertex_count.clear();
  columns.left.Clear();
  columns.right.Clear();
  columns.link_entry.clear();
  read_set.dependencies.clear();
  read_set.portal_index.clear();
  blockage.reset();
}

std::optional<NavMeshFailure> ResolveCorridor(const NavMeshView& view,
                                              std::span<const PolygonRef> refs, size_t max_polygons,
                                              CorridorByRef* corridor) {
  corridor->Clear();
  if (refs.empty() || refs.size() > max_polygons) {
    MeshViolations violations;
    violations.Add("polygon_refs",
                   absl::StrCat("has ", refs.size(), " refs; 1 to ", max_polygons, " are allowed"));
    return std::move(violations).ToFailure(NavMeshReason::kInvalidArgument);
  }
  return CorridorResolver(view, refs, *corridor).Resolve();
}

NavMeshResult<CorridorByRef> ResolveCorridor(const NavMeshView& view,
                                             std::span<const PolygonRef> refs,
                                             size_t max_polygons) {
  CorridorByRef corridor;
  if (auto failure = ResolveCorridor(view, refs, max_polygons, &corridor))
    return *std::move(failure);
  return corridor;
}

std::vector<PortalDependency> PortalDependencies(const NavMeshView& view,
                                                 std::span<const PolygonRef> refs) {
  const NavMeshSnapshot& mesh = view.snapshot();
  std::vector<PortalDependency> dependencies;
  // The things that the cells so far share, and the cell with which each began.
  struct Run {
    DependencyKind kind;
    uint64_t id = 0;
    size_t begin = 0;
    bool is_open = false;
  };
  Run runs[] = {{DependencyKind::kTile}, {DependencyKind::kArea}, {DependencyKind::kLink}};
  // `last` is the run's last cell, which is left by the portal of the same index.
  const auto close = [&](Run& run, size_t last) {
    if (!run.is_open) return;
    const auto first = static_cast<uint32_t>(run.begin == 0 ? 0 : run.begin - 1);
    dependencies.push_back({first, run.kind, run.id});
    if (first != last) dependencies.push_back({static_cast<uint32_t>(last), run.kind, run.id});
    run.is_open = false;
  };
  for (size_t i = 0; i < refs.size(); ++i) {
    const auto at = mesh.Find(refs[i]);
    if (!at) continue;
    const Tile& tile = *mesh.tile(at->slot)->tile;
    const uint64_t ids[] = {tile.ref.value, tile.area[at->polygon], refs[i].value};
    for (size_t k = 0; k < std::size(runs); ++k) {
      const bool is_read = runs[k].kind != DependencyKind::kLink || mesh.is_link(*at);
      if (runs[k].is_open && (!is_read || runs[k].id != ids[k])) close(runs[k], i - 1);
      if (is_read && !runs[k].is_open) runs[k] = {runs[k].kind, ids[k], i, true};
    }
    if (i + 1 == refs.size()) continue;
    for (const GateTable::Entry& entry : mesh.gates().GatesBetween(refs[i], refs[i + 1]))
      dependencies.push_back({static_cast<uint32_t>(i), DependencyKind::kGate, entry.gate.value});
  }
  for (Run& run : runs) close(run, refs.size() - 1);
  return dependencies;
}

}  // namespace arclane
