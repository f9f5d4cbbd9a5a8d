// SPDX-License-Identifier: Apache-2.0
#include "server/cache/route_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace arclane {

RouteCache::RouteCache(const RouteCacheOptions& options) : keeps_(options.capacity_bytes > 0) {
  const size_t count = std::bit_ceil(std::max<size_t>(1, options.shard_count));
  for (size_t i = 0; i < count; ++i)
    shards_.push_back(std::make_unique<CacheShard>(options.capacity_bytes / count));
}

RouteCache::Begun RouteCache::Begin(const CacheKey& key, const StampSource& stamps,
                                    double deadline_s, OnFlightOutcome on_outcome) {
  CacheShard& shard = ShardOf(key.fingerprint);
  if (auto value = shard.Lookup(key, stamps, /*count=*/true)) return {std::move(value), {}};
  FlightTable::Ticket ticket =
      flights_.Join(key, stamps.state_id(), deadline_s, std::move(on_outcome));
  if (!ticket.leads) {
    coalesced_.fetch_add(1, std::memory_order_relaxed);
    return {nullptr, std::move(ticket)};
  }
  // A plan may have ended between the look and the join; its value was kept before its flight
  // ended.
  if (auto value = shard.Lookup(key, stamps, /*count=*/false)) {
    ticket.flight->Leave(ticket.waiter);
    ticket.flight->Complete(value);
    return {std::move(value), {}};
  }
  return {nullptr, std::move(ticket)};
}

void RouteCache::Finish(Flight& flight, std::span<const Dependency> dependencies,
                        std::shared_ptr<const CacheValue> value) {
  Insert(flight.key(), dependencies, value);
  flight.Complete(std::move(value));
}

void RouteCache::Insert(const CacheKey& key, std::span<const Dependency> dependencies,
                        std::shared_ptr<const CacheValue> value) {
  if (keeps_) ShardOf(key.fingerprint).Insert(key, dependencies, std::move(value));
}

CacheCounters RouteCache::counters() const {
  CacheCounters counters;
  for (const auto& shard : shards_) counters += shard->counters();
  counters.coalesced = coalesced_.load(std::memory_order_relaxed);
  counters.bypassed = bypassed_.load(std::memory_order_relaxed);
  return counters;
}

}  // namespace arclane
