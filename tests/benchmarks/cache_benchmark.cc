// SPDX-License-Identifier: Apache-2.0
// The cache under the load it is for: requests of Zipf-distributed popularity, with and without
// scans between them.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "benchmark/benchmark.h"
#include "server/cache/route_cache.h"
#include "server/navmesh/corridor_refs.h"
#include "server/navmesh/registry.h"
#include "tests/support/grid_mesh.h"

namespace arclane {
namespace {

// Popularity k^-0.9 over n requests, by inversion of the cumulated weights.
class Zipf {
 public:
  explicit Zipf(size_t n) : cumulated_(n) {
    double sum = 0;
    for (size_t k = 0; k < n; ++k)
      cumulated_[k] = sum += std::pow(static_cast<double>(k + 1), -0.9);
    for (double& c : cumulated_) c /= sum;
  }
  uint32_t operator()(std::mt19937_64& random) const {
    const double u = std::uniform_real_distribution<double>()(random);
    const auto at = std::lower_bound(cumulated_.begin(), cumulated_.end(), u) - cumulated_.begin();
    return static_cast<uint32_t>(
        std::min<ptrdiff_t>(at, static_cast<ptrdiff_t>(cumulated_.size()) - 1));
  }

 private:
  std::vector<double> cumulated_;
};

constexpr uint32_t kDistinct = 1'000'000;
constexpr size_t kRequestBytes = 160;  // A corridor of 16 refs, start, goal, agent.

// The canonical bytes of request number i: the same every time, like no other.
void FillRequest(uint32_t i, std::string& request) {
  request.assign(kRequestBytes, 'r');
  std::memcpy(request.data(), &i, sizeof(i));
}
// An encoded route without samples: 300 to 1,300 bytes.
size_t AnswerBytes(uint32_t i) { return 300 + (i * 2654435761u) % 1000; }

class FixedStamps : public StampSource {
 public:
  uint64_t Stamp(DependencyKind, uint64_t) const override { return 1; }
  uint64_t state_id() const override { return 1; }
};

const std::vector<Dependency> kReads = {{DependencyKind::kTile, 1, 1},
                                        {DependencyKind::kTile, 2, 1},
                                        {DependencyKind::kTile, 3, 1},
                                        {DependencyKind::kTile, 4, 1},
                                        {DependencyKind::kArea, 0, 1}};

// A stream of requests; every fifth belongs to a scan of requests that never come again, where
// scans are wanted.
class Load {
 public:
  Load(bool scans, uint64_t seed) : scans_(scans), random_(seed) {}
  uint32_t Next() {
    if (scans_ && random_() % 5 == 0) return kDistinct + scanned_++;
    static const Zipf& zipf = *new Zipf(kDistinct);
    return zipf(random_);
  }

 private:
  const bool scans_;
  std::mt19937_64 random_;
  uint32_t scanned_ = 0;
};

// The same byte bound under least recently used.
class Lru {
 public:
  explicit Lru(size_t capacity) : capacity_(capacity) {}
  bool Ask(uint32_t i, size_t bytes) {
    if (const auto it = table_.find(i); it != table_.end()) {
      order_.splice(order_.begin(), order_, it->second);
      return true;
    }
    order_.push_front({i, bytes});
    table_[i] = order_.begin();
    held_ += bytes;
    while (held_ > capacity_) {
      held_ -= order_.back().second;
      table_.erase(order_.back().first);
      order_.pop_back();
    }
    return false;
  }

