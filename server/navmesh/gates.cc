// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/gates.h"

#include <algorithm>
#include <utility>

namespace arclane {

GateTable::GateTable(std::vector<GateDefinition> gates) : gates_(std::move(gates)) {
  std::stable_sort(gates_.begin(), gates_.end(),
                   [](const GateDefinition& a, const GateDefinition& b) { return a.id < b.id; });
  for (GateDefinition& gate : gates_) {
    for (GateBorder& border : gate.borders) {
      if (border.b < border.a) std::swap(border.a, border.b);
    }
    std::sort(gate.borders.begin(), gate.borders.end());
    gate.borders.erase(std::unique(gate.borders.begin(), gate.borders.end()), gate.borders.end());
    for (const GateBorder& border : gate.borders) by_border_.push_back({border, gate.id});
  }
  std::sort(by_border_.begin(), by_border_.end());
}

const GateDefinition* GateTable::Find(GateId id) const {
  const auto it =
      std::lower_bound(gates_.begin(), gates_.end(), id,
                       [](const GateDefinition& gate, GateId wanted) { return gate.id < wanted; });
  return it != gates_.end() && it->id == id ? &*it : nullptr;
}

std::span<const GateTable::Entry> GateTable::GatesBetween(PolygonRef a, PolygonRef b) const {
  if (by_border_.empty()) return {};
  const GateBorder border = b < a ? GateBorder{b, a} : GateBorder{a, b};
  const auto [first, last] =
      std::equal_range(by_border_.begin(), by_border_.end(), Entry{border, {}},
                       [](const Entry& x, const Entry& y) { return x.border < y.border; });
  return {first, last};
}

size_t GateTable::ByteSize() const {
  size_t bytes = sizeof(GateTable) + by_border_.capacity() * sizeof(Entry) +
                 gates_.capacity() * sizeof(GateDefinition);
  for (const GateDefinition& gate : gates_) {
    bytes += gate.name.capacity() + gate.borders.capacity() * sizeof(GateBorder);
  }
  return bytes;
}

}  // namespace arclane
