// SPDX-License-Identifier: Apache-2.0
#include "server/cache/cache_shard.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace arclane {
namespace {

// Of the capacity, in percent: what newcomers may take (the paper's figure).
constexpr size_t kSmallPercent = 10;
constexpr uint8_t kMaxDemand = 3;
// Answers to one request that hold for different states: more worlds than this that disagree take
// turns.
constexpr size_t kMaxVariants = 16;
// No value may take more than this part of a shard.
constexpr size_t kMaxPartOfShard = 4;
// A slot of the table is a pointer and a control byte, at a load of 7/16 to 7/8.
constexpr size_t kTableBytesPerEntry = 14;
// A ghost lies in a queue and in a set.
constexpr size_t kBytesPerGhost = 8 + 14;

}  // namespace

CacheCounters& CacheCounters::operator+=(const CacheCounters& other) {
  hits += other.hits;
  misses += other.misses;
  stale += other.stale;
  coalesced += other.coalesced;
  bypassed += other.bypassed;
  insertions += other.insertions;
  evictions += other.evictions;
  rejections += other.rejections;
  entries += other.entries;
  bytes += other.bytes;
  return *this;
}

// One allocation: the struct, then ids, stamps and kinds of the dependencies, then the key's bytes.
struct CacheShard::Entry {
  Fingerprint fingerprint;
  uint64_t lineage = 0;
  uint64_t current_in_state = 0;  // A state in which all dependencies were found current.
  std::shared_ptr<const CacheValue> value;
  Entry* newer = nullptr;  // In the queue.
  Entry* older = nullptr;
  Entry* next_variant = nullptr;  // Same fingerprint.
  size_t bytes = 0;
  uint32_t dependency_count = 0;
  uint32_t request_bytes = 0;
  uint16_t id_bytes = 0;
  uint8_t demand = 0;
  bool in_main = false;

  uint64_t* ids() { return reinterpret_cast<uint64_t*>(this + 1); }
  uint64_t* stamps() { return ids() + dependency_count; }
  DependencyKind* kinds() { return reinterpret_cast<DependencyKind*>(stamps() + dependency_count); }
  char* text() { return reinterpret_cast<char*>(kinds() + dependency_count); }

  bool Answers(const CacheKey& key) {
    return fingerprint == key.fingerprint && lineage == key.lineage &&
           request_bytes == key.request.size() &&
           std::string_view(text(), id_bytes) == key.navmesh_id &&
           std::string_view(text() + id_bytes, request_bytes) == key.request;
  }
  bool IsCurrent(const StampSource& source) {
    const uint64_t state = source.state_id();
    if (current_in_state == state) return true;
    for (uint32_t i = 0; i < dependency_count; ++i) {
      if (source.Stamp(kinds()[i], ids()[i]) != stamps()[i]) return false;
    }
    current_in_state = state;
    return true;
  }
  bool HasStamps(std::span<const Dependency> dependencies) {
    if (dependencies.size() != dependency_count) return false;
    for (uint32_t i = 0; i < dependency_count; ++i) {
      if (dependencies[i] != Dependency{kinds()[i], ids()[i], stamps()[i]}) return false;
    }
    return true;
  }
};

void CacheShard::EntryDeleter::operator()(Entry* entry) const {
  entry->~Entry();
  std::free(entry);
}

size_t CacheShard::ByFingerprint::operator()(const Entry* entry) const {
  return entry->fingerprint.low;
}
bool CacheShard::SameFingerprint::operator()(const Entry* a, const Entry* b) const {
  return a->fingerprint == b->fingerprint;
}
bool CacheShard::SameFingerprint::operator()(const Entry* a, Fingerprint b) const {
  return a->fingerprint == b;
}

CacheShard::~CacheShard() {
  MutexLock lock(mutex_);
  for (Queue* queue : {&small_, &main_}) {
    while (queue->oldest != nullptr) {
      // Unlink moves `oldest` on, which the analyzer does not see.
      Entry* entry = queue->oldest;
      Unlink(*queue, entry);  // NOLINT(clang-analyzer-unix.Malloc)
      EntryDeleter()(entry);  // NOLINT(clang-analyzer-unix.Malloc)
    }
  }
}

CacheShard::EntryPtr CacheShard::MakeEntry(const CacheKey& key,
                                           std::span<const Dependency> dependencies,
                                           std::shared_ptr<const CacheValue> value) {
  const size_t size = sizeof(Entry) + dependencies.size() * (8 + 8 + 1) + key.navmesh_id.size() +
                      key.request.size();
  void* memory = std::malloc(size);
  if (memory == nullptr) return nullptr;
  EntryPtr entry(new (memory) Entry());
  entry->fingerprint = key.fingerprint;
  entry->lineage = key.lineage;
  entry->dependency_count = static_cast<uint32_t>(dependencies.size());
  entry->request_bytes = static_cast<uint32_t>(key.request.size());
  entry->id_bytes = static_cast<uint16_t>(key.navmesh_id.size());
  for (size_t i = 0; i < dependencies.size(); ++i) {
    entry->ids()[i] = dependencies[i].id;
    entry->stamps()[i] = dependencies[i].stamp;
    entry->kinds()[i] = dependencies[i].kind;
  }
  if (!key.navmesh_id.empty())
    std::memcpy(entry->text(), key.navmesh_id.data(), key.navmesh_id.size());
  if (!key.request.empty())
    std::memcpy(entry->text() + key.navmesh_id.size(), key.request.data(), key.request.size());
  entry->bytes = AllocatedBytes(size) + kTableBytesPerEntry + value->ByteSize();
  entry->value = std::move(value);
  return entry;
}

