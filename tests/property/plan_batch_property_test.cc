// SPDX-License-Identifier: Apache-2.0
// Batches of random items: the answers are, bit for bit, those of the requests one by one, in
// order, in messages within their bound, whatever the number of threads, the size of the messages,
// the moments at which threads pause and messages are taken, and whatever is kept: answers,
// corridors and curves outlive the batches, so that items meet hits and prepared corridors. Equal
// items are planned once. ARCLANE_PROPERTY_STEPS and ARCLANE_PROPERTY_SEED set the number of items
// and the seed; ARCLANE_FULL_TESTS makes it 100,000 items.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "server/codec/canonical_request.h"
#include "server/codec/status_codec.h"
#include "server/navmesh/navmesh_store.h"
#include "server/navmesh/registry.h"
#include "server/pipeline/plan_batch.h"
#include "server/pipeline/plan_corridor.h"
#include "server/pipeline/plan_speed.h"
#include "server/pipeline/plan_spline.h"
#include "server/pipeline/plan_waypoints.h"
#include "tests/support/random_items.h"

namespace arclane {
namespace {

using testing::ItemsGrid;
using testing::RandomItems;

uint64_t FromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

std::optional<FailureReason> Never() { return std::nullopt; }

// A cache of the simplest kind. States are never changed here.
class MapStore final : public AnswerStore {
 public:
  std::shared_ptr<const Found> Find(std::string_view, uint64_t, std::string_view request,
                                    const StampSource&) override {
    absl::MutexLock lock(&mutex_);
    const auto found = kept_.find(std::string(request));
    if (found == kept_.end()) return nullptr;
    ++hits_;
    return {found->second, &found->second->found};
  }
  void Keep(std::string_view, uint64_t, std::string_view request, std::span<const Dependency>,
            std::string_view answer, v1::Outcome outcome) override {
    auto held = std::make_shared<Held>();
    held->bytes = answer;
    held->found = {held->bytes, outcome};
    absl::MutexLock lock(&mutex_);
    kept_[std::string(request)] = std::move(held);
  }
  void CountBypass() override {}
  std::shared_ptr<const StampSource> Ledger(std::string_view) override { return nullptr; }
  int hits() {
    absl::MutexLock lock(&mutex_);
    return hits_;
  }
  size_t size() {
    absl::MutexLock lock(&mutex_);
    return kept_.size();
  }

 private:
  struct Held {
    std::string bytes;
    Found found;
  };
  absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<Held>> kept_ ABSL_GUARDED_BY(mutex_);
  int hits_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Keeps every corridor and curve that it is asked for a second time.
class MapPreparedPlans final : public PreparedPlans {
 public:
  std::shared_ptr<const PreparedRefs> FindCorridor(std::string_view key,
                                                   const NavMeshView&) override {
    absl::MutexLock lock(&mutex_);
    const auto found = corridors_.find(std::string(key));
    if (found == corridors_.end()) return nullptr;
    ++corridor_hits_;
    return found->second;
  }
  bool WantsCorridor(std::string_view key, const NavMeshView&) override {
    absl::MutexLock lock(&mutex_);
    return !asked_.insert(std::string(key)).second;
  }
  void KeepCorridor(std::string_view key, const NavMeshView&,
                    std::shared_ptr<const PreparedRefs> corridor) override {
    absl::MutexLock lock(&mutex_);
    corridors_[std::string(key)] = std::move(corridor);
  }
  std::shared_ptr<const ArcLengthMap> FindCurve(std::string_view key) override {
    absl::MutexLock lock(&mutex_);
    const auto found = curves_.find(std::string(key));
    return found == curves_.end() ? nullptr : found->second;
  }
  bool WantsCurve(std::string_view) override { return true; }
  void KeepCurve(std::string_view key, std::shared_ptr<const ArcLengthMap> map) override {
    absl::MutexLock lock(&mutex_);
    curves_[std::string(key)] = std::move(map);
  }
  int corridor_hits() {
    absl::MutexLock lock(&mutex_);
    return corridor_hits_;
  }

