// SPDX-License-Identifier: Apache-2.0
#include "server/cache/flight.h"

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "server/cache/route_cache.h"

namespace arclane {
namespace {

using Kind = FlightOutcome::Kind;
constexpr double kNoDeadline = 1e300;

std::shared_ptr<const CacheValue> AnyAnswer() { return std::make_shared<EncodedAnswer>("answer"); }
std::shared_ptr<const void> Failure() { return std::make_shared<int>(7); }

struct Client {
  std::vector<Kind> told;
  FlightTable::Ticket ticket;
  void Join(FlightTable& table, double deadline_s = kNoDeadline) {
    ticket = table.Join(MakeCacheKey("map", 1, "request"), 1, deadline_s,
                        [this](const FlightOutcome& outcome) { told.push_back(outcome.kind); });
  }
};

class FlightTest : public ::testing::Test {
 protected:
  FlightTable table_;
  Client a_, b_, c_;
};

TEST_F(FlightTest, TellsEveryWaiter) {
  a_.Join(table_);
  b_.Join(table_);
  EXPECT_TRUE(a_.ticket.leads);
  EXPECT_FALSE(b_.ticket.leads);
  a_.ticket.flight->Complete(AnyAnswer());
  for (Client* client : {&a_, &b_}) EXPECT_EQ(client->told, std::vector{Kind::kValue});
  EXPECT_EQ(table_.size(), 0u);
  c_.Join(table_);
  EXPECT_TRUE(c_.ticket.leads);
}

TEST_F(FlightTest, GoesOnWithoutItsLeader) {
  a_.Join(table_, 10);
  b_.Join(table_, 20);
  EXPECT_TRUE(a_.ticket.flight->Leave(a_.ticket.waiter));
  EXPECT_FALSE(a_.ticket.flight->ShouldStop(15));
  a_.ticket.flight->Complete(AnyAnswer());
  EXPECT_TRUE(a_.told.empty());
  EXPECT_EQ(b_.told, std::vector{Kind::kValue});
  EXPECT_FALSE(b_.ticket.flight->Leave(b_.ticket.waiter));
}

TEST_F(FlightTest, RunsUntilTheLatestDeadline) {
  a_.Join(table_, 10);
  b_.Join(table_, 5);
  c_.Join(table_, 20);
  EXPECT_FALSE(a_.ticket.flight->ShouldStop(19));
  EXPECT_TRUE(a_.ticket.flight->ShouldStop(20));
  EXPECT_TRUE(c_.ticket.flight->Leave(c_.ticket.waiter));
  EXPECT_TRUE(a_.ticket.flight->ShouldStop(10));
}

TEST_F(FlightTest, StopsWhenNobodyWaitsAndStartsAfreshForThoseWhoCome) {
  a_.Join(table_);
  b_.Join(table_);
  a_.ticket.flight->Leave(a_.ticket.waiter);
  b_.ticket.flight->Leave(b_.ticket.waiter);
  EXPECT_TRUE(a_.ticket.flight->ShouldStop(0));
  c_.Join(table_);
  EXPECT_TRUE(c_.ticket.leads);
  EXPECT_NE(c_.ticket.flight, a_.ticket.flight);
  a_.ticket.flight->Fail(Failure());
  EXPECT_TRUE(c_.told.empty());
}

TEST_F(FlightTest, HandsTheLeadOnWhenTheLeaderIsRefused) {
  a_.Join(table_);
  b_.Join(table_);
  c_.Join(table_);
  a_.ticket.flight->HandOn(a_.ticket.waiter, Failure());
  EXPECT_EQ(a_.told, std::vector{Kind::kFailure});
  EXPECT_EQ(b_.told, std::vector{Kind::kLead});
  EXPECT_TRUE(c_.told.empty());
  b_.ticket.flight->Complete(AnyAnswer());
  EXPECT_EQ(b_.told, (std::vector{Kind::kLead, Kind::kValue}));
  EXPECT_EQ(c_.told, std::vector{Kind::kValue});
}

TEST_F(FlightTest, FailsOnlyThoseWhoseDeadlineHasPassed) {
  a_.Join(table_, 10);
  b_.Join(table_, 30);
  a_.ticket.flight->Expire(10, Failure());
  EXPECT_EQ(a_.told, std::vector{Kind::kFailure});
  EXPECT_EQ(b_.told, std::vector{Kind::kLead});
  a_.ticket.flight->Expire(30, Failure());
  EXPECT_EQ(b_.told, (std::vector{Kind::kLead, Kind::kFailure}));
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(FlightTest, KeepsCollidingRequestsApart) {
  a_.Join(table_);
  CacheKey other = MakeCacheKey("map", 1, "other");
  other.fingerprint = MakeCacheKey("map", 1, "request").fingerprint;
  EXPECT_TRUE(table_.Join(other, 1, kNoDeadline, [](const FlightOutcome&) {}).leads);
}

// 64 threads ask for the same at once while the planner is held: one plan. The leader is cancelled,
// one waiter gives up early.
TEST(FlightThreadTest, MakesOnePlanForSixtyFourRequests) {
  constexpr int kRequests = 64;
  class NoStamps : public StampSource {
   public:
    uint64_t Stamp(DependencyKind, uint64_t) const override { return 1; }
    uint64_t state_id() const override { return 1; }
  } stamps;
  for (int round = 0; round < 20; ++round) {
    RouteCache cache({.capacity_bytes = 1 << 20, .shard_count = 2});
    const CacheKey key = MakeCacheKey("map", 1, "request");
    std::atomic<int> plans{0}, answered{0}, left{0};
    std::latch joined(kRequests), cancelled(kRequests);
    std::thread planner;  // Started by the one leader.
    std::vector<std::thread> threads;
    for (int i = 0; i < kRequests; ++i) {
      threads.emplace_back([&, i] {
        auto begun = cache.Begin(key, stamps, kNoDeadline, [&](const FlightOutcome& outcome) {
          EXPECT_EQ(outcome.kind, Kind::kValue);
          ++answered;
        });
        ASSERT_EQ(begun.value, nullptr);
        if (begun.ticket.leads && plans++ == 0) {
          planner = std::thread([&, flight = begun.ticket.flight] {
            cancelled.wait();
            EXPECT_FALSE(flight->ShouldStop(0));
            cache.Finish(*flight, {}, AnyAnswer());
          });
        }
        joined.arrive_and_wait();
        if ((begun.ticket.leads || i % 16 == 1) && begun.ticket.flight->Leave(begun.ticket.waiter))
          ++left;
        cancelled.count_down();
      });
    }
    for (std::thread& thread : threads) thread.join();
    planner.join();
    EXPECT_EQ(plans, 1);
    EXPECT_GE(left, 4);
    EXPECT_EQ(answered + left, kRequests);
    EXPECT_EQ(cache.plans_in_progress(), 0u);
    EXPECT_EQ(cache.counters().coalesced, kRequests - 1u);
  }
}

}  // namespace
}  // namespace arclane