void CacheShard::Push(Queue& queue, Entry* entry) {
  entry->newer = nullptr;
  entry->older = queue.newest;
  (queue.newest != nullptr ? queue.newest->newer : queue.oldest) = entry;
  queue.newest = entry;
  queue.bytes += entry->bytes;
  ++queue.count;
}

void CacheShard::Unlink(Queue& queue, Entry* entry) {
  (entry->newer != nullptr ? entry->newer->older : queue.newest) = entry->older;
  (entry->older != nullptr ? entry->older->newer : queue.oldest) = entry->newer;
  queue.bytes -= entry->bytes;
  --queue.count;
}

CacheShard::Queue& CacheShard::QueueOf(const Entry& entry) {
  return entry.in_main ? main_ : small_;
}

size_t CacheShard::HeldBytes() const {
  return small_.bytes + main_.bytes + ghosts_.size() * kBytesPerGhost;
}

std::shared_ptr<const CacheValue> CacheShard::Lookup(const CacheKey& key, const StampSource& stamps,
                                                     bool count) {
  MutexLock lock(mutex_);
  bool known = false;
  const auto it = table_.find(key.fingerprint);
  for (Entry* entry = it == table_.end() ? nullptr : *it; entry != nullptr;
       entry = entry->next_variant) {
    if (!entry->Answers(key)) continue;
    known = true;
    if (!entry->IsCurrent(stamps)) continue;
    if (entry->demand < kMaxDemand) ++entry->demand;
    counters_.hits += count;
    return entry->value;
  }
  counters_.misses += count;
  counters_.stale += count && known;
  return nullptr;
}

CacheShard::EntryPtr CacheShard::Remove(Entry* entry) {
  Unlink(QueueOf(*entry), entry);
  const auto it = table_.find(entry->fingerprint);
  if (*it != entry) {
    Entry* before = *it;
    while (before->next_variant != entry) before = before->next_variant;
    before->next_variant = entry->next_variant;
  } else {
    Entry* next = entry->next_variant;
    table_.erase(it);
    if (next != nullptr) table_.insert(next);
  }
  return EntryPtr(entry);
}

CacheShard::Entry* CacheShard::Superseded(const CacheKey& key,
                                          std::span<const Dependency> dependencies) {
  const auto it = table_.find(key.fingerprint);
  size_t variants = 0;
  Entry* oldest = nullptr;
  for (Entry* entry = it == table_.end() ? nullptr : *it; entry != nullptr;
       entry = entry->next_variant) {
    if (!entry->Answers(key)) continue;
    if (entry->HasStamps(dependencies)) return entry;
    ++variants;
    oldest = entry;  // Newer ones come first.
  }
  return variants >= kMaxVariants ? oldest : nullptr;
}

void CacheShard::Remember(Fingerprint fingerprint) {
  if (!ghost_set_.insert(fingerprint.low).second) return;
  ghosts_.push_back(fingerprint.low);
  while (ghosts_.size() > main_.count + small_.count) {
    ghost_set_.erase(ghosts_.front());
    ghosts_.pop_front();
  }
}

void CacheShard::EvictOne(std::deque<EntryPtr>& freed) {
  if (small_.oldest != nullptr &&
      (small_.bytes * 100 > capacity_ * kSmallPercent || main_.oldest == nullptr)) {
    Entry* entry = small_.oldest;
    if (entry->demand > 1) {
      Unlink(small_, entry);
      entry->in_main = true;
      entry->demand = 0;
      Push(main_, entry);
      return;
    }
    const Fingerprint fingerprint = entry->fingerprint;
    freed.push_back(Remove(entry));
    Remember(fingerprint);
  } else {
    Entry* entry = main_.oldest;
    if (entry->demand > 0) {  // Still in demand: around again.
      Unlink(main_, entry);
      --entry->demand;
      Push(main_, entry);
      return;
    }
    freed.push_back(Remove(entry));
  }
  ++counters_.evictions;
}

void CacheShard::Insert(const CacheKey& key, std::span<const Dependency> dependencies,
                        std::shared_ptr<const CacheValue> value) {
  EntryPtr made = MakeEntry(key, dependencies, std::move(value));
  std::deque<EntryPtr> freed;  // Freed after the lock is.
  MutexLock lock(mutex_);
  if (made == nullptr || made->bytes > capacity_ / kMaxPartOfShard ||
      key.navmesh_id.size() > UINT16_MAX) {
    ++counters_.rejections;
    if (made != nullptr) freed.push_back(std::move(made));
    return;
  }
  if (Entry* superseded = Superseded(key, dependencies)) {
    made->demand = superseded->demand;
    made->in_main = superseded->in_main;
    freed.push_back(Remove(superseded));
  }
  if (ghost_set_.contains(key.fingerprint.low)) made->in_main = true;
  Entry* entry = made.release();
  const auto it = table_.find(entry->fingerprint);
  if (it != table_.end()) {
    entry->next_variant = *it;
    table_.erase(it);
  }
  table_.insert(entry);
  Push(QueueOf(*entry), entry);
  ++counters_.insertions;
  while (HeldBytes() > capacity_ && (small_.oldest != nullptr || main_.oldest != nullptr))
    EvictOne(freed);
}

CacheCounters CacheShard::counters() const {
  MutexLock lock(mutex_);
  CacheCounters counters = counters_;
  counters.entries = small_.count + main_.count;
  counters.bytes = HeldBytes();
  return counters;
}

}  // namespace arclane
