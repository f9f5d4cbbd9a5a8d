// SPDX-License-Identifier: Apache-2.0
// Stamps for requests that bring their own geometry and name what it depends on. This server does
// not know their tiles and gates; it only counts how often each was said to have changed.
#ifndef ARCLANE_SERVER_CACHE_INVALIDATION_LEDGER_H_
#define ARCLANE_SERVER_CACHE_INVALIDATION_LEDGER_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "server/navmesh/dependency.h"
#include "server/navmesh/mutex.h"

namespace arclane {

// Thread-safe. Bounded: when there are more names or things than can be remembered, everything (of
// that name) counts as changed once, which is safe and costs plans. Reading is O(log names); each
// invalidation copies what is remembered.
class InvalidationLedger {
 public:
  static constexpr size_t kMaxNames = 1024;
  static constexpr size_t kMaxThingsPerName = 1024;

  InvalidationLedger();

  // The stamps as of now for one navmesh, known to the registry or not.
  std::shared_ptr<const StampSource> View(std::string_view navmesh_id) const;
  // All that was kept under the name is stale.
  void InvalidateAll(std::string_view navmesh_id);
  // What depends on one of these is stale; their stamps are not looked at. A service that knows the
  // navmesh calls this for every change of it too, so that a gate's change reaches requests with
  // geometry of their own.
  void Invalidate(std::string_view navmesh_id, std::span<const Dependency> things);

 private:
  class LedgerView;
  // Everything that was said under any name; immutable.
  struct State {
    std::shared_ptr<const LedgerView> unnamed;
    std::map<std::string, std::shared_ptr<const LedgerView>, std::less<>> names;
  };
  std::shared_ptr<State> Successor(std::string_view navmesh_id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 1;
  std::unique_ptr<SnapshotCell<State>> state_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_CACHE_INVALIDATION_LEDGER_H_
