// SPDX-License-Identifier: Apache-2.0
// Answers that were planned before, found again by request and served only while everything they
// were read from is as it was. Sound because a corridor's answer depends on its corridor alone:
// equal stamps on all that the corridor reads mean that planning afresh would give the same bytes.
// It does not mean that the corridor is still the best way; a start-to-goal search, whose answer
// depends on everything it might have visited, must never be kept here.
#ifndef ARCLANE_SERVER_CACHE_ROUTE_CACHE_H_
#define ARCLANE_SERVER_CACHE_ROUTE_CACHE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "server/cache/cache_key.h"
#include "server/cache/cache_shard.h"
#include "server/cache/cache_value.h"
#include "server/cache/flight.h"
#include "server/navmesh/dependency.h"

namespace arclane {

struct RouteCacheOptions {
  // Bound on everything the cache holds: values, keys, tables, overhead of the heap. 0: keep
  // nothing (requests in progress are still shared).
  size_t capacity_bytes = size_t{256} << 20;
  // Rounded up to a power of two. A value may take a quarter of a shard at most.
  size_t shard_count = 16;
};

// Thread-safe. A change of a gate, link, cost or tile touches nothing here: entries find out when
// they are next asked for, and are good again when the state comes back. Worlds and versions that
// agree on what an entry read share it.
class RouteCache {
 public:
  explicit RouteCache(const RouteCacheOptions& options);

  struct Begun {
    std::shared_ptr<const CacheValue> value;  // Not null: a hit, and nothing else is set.
    FlightTable::Ticket
        ticket;  // Otherwise: ticket.leads tells whether this caller must have the plan made.
  };
  // Looks the request up and, on a miss, joins the plan of it that is under way on the same state
  // or starts one. `on_outcome` is called at least once for a ticket that does not leave, and never
  // for a hit.
  Begun Begin(const CacheKey& key, const StampSource& stamps, double deadline_s,
              OnFlightOutcome on_outcome);
  // Keeps the value and gives it to all who wait. `dependencies` carry the stamps of the state that
  // was planned on.
  void Finish(Flight& flight, std::span<const Dependency> dependencies,
              std::shared_ptr<const CacheValue> value);

  // Without sharing plans in progress.
  std::shared_ptr<const CacheValue> Lookup(const CacheKey& key, const StampSource& stamps) {
    return ShardOf(key.fingerprint).Lookup(key, stamps, /*count=*/true);
  }
  // The same, unseen by the counters: for what is kept beside answers.
  std::shared_ptr<const CacheValue> Peek(const CacheKey& key, const StampSource& stamps) {
    return ShardOf(key.fingerprint).Lookup(key, stamps, /*count=*/false);
  }
  void Insert(const CacheKey& key, std::span<const Dependency> dependencies,
              std::shared_ptr<const CacheValue> value);

  bool keeps() const { return keeps_; }
  void CountBypass() { bypassed_.fetch_add(1, std::memory_order_relaxed); }
  CacheCounters counters() const;
  size_t plans_in_progress() const { return flights_.size(); }

 private:
  CacheShard& ShardOf(Fingerprint fingerprint) {
    return *shards_[fingerprint.high & (shards_.size() - 1)];
  }

  const bool keeps_;
  std::vector<std::unique_ptr<CacheShard>> shards_;
  FlightTable flights_;
  std::atomic<uint64_t> bypassed_{0};
  std::atomic<uint64_t> coalesced_{0};
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_CACHE_ROUTE_CACHE_H_
