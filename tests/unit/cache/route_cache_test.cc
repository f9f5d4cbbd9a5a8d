// SPDX-License-Identifier: Apache-2.0
#include "server/cache/route_cache.h"

#include <map>
#include <random>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "server/cache/invalidation_ledger.h"

namespace arclane {
namespace {

constexpr double kNever = 1e300;

// Stamps that a test sets.
class Stamps : public StampSource {
 public:
  explicit Stamps(uint64_t state_id) : state_id_(state_id) {}
  uint64_t Stamp(DependencyKind kind, uint64_t id) const override {
    ++asked;
    const auto it = stamps.find({kind, id});
    return it == stamps.end() ? 1 : it->second;
  }
  uint64_t state_id() const override { return state_id_; }

  std::map<std::pair<DependencyKind, uint64_t>, uint64_t> stamps;
  mutable int asked = 0;

 private:
  uint64_t state_id_;
};

std::shared_ptr<const CacheValue> Value(std::string bytes) {
  return std::make_shared<EncodedAnswer>(std::move(bytes));
}
std::string TextOf(const std::shared_ptr<const CacheValue>& value) {
  return value == nullptr ? "(none)" : static_cast<const EncodedAnswer&>(*value).bytes();
}

const std::vector<Dependency> kGate7Open = {{DependencyKind::kGate, 7, 1},
                                            {DependencyKind::kTile, 3, 1}};
const std::vector<Dependency> kGate7Closed = {{DependencyKind::kGate, 7, 2},
                                              {DependencyKind::kTile, 3, 1}};

TEST(RouteCacheTest, ServesOnlyWhileEveryStampIsCurrent) {
  RouteCache cache({.capacity_bytes = 1 << 20, .shard_count = 1});
  const CacheKey key = MakeCacheKey("map", 1, "request");
  cache.Insert(key, kGate7Open, Value("open"));
  Stamps now(1);
  EXPECT_EQ(TextOf(cache.Lookup(key, now)), "open");
  Stamps closed(2);
  closed.stamps[{DependencyKind::kGate, 7}] = 2;
  EXPECT_EQ(TextOf(cache.Lookup(key, closed)), "(none)");
  EXPECT_EQ(cache.counters().stale, 1u);
  cache.Insert(key, kGate7Closed, Value("closed"));
  EXPECT_EQ(TextOf(cache.Lookup(key, closed)), "closed");
  Stamps reopened(3);
  EXPECT_EQ(TextOf(cache.Lookup(key, reopened)), "open")
      << "both are kept: the state that came back has its answer";
  Stamps rebuilt(4);
  rebuilt.stamps[{DependencyKind::kTile, 3}] = 9;
  EXPECT_EQ(TextOf(cache.Lookup(key, rebuilt)), "(none)");
  Stamps elsewhere(5);
  elsewhere.stamps[{DependencyKind::kGate, 8}] = 2;
  EXPECT_EQ(TextOf(cache.Lookup(key, elsewhere)), "open")
      << "what it does not depend on does not matter";
}

TEST(RouteCacheTest, AsksForStampsOncePerState) {
  RouteCache cache({.capacity_bytes = 1 << 20, .shard_count = 1});
  const CacheKey key = MakeCacheKey("map", 1, "request");
  cache.Insert(key, kGate7Open, Value("open"));
  Stamps now(1);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(TextOf(cache.Lookup(key, now)), "open");
  EXPECT_EQ(now.asked, 2);
}

TEST(RouteCacheTest, TellsRequestsApartThatCollide) {
  RouteCache cache({.capacity_bytes = 1 << 20, .shard_count = 1});
  CacheKey a = MakeCacheKey("map", 1, "a"), b = MakeCacheKey("map", 1, "b"),
           c = MakeCacheKey("other", 1, "a"), d = MakeCacheKey("map", 2, "a");
  EXPECT_NE(a.fingerprint.low, b.fingerprint.low);
  EXPECT_NE(a.fingerprint.low, c.fingerprint.low);
  EXPECT_NE(a.fingerprint.low, d.fingerprint.low);
  b.fingerprint = c.fingerprint = d.fingerprint = a.fingerprint;
  Stamps now(1);
  int i = 0;
  for (const CacheKey& key : {a, b, c, d}) cache.Insert(key, {}, Value(std::to_string(i++)));
  i = 0;
  for (const CacheKey& key : {a, b, c, d})
    EXPECT_EQ(TextOf(cache.Lookup(key, now)), std::to_string(i++));
}

TEST(RouteCacheTest, ReplacesTheAnswerForTheSameState) {
  RouteCache cache({.capacity_bytes = 1 << 20, .shard_count = 1});
  const CacheKey key = MakeCacheKey("map", 1, "request");
  for (int i = 0; i < 5; ++i) cache.Insert(key, kGate7Open, Value(std::to_string(i)));
  Stamps now(1);
  EXPECT_EQ(TextOf(cache.Lookup(key, now)), "4");
  EXPECT_EQ(cache.counters().entries, 1u);
  for (uint64_t stamp = 0; stamp < 100; ++stamp)
    cache.Insert(key, {{{DependencyKind::kTile, 3, stamp}}}, Value("x"));
  EXPECT_LE(cache.counters().entries, 16u);
}

TEST(RouteCacheTest, StaysWithinItsBytes) {
  const size_t capacity = 1 << 20;
  RouteCache cache({.capacity_bytes = capacity, .shard_count = 4});
  std::mt19937_64 random(5);
  Stamps now(1);
  for (int i = 0; i < 20000; ++i) {
    const std::string request = "request " + std::to_string(random() % 5000);
    const CacheKey key = MakeCacheKey("map", 1, request);
    if (cache.Lookup(key, now) == nullptr)
      cache.Insert(key, kGate7Open, Value(std::string(random() % 2000, 'x')));
    ASSERT_LE(cache.counters().bytes, capacity);
  }
  const CacheCounters counters = cache.counters();
  EXPECT_GT(counters.bytes, capacity * 8 / 10);
  EXPECT_EQ(counters.entries + counters.evictions, counters.insertions);
  EXPECT_EQ(counters.hits + counters.misses, 20000u);
  cache.Insert(MakeCacheKey("map", 1, "large"), {}, Value(std::string(capacity, 'x')));
  EXPECT_EQ(cache.counters().rejections, 1u);
  RouteCache none({.capacity_bytes = 0});
  none.Insert(MakeCacheKey("map", 1, "r"), {}, Value("x"));
  EXPECT_EQ(none.Lookup(MakeCacheKey("map", 1, "r"), now), nullptr);
}

// What is asked for again and again survives a scan of ten times the cache's size.
TEST(RouteCacheTest, KeepsWhatIsInDemandThroughAScan) {
  RouteCache cache({.capacity_bytes = 1 << 20, .shard_count = 1});
  Stamps now(1);
  const auto ask = [&](const std::string& request) {
    const CacheKey key = MakeCacheKey("map", 1, request);
    if (cache.Lookup(key, now) != nullptr) return true;
    cache.Insert(key, {}, Value(std::string(1000, 'x')));
    return false;
  };
  // Wanted now and then among others, as they would be: the small queue is passed.
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 100; ++i) ask("hot " + std::to_string(i));
  }
  for (int i = 0; i < 10000; ++i) {
    ask("scan " + std::to_string(i));
    if (i % 50 == 0) ask("hot " + std::to_string(i / 50 % 100));
  }
  int kept = 0;
  for (int i = 0; i < 100; ++i) kept += ask("hot " + std::to_string(i));
  EXPECT_EQ(kept, 100);
}

