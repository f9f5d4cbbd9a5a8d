// SPDX-License-Identifier: Apache-2.0
// Gates: named sets of polygon borders that open and close as one. A definition is part of a
// version; whether a gate is open is state (state_overlay.h).
#ifndef ARCLANE_SERVER_NAVMESH_GATES_H_
#define ARCLANE_SERVER_NAVMESH_GATES_H_

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/navmesh/ids.h"

namespace arclane {

// The border between two adjacent polygons, in either order: a gate closes both ways.
struct GateBorder {
  PolygonRef a;
  PolygonRef b;

  friend auto operator<=>(const GateBorder&, const GateBorder&) = default;
};

struct GateDefinition {
  GateId id;
  std::string name;  // For people; may be empty.
  std::vector<GateBorder> borders;
  bool initially_open = true;

  friend bool operator==(const GateDefinition&, const GateDefinition&) = default;
};

// Where a request defines its gates.
struct GatePlaces {
  std::vector<std::pair<GateId, std::string>> defined;  // Such as `gates[3]`, in the lists' order.
  std::string of_base;  // The list that would define anew the gates of the version before.
};

// The gates of one version, immutable. Ids are unique.
class GateTable {
 public:
  // Sorts gates by id, equal ones in their order, and each gate's borders, ends in ascending order,
  // duplicates dropped: equal gates compare equal.
  explicit GateTable(std::vector<GateDefinition> gates);

  const std::vector<GateDefinition>& gates() const { return gates_; }
  // Null when there is no such gate.
  const GateDefinition* Find(GateId id) const;
  // The gates on the border between two polygons, in ascending order.
  struct Entry {
    GateBorder border;
    GateId gate;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  std::span<const Entry> GatesBetween(PolygonRef a, PolygonRef b) const;
  bool empty() const { return by_border_.empty(); }
  size_t ByteSize() const;

 private:
  std::vector<GateDefinition> gates_;
  std::vector<Entry> by_border_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_GATES_H_
