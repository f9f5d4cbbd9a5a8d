// SPDX-License-Identifier: Apache-2.0
#include "server/cache/invalidation_ledger.h"

#include <algorithm>

namespace arclane {
namespace {

// Keeps the state ids of ledgers apart from those of navmeshes.
constexpr uint64_t kLedgerStates = uint64_t{1} << 63;

}  // namespace

class InvalidationLedger::LedgerView : public StampSource {
 public:
  LedgerView(uint64_t base, uint64_t generation) : base_(base), generation_(generation) {}

  uint64_t Stamp(DependencyKind kind, uint64_t id) const override {
    const auto it = things_.find({static_cast<uint8_t>(kind), id});
    return it == things_.end() ? base_ : it->second;
  }
  uint64_t state_id() const override { return generation_ | kLedgerStates; }

  // This view after more things have changed.
  std::shared_ptr<const LedgerView> After(std::span<const Dependency> things,
                                          uint64_t generation) const {
    if (things_.size() + things.size() > kMaxThingsPerName)
      return std::make_shared<LedgerView>(generation, generation);
    auto next = std::make_shared<LedgerView>(*this);
    next->generation_ = generation;
    for (const Dependency& thing : things)
      next->things_[{static_cast<uint8_t>(thing.kind), thing.id}] = generation;
    return next;
  }

 private:
  uint64_t base_;
  uint64_t generation_;
  absl::flat_hash_map<std::pair<uint8_t, uint64_t>, uint64_t> things_;
};

InvalidationLedger::InvalidationLedger() {
  auto state = std::make_shared<State>();
  state->unnamed = std::make_shared<LedgerView>(1, 1);
  state_ = std::make_unique<SnapshotCell<State>>(std::move(state));
}

std::shared_ptr<const StampSource> InvalidationLedger::View(std::string_view navmesh_id) const {
  const auto state = state_->Load();
  const auto it = state->names.find(navmesh_id);
  return it == state->names.end() ? state->unnamed : it->second;
}

std::shared_ptr<InvalidationLedger::State> InvalidationLedger::Successor(
    std::string_view navmesh_id) {
  auto next = std::make_shared<State>(*state_->Load());
  ++generation_;
  if (next->names.size() >= kMaxNames && !next->names.contains(navmesh_id)) {
    next->names.clear();
    next->unnamed = std::make_shared<LedgerView>(generation_, generation_);
  }
  return next;
}

void InvalidationLedger::InvalidateAll(std::string_view navmesh_id) {
  MutexLock lock(mutex_);
  auto next = Successor(navmesh_id);
  next->names.insert_or_assign(std::string(navmesh_id),
                               std::make_shared<LedgerView>(generation_, generation_));
  state_->Store(std::move(next));
}

void InvalidationLedger::Invalidate(std::string_view navmesh_id,
                                    std::span<const Dependency> things) {
  if (things.empty()) return;
  MutexLock lock(mutex_);
  auto next = Successor(navmesh_id);
  const auto it = next->names.find(navmesh_id);
  const LedgerView& before = it == next->names.end() ? *next->unnamed : *it->second;
  next->names.insert_or_assign(std::string(navmesh_id), before.After(things, generation_));
  state_->Store(std::move(next));
}

}  // namespace arclane
