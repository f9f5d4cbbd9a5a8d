// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/arrival_schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace arclane {
namespace {

std::vector<int64_t> FirstTimes(ArrivalSchedule schedule, int count) {
  std::vector<int64_t> times;
  for (int i = 0; i < count; ++i) {
    times.push_back(schedule.due_ns());
    schedule.Advance();
  }
  return times;
}

TEST(ArrivalScheduleTest, UniformTimesDoNotDrift) {
  const double rate = 3.0;  // A gap that is no whole number of nanoseconds.
  ArrivalSchedule schedule(rate, Arrivals::kUniform, 0.5, 1);
  for (int i = 0; i < 3'000'000; ++i) schedule.Advance();
  // 3,000,000 calls at 3 a second and half a gap: 1,000,000 s + 1/6 s.
  EXPECT_NEAR(static_cast<double>(schedule.due_ns()), 1e15 + 1e9 / 6, 1.0);
}

TEST(ArrivalScheduleTest, PhasesOfSeveralLanesInterleaveEvenly) {
  std::vector<int64_t> all;
  for (int lane = 0; lane < 4; ++lane) {
    for (const int64_t time :
         FirstTimes(ArrivalSchedule(250, Arrivals::kUniform, (lane + 0.5) / 4, 7), 10)) {
      all.push_back(time);
    }
  }
  std::sort(all.begin(), all.end());
  for (size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i] - all[i - 1], 1'000'000);
}

TEST(ArrivalScheduleTest, PoissonGapsAreExponential) {
  const int count = 100'000;
  const auto times = FirstTimes(ArrivalSchedule(1000, Arrivals::kPoisson, 0, 42), count);
  double sum = 0.0, sum_squares = 0.0;
  int short_gaps = 0;
  int64_t last = 0;
  for (const int64_t time : times) {
    ASSERT_GE(time, last);
    const double gap = static_cast<double>(time - last);
    sum += gap;
    sum_squares += gap * gap;
    short_gaps += gap < 1e6 * std::log(2.0);
    last = time;
  }
  // Mean and deviation of the exponential law are both 1 ms, its median ln 2 ms; within five
  // standard errors of 100,000 draws.
  const double error = 5.0 / std::sqrt(count);
  EXPECT_NEAR(sum / count, 1e6, 1e6 * error);
  EXPECT_NEAR(std::sqrt(sum_squares / count), 1e6 * std::sqrt(2.0), 2e6 * error);
  EXPECT_NEAR(short_gaps / double(count), 0.5, 0.5 * error);
}

TEST(ArrivalScheduleTest, TheSameSeedGivesTheSameTimes) {
  EXPECT_EQ(FirstTimes(ArrivalSchedule(10, Arrivals::kPoisson, 0, 5), 100),
            FirstTimes(ArrivalSchedule(10, Arrivals::kPoisson, 0, 5), 100));
  EXPECT_NE(FirstTimes(ArrivalSchedule(10, Arrivals::kPoisson, 0, 5), 100),
            FirstTimes(ArrivalSchedule(10, Arrivals::kPoisson, 0, 6), 100));
}

}  // namespace
}  // namespace arclane
