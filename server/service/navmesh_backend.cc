// SPDX-License-Identifier: Apache-2.0
#include "server/service/navmesh_backend.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <utility>

#include "absl/time/time.h"
#include "server/navmesh/navmesh_store.h"

namespace arclane {
namespace {

// Registry calls that wait; more are refused.
constexpr size_t kMostWaitingCalls = 1024;
constexpr double kLongestExpiryPeriod_s = 5.0;
constexpr double kShortestExpiryPeriod_s = 0.1;

std::shared_ptr<NavMeshRegistry> InMemoryRegistry() {
  RegistryOptions options;
  options.draw_life = NavMeshBackend::DrawLife;
  auto opened =
      NavMeshRegistry::Open(options, std::make_shared<NullStore>(), NavMeshBackend::Now());
  return *std::move(opened);  // Nothing is read, so nothing can fail.
}

}  // namespace

NavMeshBackend::NavMeshBackend(const NavMeshBackendOptions& options)
    : options_(options),
      registry_(options.registry != nullptr ? options.registry : InMemoryRegistry()),
      cache_({.capacity_bytes = options.cache_bytes, .shard_count = 16}),
      pool_({.thread_count = options.threads,
             .queue_limit = kMostWaitingCalls,
             .nice = options.nice,
             .before_job = nullptr}),
      stream_pool_({.thread_count = 1,
                    .queue_limit = std::numeric_limits<size_t>::max(),
                    .nice = 0,
                    .before_job = nullptr}),
      expiry_([this] { ExpireWorlds(); }) {}

NavMeshBackend::~NavMeshBackend() {
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
  }
  expiry_.join();
}

double NavMeshBackend::Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

uint64_t NavMeshBackend::DrawLife() {
  static_assert(sizeof(std::random_device::result_type) == 4);
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

bool NavMeshBackend::ReservePublishing(uint64_t bytes) {
  uint64_t held = publishing_bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > options_.max_publish_bytes || held > options_.max_publish_bytes - bytes)
      return false;
  } while (!publishing_bytes_.compare_exchange_weak(held, held + bytes));
  return true;
}

void NavMeshBackend::ReleasePublishing(uint64_t bytes) { publishing_bytes_.fetch_sub(bytes); }

double NavMeshBackend::ExpiryPeriod_s(double world_idle_s) {
  return std::clamp(world_idle_s / 4, kShortestExpiryPeriod_s, kLongestExpiryPeriod_s);
}

void NavMeshBackend::ExpireWorlds() {
  const absl::Duration period = absl::Seconds(ExpiryPeriod_s(registry_->world_idle_s()));
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&ending_), period)) return;
    }
    registry_->ExpireWorlds(Now());
  }
}

NavMeshNumbers NavMeshBackend::Numbers() const {
  const RegistryCounts counts = registry_->Count();
  const CacheCounters cache = cache_.counters();
  NavMeshNumbers numbers;
  numbers.navmeshes = counts.navmeshes;
  numbers.versions = counts.versions;
  numbers.bytes = counts.bytes;
  numbers.worlds = counts.worlds;
  numbers.publishing_bytes = publishing_bytes_.load(std::memory_order_relaxed);
  numbers.stored_bytes = counts.stored_bytes;
  for (const auto& [id, version] : registry_->ActiveVersions(kMostActiveVersions))
    numbers.active.push_back({id, version.value});
  numbers.cache_hits = cache.hits;
  // Read one after the other: a request may be among the coalesced and not yet among the misses.
  numbers.cache_misses = cache.misses - std::min(cache.misses, cache.coalesced);
  numbers.cache_coalesced = cache.coalesced;
  numbers.cache_bypassed = cache.bypassed;
  numbers.cache_stale = cache.stale;
  numbers.cache_insertions = cache.insertions;
  numbers.cache_evictions = cache.evictions;
  numbers.cache_rejections = cache.rejections;
  numbers.cache_entries = cache.entries;
  numbers.cache_bytes = cache.bytes;
  numbers.cache_bytes_limit = options_.cache_bytes;
  const PreparedCache::Counters prepared = prepared_.counters();
  numbers.prepared_corridor_hits = prepared.corridor_hits;
  numbers.prepared_corridor_misses = prepared.corridor_misses;
  numbers.prepared_curve_hits = prepared.curve_hits;
  numbers.prepared_curve_misses = prepared.curve_misses;
  return numbers;
}

}  // namespace arclane
