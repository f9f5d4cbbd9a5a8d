// SPDX-License-Identifier: Apache-2.0
// The states of gates, links and areas that differ from what a version defines. Immutable: a change
// makes a new one.
#ifndef ARCLANE_SERVER_NAVMESH_STATE_OVERLAY_H_
#define ARCLANE_SERVER_NAVMESH_STATE_OVERLAY_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/navmesh/dependency.h"
#include "server/navmesh/ids.h"

namespace arclane {

// One change of state.
struct StateChange {
  enum class Kind : uint8_t { kGate = 1, kLink = 3, kAreaCost = 4 };
  Kind kind = Kind::kGate;
  uint64_t id = 0;    // GateId, the link's PolygonRef, AreaId.
  bool open = true;   // Gates: open; links: enabled.
  double cost = 1.0;  // Areas: cost per length; finite and > 0.

  static StateChange Gate(GateId id, bool open) { return {Kind::kGate, id.value, open, 1.0}; }
  static StateChange Link(PolygonRef id, bool enabled) {
    return {Kind::kLink, id.value, enabled, 1.0};
  }
  static StateChange AreaCost(AreaId id, double cost) {
    return {Kind::kAreaCost, id.value, true, cost};
  }
  friend bool operator==(const StateChange&, const StateChange&) = default;
};

// The stamps of states: of gates and links whether they are open, of areas the cost's bits. State
// that comes back has its stamp back, and worlds that agree have equal stamps: routes kept for one
// serve the other.
inline constexpr uint64_t kOpenStamp = 1;
inline constexpr uint64_t kClosedStamp = 2;
uint64_t StampOf(const StateChange& change);

class StateOverlay {
 public:
  StateOverlay() = default;

  // This overlay with changes applied in order.
  std::shared_ptr<const StateOverlay> With(std::span<const StateChange> changes) const;
  // kNoStamp where the overlay says nothing. O(log n).
  uint64_t Stamp(DependencyKind kind, uint64_t id) const;
  // Everything that is said, in ascending order of (kind, id).
  std::vector<StateChange> Changes() const;
  bool empty() const { return states_.empty(); }
  size_t ByteSize() const { return sizeof(*this) + states_.capacity() * sizeof(Dependency); }

 private:
  std::vector<Dependency> states_;  // Sorted by (kind, id).
};

// A byte form of changes, and back; nullopt when the bytes are none.
std::string EncodeChanges(std::span<const StateChange> changes);
std::optional<std::vector<StateChange>> DecodeChanges(std::string_view bytes);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_STATE_OVERLAY_H_