 private:
  absl::Mutex mutex_;
  std::set<std::string> asked_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<const PreparedRefs>> corridors_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<const ArcLengthMap>> curves_ ABSL_GUARDED_BY(mutex_);
  int corridor_hits_ ABSL_GUARDED_BY(mutex_) = 0;
};

class PlanBatchPropertyTest : public ::testing::Test {
 protected:
  PlanBatchPropertyTest() {
    auto registry = NavMeshRegistry::Open({}, std::make_shared<NullStore>(), 0);
    EXPECT_TRUE(registry.ok());
    registry_ = *std::move(registry);
    const NeutralMesh mesh = ItemsGrid();
    PublishRequest request;
    request.navmesh_id = "grid";
    request.version = {1};
    request.neutral = &mesh;
    EXPECT_TRUE(registry_->Publish(request).ok());
    auto view = registry_->View("grid", {0}, "", 0);
    EXPECT_TRUE(view.ok());
    view_ = std::make_unique<NavMeshView>(*std::move(view));
  }

  // The answer to one item on its own, as a call of its own gives it: fields filled in by hand,
  // planned by the method's pipeline.
  v1::PlanItemAnswer Alone(v1::PlanItem item, const v1::PlanShared& shared) {
    v1::PlanItemAnswer answer;
    const auto fill = [&](auto& request) {
      if (item.has_agent_index())
        *request.mutable_agent() = shared.agents(static_cast<int>(item.agent_index()));
      if (item.has_sampling_index())
        *request.mutable_sampling() = shared.samplings(static_cast<int>(item.sampling_index()));
    };
    std::optional<Failure> failure;
    switch (item.request_case()) {
      case v1::PlanItem::kCorridor: {
        v1::PlanCorridorRequest& request = *item.mutable_corridor();
        fill(request);
        if (request.corridor().has_refs()) {
          Canonicalize(request);
          ReadSet reads;
          failure = AnswerPlanCorridorByRef(request, *view_, limits_, Never,
                                            *answer.mutable_corridor(), reads);
        } else {
          failure = AnswerPlanCorridor(request, limits_, Never, *answer.mutable_corridor());
        }
        answer.mutable_corridor()->clear_answer();
        break;
      }
      case v1::PlanItem::kWaypoints:
        fill(*item.mutable_waypoints());
        failure =
            AnswerPlanWaypoints(item.waypoints(), limits_, Never, *answer.mutable_waypoints());
        answer.mutable_waypoints()->clear_answer();
        break;
      case v1::PlanItem::kSpline:
        fill(*item.mutable_spline());
        failure = AnswerPlanSpline(item.spline(), limits_, Never, *answer.mutable_spline());
        answer.mutable_spline()->clear_answer();
        break;
      case v1::PlanItem::kSpeed:
        if (item.has_agent_index()) {
          *item.mutable_speed()->mutable_limits() =
              shared.agents(static_cast<int>(item.agent_index())).limits();
        }
        failure = AnswerPlanSpeed(item.speed(), limits_, Never, *answer.mutable_speed());
        answer.mutable_speed()->clear_answer();
        break;
      case v1::PlanItem::REQUEST_NOT_SET:
        break;
    }
    if (failure) {
      answer.Clear();
      *answer.mutable_status() = ToRpcStatus(*failure);
    }
    return answer;
  }

  // What Alone would not know of: faults of the item itself.
  static bool ItemIsWrong(const v1::PlanItem& item) {
    if (item.request_case() == v1::PlanItem::REQUEST_NOT_SET) return true;
    if (item.has_agent_index() && item.agent_index() >= 3) return true;
    return item.has_agent_index() && ((item.has_corridor() && item.corridor().has_agent()) ||
                                      (item.has_waypoints() && item.waypoints().has_agent()) ||
                                      (item.has_spline() && item.spline().has_agent()) ||
                                      (item.has_speed() && item.speed().has_limits()));
  }

