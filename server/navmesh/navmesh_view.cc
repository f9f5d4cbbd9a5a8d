// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/navmesh_view.h"

#include <bit>

namespace arclane {

uint64_t NavMeshView::Stamp(DependencyKind kind, uint64_t id) const {
  const NavMeshSnapshot& mesh = *parts_.snapshot;
  uint64_t initial = kNoStamp;
  switch (kind) {
    case DependencyKind::kTile: {
      const auto slot = mesh.SlotOf(TileRef{id});
      return slot ? mesh.tile(*slot)->stamp : kNoStamp;
    }
    case DependencyKind::kGate: {
      const GateDefinition* gate = mesh.gates().Find(GateId{id});
      if (gate == nullptr) return kNoStamp;
      initial = gate->initially_open ? kOpenStamp : kClosedStamp;
      break;
    }
    case DependencyKind::kLink: {
      const auto at = mesh.Find(PolygonRef{id});
      if (!at || !mesh.is_link(*at)) return kNoStamp;
      initial = kOpenStamp;
      break;
    }
    case DependencyKind::kArea:
      initial = std::bit_cast<uint64_t>(1.0);
      break;
  }
  for (const StateOverlay* overlay : {parts_.world.get(), parts_.defaults.get()}) {
    if (overlay == nullptr) continue;
    if (const uint64_t stamp = overlay->Stamp(kind, id); stamp != kNoStamp) return stamp;
  }
  return initial;
}

double NavMeshView::CostOf(AreaId area) const {
  return std::bit_cast<double>(Stamp(DependencyKind::kArea, area.value));
}

}  // namespace arclane
