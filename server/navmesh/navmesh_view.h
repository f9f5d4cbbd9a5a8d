// SPDX-License-Identifier: Apache-2.0
// One consistent state to plan on: a version's snapshot under its own states and, on top, a
// world's.
#ifndef ARCLANE_SERVER_NAVMESH_NAVMESH_VIEW_H_
#define ARCLANE_SERVER_NAVMESH_NAVMESH_VIEW_H_

#include <memory>
#include <string>

#include "server/navmesh/dependency.h"
#include "server/navmesh/snapshot.h"
#include "server/navmesh/state_overlay.h"

namespace arclane {

// A value that holds all it refers to: keep it for as long as the plan takes, without any lock.
class NavMeshView : public StampSource {
 public:
  struct Parts {
    std::string navmesh_id;
    NavMeshVersion version;
    LineageId lineage;
    Epoch epoch;           // Of the navmesh: the state named is that after this change.
    Epoch world_epoch;     // Of the world; 0 without one.
    LifeToken life;        // Of the navmesh.
    LifeToken world_life;  // Of the world; 0 without one.
    std::string world_id;
    std::shared_ptr<const NavMeshSnapshot> snapshot;
    std::shared_ptr<const StateOverlay> defaults;  // Never null.
    std::shared_ptr<const StateOverlay> world;     // Null without a world and in an untouched one.
    uint64_t state_id = 0;
  };
  explicit NavMeshView(Parts parts) : parts_(std::move(parts)) {}

  const NavMeshSnapshot& snapshot() const { return *parts_.snapshot; }
  const std::shared_ptr<const NavMeshSnapshot>& shared_snapshot() const { return parts_.snapshot; }
  const std::string& navmesh_id() const { return parts_.navmesh_id; }
  const std::string& world_id() const { return parts_.world_id; }
  NavMeshVersion version() const { return parts_.version; }
  LineageId lineage() const { return parts_.lineage; }
  Epoch epoch() const { return parts_.epoch; }
  Epoch world_epoch() const { return parts_.world_epoch; }
  LifeToken life() const { return parts_.life; }
  LifeToken world_life() const { return parts_.world_life; }

  bool IsOpen(GateId gate) const {
    return Stamp(DependencyKind::kGate, gate.value) != kClosedStamp;
  }
  bool IsEnabled(PolygonRef link) const {
    return Stamp(DependencyKind::kLink, link.value) != kClosedStamp;
  }
  double CostOf(AreaId area) const;

  // kNoStamp for gates, tiles and links that this version does not have. O(log overlay), tiles
  // O(1).
  uint64_t Stamp(DependencyKind kind, uint64_t id) const override;
  uint64_t state_id() const override { return parts_.state_id; }

 private:
  Parts parts_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_NAVMESH_VIEW_H_
