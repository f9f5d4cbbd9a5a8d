// SPDX-License-Identifier: Apache-2.0
// A corridor named by polygon refs, resolved against one consistent state: geometry as planning
// takes it, what it was read from, and whether a gate or link bars it.
#ifndef ARCLANE_SERVER_NAVMESH_CORRIDOR_REFS_H_
#define ARCLANE_SERVER_NAVMESH_CORRIDOR_REFS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/navmesh/dependency.h"
#include "server/navmesh/navmesh_view.h"
#include "server/navmesh/result.h"

namespace arclane {

// Points as columns in the caller's axes.
struct MeshPointColumns {
  std::vector<double> x, y, z;

  void Add(const MeshPoint& p) {
    x.push_back(p.x);
    y.push_back(p.y);
    z.push_back(p.z);
  }
  void Resize(size_t size) {
    x.resize(size);
    y.resize(size);
    z.resize(size);
  }
  void Set(size_t i, const MeshPoint& p) {
    x[i] = p.x;
    y[i] = p.y;
    z[i] = p.z;
  }
  void Clear() {
    x.clear();
    y.clear();
    z.clear();
  }
  size_t size() const { return x.size(); }
};

// The geometry of a corridor as corridor building borrows it: cells and the portals between them.
struct CorridorColumns {
  MeshPointColumns vertices;           // Cell after cell; a link's two in the order of travel.
  std::vector<uint32_t> vertex_count;  // By cell.
  MeshPointColumns left;  // By portal; left is where heading grows for one who travels on.
  MeshPointColumns right;
  std::vector<uint32_t> link_entry;  // Portals that enter a link.
};

// The first thing that bars the way.
struct Blockage {
  DependencyKind kind = DependencyKind::kGate;  // A closed gate or a disabled link.
  uint64_t id = 0;
  uint32_t portal_index = 0;
};

struct CorridorByRef {
  CorridorColumns columns;
  ReadSet read_set;  // Complete also when something bars the way: the answer depends on all of it.
  std::optional<Blockage> blockage;

  // Keeps the memory.
  void Clear();
};

// Fails with kInvalidArgument for no refs or more than `max_polygons`, with kReplacedTile or
// kUnknownPolygon for refs that name nothing here, with kNotAdjacent where no border or link leads
// from a ref to the next; every such place is listed, as `polygon_refs[17]`. Portals are those of
// the mesh bit for bit: the same that the engine's own search returns. O(refs x log).
NavMeshResult<CorridorByRef> ResolveCorridor(const NavMeshView& view,
                                             std::span<const PolygonRef> refs, size_t max_polygons);

// The same into *corridor, whose memory is used again; unspecified on failure.
std::optional<NavMeshFailure> ResolveCorridor(const NavMeshView& view,
                                              std::span<const PolygonRef> refs, size_t max_polygons,
                                              CorridorByRef* corridor);

// What a portal of a corridor depends on; the number of portals names its end.
struct PortalDependency {
  uint32_t portal_index = 0;
  DependencyKind kind = DependencyKind::kTile;
  uint64_t id = 0;
};

// For one who follows a route in the corridor, what each portal depends on. A thing that successive
// cells share is told at the portal where the first of them is entered and at the one where the
// last is left: the first tells where to stop before it, the last until when it matters. Gates are
// told at each of their portals. The refs must be those of a corridor that ResolveCorridor accepted
// on the view. O(refs).
std::vector<PortalDependency> PortalDependencies(const NavMeshView& view,
                                                 std::span<const PolygonRef> refs);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_CORRIDOR_REFS_H_
