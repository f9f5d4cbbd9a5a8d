// SPDX-License-Identifier: Apache-2.0
// One lock's worth of the cache: entries by fingerprint, in the queues of S3-FIFO (Yang et al.,
// "FIFO queues are all you need for cache eviction", SOSP 2023): newcomers pass through a small
// queue and reach the main one only when they are asked for again there or soon after, so that a
// scan leaves without disturbing what is in demand.
#ifndef ARCLANE_SERVER_CACHE_CACHE_SHARD_H_
#define ARCLANE_SERVER_CACHE_CACHE_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "absl/container/flat_hash_set.h"
#include "server/cache/cache_key.h"
#include "server/cache/cache_value.h"
#include "server/navmesh/dependency.h"
#include "server/navmesh/mutex.h"

namespace arclane {

struct CacheCounters {
  uint64_t hits = 0;
  uint64_t misses = 0;     // Stale ones included.
  uint64_t stale = 0;      // Misses for which an answer is kept that holds for another state.
  uint64_t coalesced = 0;  // Misses that another request's plan answered.
  uint64_t bypassed = 0;   // Requests that asked not to be answered from the cache.
  uint64_t insertions = 0;
  uint64_t evictions = 0;
  uint64_t rejections = 0;  // Values too large to be kept.
  uint64_t entries = 0;
  uint64_t bytes = 0;  // Held now, keys and overhead included.

  CacheCounters& operator+=(const CacheCounters& other);
};

// Thread-safe.
class CacheShard {
 public:
  explicit CacheShard(size_t capacity_bytes) : capacity_(capacity_bytes) {}
  ~CacheShard();
  CacheShard(const CacheShard&) = delete;
  CacheShard& operator=(const CacheShard&) = delete;

  // The value kept for this request whose dependencies all have their stamps in `stamps`; null when
  // there is none. `count`: whether the counters take notice.
  std::shared_ptr<const CacheValue> Lookup(const CacheKey& key, const StampSource& stamps,
                                           bool count);
  // Keeps a value beside those that hold for other states; one for the same state is replaced.
  void Insert(const CacheKey& key, std::span<const Dependency> dependencies,
              std::shared_ptr<const CacheValue> value);
  CacheCounters counters() const;

 private:
  struct Entry;
  struct EntryDeleter {
    void operator()(Entry* entry) const;
  };
  using EntryPtr = std::unique_ptr<Entry, EntryDeleter>;
  // First in, first out; links lie in the entries.
  struct Queue {
    Entry* newest = nullptr;
    Entry* oldest = nullptr;
    size_t bytes = 0;
    size_t count = 0;
  };
  struct ByFingerprint {
    using is_transparent = void;
    size_t operator()(Fingerprint f) const { return f.low; }
    size_t operator()(const Entry* entry) const;
  };
  struct SameFingerprint {
    using is_transparent = void;
    bool operator()(const Entry* a, const Entry* b) const;
    bool operator()(const Entry* a, Fingerprint b) const;
  };

  static EntryPtr MakeEntry(const CacheKey& key, std::span<const Dependency> dependencies,
                            std::shared_ptr<const CacheValue> value);
  static void Push(Queue& queue, Entry* entry);
  static void Unlink(Queue& queue, Entry* entry);
  Queue& QueueOf(const Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes an entry out of table and queue; the caller frees it.
  EntryPtr Remove(Entry* entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The first entry of the request that an added one takes the place of, or null.
  Entry* Superseded(const CacheKey& key, std::span<const Dependency> dependencies)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EvictOne(std::deque<EntryPtr>& freed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remember(Fingerprint fingerprint) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t HeldBytes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t capacity_;
  mutable Mutex mutex_;
  absl::flat_hash_set<Entry*, ByFingerprint, SameFingerprint> table_
      ABSL_GUARDED_BY(mutex_);  // First of each chain.
  Queue small_ ABSL_GUARDED_BY(mutex_);
  Queue main_ ABSL_GUARDED_BY(mutex_);
  // Fingerprints that lately left the small queue unwanted, oldest first.
  std::deque<uint64_t> ghosts_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<uint64_t> ghost_set_ ABSL_GUARDED_BY(mutex_);
  CacheCounters counters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_CACHE_CACHE_SHARD_H_
