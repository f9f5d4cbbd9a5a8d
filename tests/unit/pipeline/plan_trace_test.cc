// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_trace.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace arclane {
namespace {

TEST(TickClockTest, NeverRunsBackwards) {
  uint64_t last = TickClock::Now();
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t now = TickClock::Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(TickClockTest, CountsAsTheSystemsClockDoes) {
  const auto start = std::chrono::steady_clock::now();
  const uint64_t start_ticks = TickClock::Now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double ticked =
      static_cast<double>(TickClock::Now() - start_ticks) * TickClock::SecondsPerTick();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  // The clocks are read one after the other, and this thread may be held up between.
  EXPECT_LE(ticked, passed.count() * (1 + 1e-3));
  EXPECT_GE(ticked, 0.050 * (1 - 1e-3));
}

TEST(PlanTraceTest, StagesAreWhatLiesBetweenTheirEnds) {
  PlanTrace trace;
  std::this_thread::sleep_for(std::chrono::milliseconds(4));
  trace.End(Stage::kQueue);
  trace.End(Stage::kValidate);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  trace.End(Stage::kEncode);
  trace.End(Stage::kSample);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  trace.End(Stage::kEncode);
  EXPECT_GE(trace.Seconds(Stage::kQueue), 0.004 * (1 - 1e-3));
  EXPECT_GE(trace.Seconds(Stage::kEncode), 0.004 * (1 - 1e-3)) << "ended twice: the sum";
  EXPECT_TRUE(trace.Ended(Stage::kValidate));
  EXPECT_FALSE(trace.Ended(Stage::kSpeed));
  EXPECT_EQ(trace.Seconds(Stage::kSpeed), 0.0);
}

TEST(PlanTraceTest, RestartLeavesOutWhatWasBefore) {
  PlanTrace whole, restarted;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  restarted.Restart();
  restarted.End(Stage::kValidate);
  whole.End(Stage::kValidate);
  EXPECT_GE(whole.Seconds(Stage::kValidate),
            restarted.Seconds(Stage::kValidate) + 0.020 * (1 - 1e-3));
}

TEST(PlanTraceTest, CountsCornersByWhatBecameOfThem) {
  RouteCorner rounded, no_room, link;
  rounded.action = CornerAction::kRounded;
  no_room.action = link.action = CornerAction::kStop;
  no_room.cause = CornerCause::kNoRoom;
  link.cause = CornerCause::kLink;
  const RouteCorner corners[] = {rounded, no_room, link, no_room};
  PlanTrace trace;
  trace.CountCorners(corners);
  EXPECT_EQ(trace.corners[static_cast<size_t>(CornerAction::kStop)], 3u);
  EXPECT_EQ(trace.corners[static_cast<size_t>(CornerAction::kRounded)], 1u);
  EXPECT_EQ(trace.corner_stops[static_cast<size_t>(CornerCause::kNoRoom)], 2u);
  EXPECT_EQ(trace.corner_stops[static_cast<size_t>(CornerCause::kLink)], 1u);
  EXPECT_EQ(trace.corner_stops[static_cast<size_t>(CornerCause::kNone)], 0u);
}

}  // namespace
}  // namespace arclane