  // The encoded answer without how it came about.
  static std::string Comparable(v1::PlanItemAnswer answer) {
    switch (answer.response_case()) {
      case v1::PlanItemAnswer::kCorridor:
        answer.mutable_corridor()->clear_answer();
        break;
      case v1::PlanItemAnswer::kWaypoints:
        answer.mutable_waypoints()->clear_answer();
        break;
      case v1::PlanItemAnswer::kSpline:
        answer.mutable_spline()->clear_answer();
        break;
      case v1::PlanItemAnswer::kSpeed:
        answer.mutable_speed()->clear_answer();
        break;
      case v1::PlanItemAnswer::RESPONSE_NOT_SET:
        break;
    }
    return answer.SerializeAsString();
  }

  // Plans the batch on threads that pause at random; messages are taken in between.
  std::vector<v1::PlanItemAnswer> PlanOn(const v1::PlanBatchRequest& request, int thread_count,
                                         AnswerStore* store, PreparedPlans* prepared,
                                         uint64_t seed) {
    const std::string encoded = request.SerializeAsString();
    std::unique_ptr<BatchPlan> batch;
    EXPECT_FALSE(BatchPlan::Read(encoded, limits_, &batch));
    batch->Begin(view_.get(), store, thread_count, prepared);
    std::atomic<size_t> planned{0}, answered{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937_64 random(seed + static_cast<uint64_t>(t));
        ItemPlanner planner;
        while (!batch->done()) {
          const auto range = batch->TakeRange(1 + static_cast<uint32_t>(random() % 40));
          if (!range) {
            std::this_thread::yield();
            continue;
          }
          batch->PlanRange(
              *range, planner, Never, [&] { return random() % 16 == 0; },
              [&](const ItemAnswer&, const PlanTrace&, uint32_t copies) {
                ++planned;
                answered += 1 + copies;
              });
        }
      });
    }
    std::vector<v1::PlanItemAnswer> answers;
    std::mt19937_64 random(seed);
    while (!batch->done()) {
      const auto message = batch->TakeMessage(random() % 3 == 0 ? 1 : 100'000);
      if (!message) {
        std::this_thread::yield();
        continue;
      }
      std::string bytes;
      for (const EncodedPiece& piece : message->pieces)
        bytes.append(reinterpret_cast<const char*>(piece.bytes.get()), piece.size);
      EXPECT_EQ(bytes.size(), message->size);
      EXPECT_LE(bytes.size(), batch->chunk_bytes());
      v1::PlanBatchResponse response;
      EXPECT_TRUE(response.ParseFromString(bytes));
      EXPECT_EQ(response.first_index(), answers.size());
      EXPECT_EQ(static_cast<uint32_t>(response.answers_size()), message->item_count);
      for (const auto& answer : response.answers()) answers.push_back(answer);
    }
    for (std::thread& thread : threads) thread.join();
    std::set<std::string> distinct;
    for (const v1::PlanItem& item : request.items()) distinct.insert(item.SerializeAsString());
    EXPECT_EQ(planned, distinct.size()) << "equal items are planned once";
    EXPECT_EQ(answered, answers.size()) << "copies are told of";
    return answers;
  }