 private:
  size_t capacity_, held_ = 0;
  std::list<std::pair<uint32_t, size_t>> order_;
  std::unordered_map<uint32_t, std::list<std::pair<uint32_t, size_t>>::iterator> table_;
};

size_t ResidentBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  unsigned long total = 0, resident = 0;
  if (file == nullptr || std::fscanf(file, "%lu %lu", &total, &resident) != 2) std::abort();
  std::fclose(file);
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// 4 million requests, the first half to warm up. Counters: hit_ratio of the second half, lru of a
// least recently used list under the same load and bound, bytes_per_entry, resident_over_bound.
void BM_Cache_Zipf(benchmark::State& state) {
  const size_t capacity = static_cast<size_t>(state.range(0)) << 20;
  const bool scans = state.range(1) != 0;
  constexpr int kRequests = 4'000'000;
  FixedStamps stamps;
  for (auto _ : state) {
    // What earlier runs gave back is kept by malloc and would serve this one unseen.
    malloc_trim(0);
    const size_t before = ResidentBytes();
    RouteCache cache({.capacity_bytes = capacity, .shard_count = 16});
    Load load(scans, 1);
    std::string request;
    uint64_t hits = 0;
    for (int n = 0; n < kRequests; ++n) {
      const uint32_t i = load.Next();
      FillRequest(i, request);
      const CacheKey key = MakeCacheKey("map", 1, request);
      if (cache.Lookup(key, stamps) != nullptr)
        hits += n >= kRequests / 2;
      else
        cache.Insert(key, kReads,
                     std::make_shared<EncodedAnswer>(std::string(AnswerBytes(i), 'x')));
    }
    const CacheCounters counters = cache.counters();
    state.counters["hit_ratio"] = static_cast<double>(hits) / (kRequests / 2);
    state.counters["bytes_per_entry"] =
        static_cast<double>(counters.bytes) / static_cast<double>(counters.entries);
    state.counters["entries"] = static_cast<double>(counters.entries);
    state.counters["accounted_MB"] = static_cast<double>(counters.bytes) / (1 << 20);
    const double resident_MB =
        (static_cast<double>(ResidentBytes()) - static_cast<double>(before)) / (1 << 20);
    state.counters["resident_MB"] = resident_MB;
    // Kept answers lie somewhere: less than their bytes means that other memory was looked at.
    if (resident_MB < 0.9 * static_cast<double>(counters.bytes) / (1 << 20))
      state.SkipWithError("the resident memory was not measured");
    state.PauseTiming();
    const double entry_bytes =
        static_cast<double>(counters.bytes) / static_cast<double>(counters.entries) - 800;
    Lru lru(capacity);
    Load again(scans, 1);
    uint64_t lru_hits = 0;
    for (int n = 0; n < kRequests; ++n) {
      const uint32_t i = again.Next();
      lru_hits +=
          lru.Ask(i, AnswerBytes(i) + static_cast<size_t>(entry_bytes)) && n >= kRequests / 2;
    }
    state.counters["lru"] = static_cast<double>(lru_hits) / (kRequests / 2);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(kRequests);
}
BENCHMARK(BM_Cache_Zipf)
    ->ArgNames({"MB", "scans"})
    ->Args({1024, 0})
    ->Args({128, 0})
    ->Args({128, 1})
    ->Args({32, 0})
    ->Args({32, 1})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void BM_Cache_Hit(benchmark::State& state) {
  static RouteCache& cache =
      *new RouteCache({.capacity_bytes = size_t{64} << 20, .shard_count = 16});
  FixedStamps stamps;
  std::string request;
  if (state.thread_index() == 0) {
    for (uint32_t i = 0; i < 1000; ++i) {
      FillRequest(i, request);
      cache.Insert(MakeCacheKey("map", 1, request), kReads,
                   std::make_shared<EncodedAnswer>(std::string(16384, 'x')));
    }
  }
  std::mt19937_64 random(static_cast<uint64_t>(state.thread_index()));
  for (auto _ : state) {
    FillRequest(static_cast<uint32_t>(random() % 1000), request);
    benchmark::DoNotOptimize(cache.Lookup(MakeCacheKey("map", 1, request), stamps));
  }
}
BENCHMARK(BM_Cache_Hit)->ThreadRange(1, 2)->UseRealTime();

// One gate closes with a million answers kept, half of which depend on it; then the next answer is
// asked for. The time is that of the change, the view after it and the look-up that finds the
// answer stale.
void BM_Cache_GateChange(benchmark::State& state) {
  auto registry = *NavMeshRegistry::Open({}, std::make_shared<NullStore>(), 0.0);
  NeutralMesh mesh = ::arclane::testing::GridMesh({.width = 64, .height = 64, .tile = 16});
  mesh.gates = {{{1}, "", {{{0}, {1}}}, true}};
  PublishRequest publish;
  publish.navmesh_id = "map";
  publish.version = {1};
  publish.neutral = &mesh;
  if (!registry->Publish(publish).ok()) std::abort();
  RouteCache cache({.capacity_bytes = size_t{1} << 30, .shard_count = 16});
  const auto view = *registry->View("map", {}, "", 0);
  const std::vector<Dependency> with_gate = {
      {DependencyKind::kGate, 1, kOpenStamp},
      {DependencyKind::kTile, 1000, view.Stamp(DependencyKind::kTile, 1000)}};
  const std::vector<Dependency> without = {with_gate[1]};
  const auto value = std::make_shared<EncodedAnswer>(std::string(64, 'x'));
  std::string request;
  for (uint32_t i = 0; i < 1'000'000; ++i) {
    FillRequest(i, request);
    cache.Insert(MakeCacheKey("map", 1, request), i % 2 == 0 ? with_gate : without, value);
  }
  bool open = true;
  for (auto _ : state) {
    ApplyRequest change;
    change.navmesh_id = "map";
    change.changes = {StateChange::Gate({1}, open = !open)};
    if (!registry->ApplyChanges(change, 0).ok()) std::abort();
    const auto now = *registry->View("map", {}, "", 0);
    FillRequest(0, request);
    const bool found = cache.Lookup(MakeCacheKey("map", 1, request), now) != nullptr;
    if (found != open) std::abort();
    FillRequest(1, request);
    if (cache.Lookup(MakeCacheKey("map", 1, request), now) == nullptr) std::abort();
  }
  state.counters["entries"] = static_cast<double>(cache.counters().entries);
}
BENCHMARK(BM_Cache_GateChange)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace arclane
