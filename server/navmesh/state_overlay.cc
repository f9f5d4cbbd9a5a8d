// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/state_overlay.h"

#include <algorithm>
#include <bit>

#include "server/navmesh/byte_stream.h"

namespace arclane {
namespace {

bool Before(const Dependency& a, const Dependency& b) {
  return std::pair(a.kind, a.id) < std::pair(b.kind, b.id);
}

constexpr size_t kEncodedBytes = 1 + 8 + 8;

}  // namespace

uint64_t StampOf(const StateChange& change) {
  if (change.kind == StateChange::Kind::kAreaCost) return std::bit_cast<uint64_t>(change.cost);
  return change.open ? kOpenStamp : kClosedStamp;
}

std::shared_ptr<const StateOverlay> StateOverlay::With(std::span<const StateChange> changes) const {
  auto overlay = std::make_shared<StateOverlay>(*this);
  for (const StateChange& change : changes) {
    const Dependency state{static_cast<DependencyKind>(change.kind), change.id, StampOf(change)};
    const auto at =
        std::lower_bound(overlay->states_.begin(), overlay->states_.end(), state, Before);
    if (at != overlay->states_.end() && !Before(state, *at))
      at->stamp = state.stamp;
    else
      overlay->states_.insert(at, state);
  }
  overlay->states_.shrink_to_fit();
  return overlay;
}

uint64_t StateOverlay::Stamp(DependencyKind kind, uint64_t id) const {
  const auto at = std::lower_bound(states_.begin(), states_.end(), Dependency{kind, id, 0}, Before);
  return at != states_.end() && at->kind == kind && at->id == id ? at->stamp : kNoStamp;
}

std::vector<StateChange> StateOverlay::Changes() const {
  std::vector<StateChange> changes;
  changes.reserve(states_.size());
  for (const Dependency& state : states_) {
    StateChange change;
    change.kind = static_cast<StateChange::Kind>(state.kind);
    change.id = state.id;
    if (change.kind == StateChange::Kind::kAreaCost)
      change.cost = std::bit_cast<double>(state.stamp);
    else
      change.open = state.stamp == kOpenStamp;
    changes.push_back(change);
  }
  return changes;
}

std::string EncodeChanges(std::span<const StateChange> changes) {
  ByteWriter writer;
  for (const StateChange& change : changes) {
    writer.Write(change.kind);
    writer.Write(change.id);
    writer.Write(StampOf(change));
  }
  return std::move(writer).Take();
}

std::optional<std::vector<StateChange>> DecodeChanges(std::string_view bytes) {
  if (bytes.size() % kEncodedBytes != 0) return std::nullopt;
  ByteReader reader(bytes);
  std::vector<StateChange> changes(bytes.size() / kEncodedBytes);
  for (StateChange& change : changes) {
    change.kind = static_cast<StateChange::Kind>(reader.Read<uint8_t>());
    change.id = reader.Read<uint64_t>();
    const auto stamp = reader.Read<uint64_t>();
    switch (change.kind) {
      case StateChange::Kind::kAreaCost:
        change.cost = std::bit_cast<double>(stamp);
        break;
      case StateChange::Kind::kGate:
      case StateChange::Kind::kLink:
        change.open = stamp == kOpenStamp;
        break;
      default:
        return std::nullopt;
    }
  }
  return changes;
}

}  // namespace arclane