TEST(RouteCacheTest, ServesFromManyThreads) {
  RouteCache cache({.capacity_bytes = 1 << 18, .shard_count = 4});
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&cache, t] {
      std::mt19937_64 random(t);
      Stamps now(1);
      for (int i = 0; i < 5000; ++i) {
        const std::string request = std::to_string(random() % 500);
        const CacheKey key = MakeCacheKey("map", 1, request);
        const auto value = cache.Lookup(key, now);
        if (value == nullptr)
          cache.Insert(key, kGate7Open, Value(request + std::string(500, 'x')));
        else
          EXPECT_EQ(TextOf(value), request + std::string(500, 'x'));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(RouteCacheTest, CoalescesAndCounts) {
  RouteCache cache({.capacity_bytes = 1 << 20, .shard_count = 1});
  const CacheKey key = MakeCacheKey("map", 1, "request");
  Stamps now(1), other(2);
  int told = 0;
  const auto count = [&](const FlightOutcome& outcome) {
    told += outcome.kind == FlightOutcome::Kind::kValue;
  };
  auto leader = cache.Begin(key, now, kNever, count);
  EXPECT_TRUE(leader.ticket.leads);
  EXPECT_FALSE(cache.Begin(key, now, kNever, count).ticket.leads);
  EXPECT_TRUE(cache.Begin(key, other, kNever, count).ticket.leads)
      << "another state is another plan";
  cache.Finish(*leader.ticket.flight, kGate7Open, Value("answer"));
  EXPECT_EQ(told, 2);
  EXPECT_EQ(TextOf(cache.Begin(key, now, kNever, count).value), "answer");
  EXPECT_EQ(cache.counters().coalesced, 1u);
  EXPECT_EQ(cache.counters().hits, 1u);
  EXPECT_EQ(cache.counters().misses, 3u);
}

TEST(InvalidationLedgerTest, MakesWhatDependsStale) {
  InvalidationLedger ledger;
  RouteCache cache({.capacity_bytes = 1 << 20, .shard_count = 1});
  const auto keep = [&](const char* request, DependencyKind kind, uint64_t id) {
    const auto view = ledger.View("map");
    cache.Insert(MakeCacheKey("map", 0, request), {{{kind, id, view->Stamp(kind, id)}}},
                 Value(request));
  };
  const auto kept = [&](const char* request) {
    return cache.Lookup(MakeCacheKey("map", 0, request), *ledger.View("map")) != nullptr;
  };
  keep("a", DependencyKind::kGate, 1);
  keep("b", DependencyKind::kTile, 1);
  ledger.Invalidate("map", {{{DependencyKind::kGate, 1, 0}}});
  EXPECT_FALSE(kept("a"));
  EXPECT_TRUE(kept("b"));
  keep("a", DependencyKind::kGate, 1);
  EXPECT_TRUE(kept("a"));
  ledger.InvalidateAll("other");
  EXPECT_TRUE(kept("a"));
  ledger.InvalidateAll("map");
  EXPECT_FALSE(kept("a"));
  EXPECT_FALSE(kept("b"));
  keep("b", DependencyKind::kTile, 1);
  for (uint64_t i = 0; i <= InvalidationLedger::kMaxThingsPerName; ++i)
    ledger.Invalidate("map", {{{DependencyKind::kGate, i + 100, 0}}});
  EXPECT_FALSE(kept("b")) << "more than can be remembered: everything counts as changed";
  keep("b", DependencyKind::kTile, 1);
  for (size_t i = 0; i <= InvalidationLedger::kMaxNames; ++i)
    ledger.InvalidateAll("name" + std::to_string(i));
  EXPECT_FALSE(kept("b"));
}

}  // namespace
}  // namespace arclane
