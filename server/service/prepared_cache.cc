// SPDX-License-Identifier: Apache-2.0
#include "server/service/prepared_cache.h"

#include <string>
#include <utility>

namespace arclane {
namespace {

// The kinds of kept things, the first byte of their keys; those of answers stand in
// cached_plan_call.cc.
constexpr char kCorridor = 'P';
constexpr char kCurve = 'C';
// What std::make_shared puts before an object.
constexpr size_t kCountBlock = 16;

class KeptCorridor final : public CacheValue {
 public:
  explicit KeptCorridor(std::shared_ptr<const PreparedRefs> corridor)
      : corridor_(std::move(corridor)), bytes_(corridor_->ByteSize()) {}
  const std::shared_ptr<const PreparedRefs>& corridor() const { return corridor_; }
  size_t ByteSize() const override {
    return AllocatedBytes(sizeof(KeptCorridor) + kCountBlock) +
           AllocatedBytes(sizeof(PreparedRefs) + kCountBlock) + bytes_;
  }

 private:
  const std::shared_ptr<const PreparedRefs> corridor_;
  const size_t bytes_;
};

class KeptCurve final : public CacheValue {
 public:
  explicit KeptCurve(std::shared_ptr<const ArcLengthMap> map)
      : map_(std::move(map)), bytes_(map_->ByteSize()) {}
  const std::shared_ptr<const ArcLengthMap>& map() const { return map_; }
  size_t ByteSize() const override {
    return AllocatedBytes(sizeof(KeptCurve) + kCountBlock) +
           AllocatedBytes(sizeof(ArcLengthMap) + kCountBlock) + bytes_;
  }

 private:
  const std::shared_ptr<const ArcLengthMap> map_;
  const size_t bytes_;
};

// Curves depend on nothing that changes.
class NothingChanges final : public StampSource {
 public:
  uint64_t Stamp(DependencyKind, uint64_t) const override { return kNoStamp; }
  uint64_t state_id() const override { return ~uint64_t{0}; }
};

// The bytes of the key, held for the thread.
std::string_view Typed(char kind, std::string_view key) {
  thread_local std::string typed;
  typed.assign(1, kind);
  typed.append(key);
  return typed;
}

CacheKey CorridorCacheKey(std::string_view key, const NavMeshView& view) {
  return MakeCacheKey(view.navmesh_id(), view.lineage().value, Typed(kCorridor, key));
}
CacheKey CurveCacheKey(std::string_view key) { return MakeCacheKey("", 0, Typed(kCurve, key)); }

void Count(std::atomic<uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

bool PreparedCache::WasAskedBefore(const CacheKey& key) {
  // Never 0, which an empty place holds.
  const uint64_t mark = key.fingerprint.high | 1;
  return asked_[key.fingerprint.low % kRemembered].exchange(mark, std::memory_order_relaxed) ==
         mark;
}

std::shared_ptr<const PreparedRefs> PreparedCache::FindCorridor(std::string_view key,
                                                                const NavMeshView& view) {
  if (!cache_.keeps()) return nullptr;
  const auto value = cache_.Peek(CorridorCacheKey(key, view), view);
  Count(value != nullptr ? corridor_hits_ : corridor_misses_);
  return value == nullptr ? nullptr : static_cast<const KeptCorridor&>(*value).corridor();
}

bool PreparedCache::WantsCorridor(std::string_view key, const NavMeshView& view) {
  return cache_.keeps() && WasAskedBefore(CorridorCacheKey(key, view));
}

void PreparedCache::KeepCorridor(std::string_view key, const NavMeshView& view,
                                 std::shared_ptr<const PreparedRefs> corridor) {
  auto value = std::make_shared<const KeptCorridor>(corridor);
  cache_.Insert(CorridorCacheKey(key, view), corridor->corridor.read_set.dependencies,
                std::move(value));
}

std::shared_ptr<const ArcLengthMap> PreparedCache::FindCurve(std::string_view key) {
  if (!cache_.keeps()) return nullptr;
  const auto value = cache_.Peek(CurveCacheKey(key), NothingChanges());
  Count(value != nullptr ? curve_hits_ : curve_misses_);
  return value == nullptr ? nullptr : static_cast<const KeptCurve&>(*value).map();
}

bool PreparedCache::WantsCurve(std::string_view key) {
  return cache_.keeps() && WasAskedBefore(CurveCacheKey(key));
}

void PreparedCache::KeepCurve(std::string_view key, std::shared_ptr<const ArcLengthMap> map) {
  cache_.Insert(CurveCacheKey(key), {}, std::make_shared<const KeptCurve>(std::move(map)));
}

PreparedCache::Counters PreparedCache::counters() const {
  Counters counters;
  counters.corridor_hits = corridor_hits_.load(std::memory_order_relaxed);
  counters.corridor_misses = corridor_misses_.load(std::memory_order_relaxed);
  counters.curve_hits = curve_hits_.load(std::memory_order_relaxed);
  counters.curve_misses = curve_misses_.load(std::memory_order_relaxed);
  return counters;
}

}  // namespace arclane