  RequestLimits limits_;
  std::unique_ptr<NavMeshRegistry> registry_;
  std::unique_ptr<NavMeshView> view_;
};

v1::PlanBatchRequest RandomBatch(RandomItems& random, int count) {
  v1::PlanBatchRequest request;
  *request.mutable_shared() = RandomItems::Shared();
  while (request.items_size() < count) *request.add_items() = random.Next();
  return request;
}

TEST_F(PlanBatchPropertyTest, AnswersAreThoseOfTheRequestsAlone) {
  const uint64_t seed = FromEnvironment("ARCLANE_PROPERTY_SEED", 1);
  const bool full = FromEnvironment("ARCLANE_FULL_TESTS", 0) != 0;
  const int steps =
      static_cast<int>(FromEnvironment("ARCLANE_PROPERTY_STEPS", full ? 100'000 : 10'000));
  constexpr int kBatch = 1000;
  RandomItems random(seed);
  // They outlive the batches.
  MapStore store;
  MapPreparedPlans prepared;
  int failed = 0, coalesced = 0, hits = 0, misses = 0, bypassed = 0, too_large = 0, floats = 0;
  for (int done = 0; done < steps; done += kBatch) {
    v1::PlanBatchRequest request = RandomBatch(random, std::min(kBatch, steps - done));
    const uint32_t chunks[] = {0, 100'000, 30'000};
    request.set_max_chunk_bytes(chunks[random.Below(3)]);
    const int threads[] = {1, 2, 4, 8};
    const int thread_count = threads[random.Below(4)];
    const bool keeps = random.Below(2) == 0, prepares = random.Below(2) == 0;
    const std::string where = "seed " + std::to_string(seed) + ", items from " +
                              std::to_string(done) + ", threads " + std::to_string(thread_count) +
                              (keeps ? ", with a store" : ", without a store") +
                              (prepares ? ", with prepared plans" : "");
    const auto answers = PlanOn(request, thread_count, keeps ? &store : nullptr,
                                prepares ? &prepared : nullptr, random.Below(1000));
    ASSERT_EQ(answers.size(), static_cast<size_t>(request.items_size())) << where;
    for (int i = 0; i < request.items_size(); ++i) {
      const v1::PlanItem& item = request.items(i);
      const v1::PlanItemAnswer& answer = answers[static_cast<size_t>(i)];
      const std::string which = where + ", item " + std::to_string(i) + ":\n" + item.DebugString();
      if (ItemIsWrong(item)) {
        ++failed;
        ASSERT_TRUE(answer.has_status()) << which;
        ASSERT_EQ(answer.status().code(), 3) << which;
        continue;
      }
      const v1::PlanItemAnswer alone = Alone(item, request.shared());
      if (alone.has_status()) {
        ++failed;
        ASSERT_EQ(answer.status().code(), alone.status().code()) << which;
        continue;
      }
      // Some answers do not fit into messages of the size asked for.
      constexpr size_t kMostAround = 64;
      const size_t most = request.max_chunk_bytes() == 0 ? 4'000'000 : request.max_chunk_bytes();
      if (answer.has_status() && alone.ByteSizeLong() + kMostAround > most) {
        ++too_large;
        ASSERT_EQ(answer.status().code(), 8) << which;
        continue;
      }
      ASSERT_FALSE(answer.has_status()) << which << answer.DebugString();
      ASSERT_EQ(Comparable(answer), alone.SerializeAsString()) << which;
      const v1::CacheOutcome cache = answer.corridor().answer().cache();
      coalesced += cache == v1::CACHE_OUTCOME_COALESCED;
      hits += cache == v1::CACHE_OUTCOME_HIT;
      misses += cache == v1::CACHE_OUTCOME_MISS;
      bypassed += cache == v1::CACHE_OUTCOME_BYPASS;
      floats += answer.corridor().route().samples().has_floats();
    }
  }
  std::printf(
      "%d items: %d failed, %d too large; corridors: %d coalesced, %d hits, %d misses, %d "
      "bypassed, "
      "%d prepared, %d with floats; %zu answers kept\n",
      steps, failed, too_large, coalesced, hits, misses, bypassed, prepared.corridor_hits(), floats,
      store.size());
  EXPECT_GT(failed, steps / 100);
  EXPECT_GT(coalesced, 0);
  EXPECT_GT(hits, 0);
  EXPECT_GT(misses, 0);
  EXPECT_GT(bypassed, 0);
  EXPECT_GT(prepared.corridor_hits(), 0);
  EXPECT_GT(floats, 0);
}

}  // namespace
}  // namespace arclane
