// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/drive_time.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "server/planning/speed/speed_plan.h"
#include "tests/unit/planning/rounding/path_judge.h"

namespace arclane::testing {
namespace {

TEST(DriveTimeTest, OneLineFromRestToRest) {
  DriveTime time(3.0, 4.0, 0.0, 0.0);
  // Long enough to reach 6: 6 m up, 4.5 m down, 89.5 m at 6.
  time.Reset(std::vector<DrivePiece>{{100.0, 6.0, 0.0}});
  EXPECT_NEAR(time.current().time_s, 2.0 + 1.5 + 89.5 / 6.0, 1e-12);
}

TEST(DriveTimeTest, RestAddsItsTime) {
  DriveTime time(1.0, 1.0, 0.0, 0.0);
  time.Reset(std::vector<DrivePiece>{{1.0, 100.0, 0.0}, {0.0, 0.0, 0.7}, {1.0, 100.0, 0.0}});
  EXPECT_NEAR(time.current().time_s, 2 * 2.0 + 0.7, 1e-12);
}

TEST(DriveTimeTest, StartSpeedThatCannotStopIsReported) {
  // v0 = 4 with 2 to go and braking 2: rest needs 4, so x may be at most 8.
  DriveTime time(2.0, 2.0, 4.0, 0.0);
  time.Reset(std::vector<DrivePiece>{{2.0, 10.0, 0.0}});
  EXPECT_NEAR(time.current().start_excess, 16.0 - 8.0, 1e-12);
}

// Replacing a few pieces gives what a fresh evaluation of the whole gives, whatever was tried and
// refused before.
TEST(DriveTimeTest, ReplacementsEqualFreshEvaluations) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    const auto piece = [&]() -> DrivePiece {
      if (random() % 6 == 0) return {0.0, 0.0, unit(random)};
      return {2 * unit(random) * unit(random), 0.2 + 3 * unit(random), 0.0};
    };
    const double start = 0.5 * unit(random);
    const double goal = 0.5 * unit(random);
    DriveTime kept(1.0, 1.5, start, goal);
    std::vector<DrivePiece> pieces;
    for (int i = 0; i < 9; ++i) pieces.push_back(piece());
    kept.Reset(pieces);
    for (int step = 0; step < 60; ++step) {
      const size_t first = random() % pieces.size();
      const size_t last = std::min(pieces.size(), first + random() % 4);
      std::vector<DrivePiece> added;
      for (size_t i = random() % 4 + (first == last ? 1 : 0); i > 0; --i) added.push_back(piece());
      std::vector<DrivePiece> changed(pieces.begin(), pieces.begin() + first);
      changed.insert(changed.end(), added.begin(), added.end());
      changed.insert(changed.end(), pieces.begin() + last, pieces.end());
      if (changed.empty()) continue;
      const DriveTime::Result tried = kept.Try(first, last, added);
      DriveTime fresh(1.0, 1.5, start, goal);
      fresh.Reset(changed);
      EXPECT_NEAR(tried.time_s, fresh.current().time_s, 1e-12 * (1.0 + tried.time_s));
      EXPECT_NEAR(tried.start_excess, fresh.current().start_excess, 1e-12);
      EXPECT_NEAR(tried.goal_excess, fresh.current().goal_excess, 1e-12);
      if (random() % 2 == 0) {
        kept.Accept();
        pieces = changed;
      }
    }
  }
}

// The exact planner's time on pieces without stops, and its sum over the stretches between stops.
TEST(DriveTimeTest, AgreesWithTheExactPlanner) {
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    SpeedLimits limits;
    limits.max_speed = 0.5 + 6 * unit(random);
    limits.max_acceleration = 0.2 + 4 * unit(random);
    limits.max_braking = 0.2 + 4 * unit(random);
    limits.max_lateral_acceleration = 0.2 + 4 * unit(random);
    std::vector<SpeedPiece> exact;
    std::vector<DrivePiece> pieces;
    for (size_t i = 1 + random() % 12; i > 0; --i) {
      const double length = std::pow(10.0, -4 + 5.5 * unit(random));
      const double radius = random() % 2 == 0 ? kStraight : 0.05 + 5 * unit(random);
      const double cap =
          radius == kStraight
              ? limits.max_speed
              : std::min(limits.max_speed, std::sqrt(*limits.max_lateral_acceleration * radius));
      exact.push_back({length, radius});
      pieces.push_back({length, cap, 0.0});
    }
    DriveTime time(limits.max_acceleration, limits.max_braking, 0.0, 0.0);
    time.Reset(pieces);
    SpeedWorkspace workspace;
    const double expected = TravelTime(exact, limits, 0.0, 0.0, workspace);
    EXPECT_NEAR(time.current().time_s, expected, 1e-11 * expected);
  }
}

}  // namespace
}  // namespace arclane::testing
