// SPDX-License-Identifier: Apache-2.0
// Wishes over time: the speed at a time is the one wished for at that time, unless a limit forces
// less.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/route/curve_speed.h"
#include "server/planning/spline/curve.h"

namespace arclane {
namespace {

double Linear(const std::vector<double>& at, const std::vector<double>& value, double place) {
  const size_t next = std::lower_bound(at.begin(), at.end(), place) - at.begin();
  if (next == 0) return value.front();
  if (next == at.size()) return value.back();
  const double part = (place - at[next - 1]) / (at[next] - at[next - 1]);
  return value[next - 1] + part * (value[next] - value[next - 1]);
}

ArcLengthMap MapOf(const std::vector<double>& x, const std::vector<double>& y) {
  CurveInput input;
  input.kind = x.size() == 4 ? CurveKind::kBezier : CurveKind::kCatmullRom;
  input.control.x = x;
  input.control.y = y;
  auto curve = Curve::Create(input);
  EXPECT_TRUE(curve.ok()) << curve.status();
  auto map = ArcLengthMap::Create(*std::move(curve), ArcLengthOptions());
  EXPECT_TRUE(map.ok()) << map.status();
  return *std::move(map);
}

ArcLengthMap Line(double length) {
  return MapOf({0.0, length / 3, 2 * length / 3, length}, {0.0, 0.0, 0.0, 0.0});
}

struct Case {
  std::vector<double> time, speed;
  CurveSpeedRequest request;
  CurveSpeed result;

  Case() {
    request.agent.limits.max_speed = 6.0;
    request.agent.limits.max_acceleration = 2.0;
    request.agent.limits.max_braking = 3.0;
    request.agent.limits.max_lateral_acceleration = 4.0;
  }

  const CurvatureSpeedPlan& Plan(const ArcLengthMap& map) {
    request.wish = {WishOver::kTime, time, speed};
    EXPECT_TRUE(RefineProfile(map, request, result).ok());
    CurvatureWorkspace workspace;
    PlanCurveSpeed(map, request, workspace, result);
    return result.plan;
  }
};

double SpeedAtTime(const CurvatureSpeedPlan& plan, double time_s) {
  for (const SpeedPhase& phase : plan.phases) {
    if (time_s > phase.start_time_s + phase.duration_s) continue;
    if (phase.kind == SpeedPhaseKind::kDwell) return 0.0;
    return SpeedAt(phase, DistanceAtTime(phase, time_s - phase.start_time_s));
  }
  return 0.0;
}

TEST(TimedWishTest, AfterAClipTheClockIsKept) {
  // The wish is at 4 at once; from rest the agent needs 2 s. From 5 s on the wish falls to 2.
  Case c;
  c.time = {0.0, 5.0, 6.0};
  c.speed = {4.0, 4.0, 2.0};
  c.request.end_speed = 2.0;
  const CurvatureSpeedPlan& plan = c.Plan(Line(30.0));
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  EXPECT_NEAR(SpeedAtTime(plan, 1.0), 2.0, 1e-9);
  EXPECT_NEAR(SpeedAtTime(plan, 5.0), 4.0, 1e-9);
  EXPECT_NEAR(SpeedAtTime(plan, 5.5), 3.0, 1e-9);
  EXPECT_NEAR(SpeedAtTime(plan, 7.0), 2.0, 1e-9);
  // 4 while accelerating, 12 at 4, 3 while slowing, 11 at 2.
  EXPECT_NEAR(plan.duration_s, 2.0 + 3.0 + 1.0 + 5.5, 1e-9);
  ASSERT_EQ(plan.clipped.size(), 1u);
  EXPECT_EQ(plan.clipped[0].start_distance, 0.0);
  EXPECT_NEAR(plan.clipped[0].end_distance, 4.0, 1e-9);
}

TEST(TimedWishTest, AWishThatFallsTooFastIsBrakedForBefore) {
  Case c;
  c.time = {0.0, 4.0, 4.001};
  c.speed = {4.0, 4.0, 1.0};
  c.request.start_speed = 4.0;
  c.request.end_speed = 1.0;
  const CurvatureSpeedPlan& plan = c.Plan(Line(30.0));
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  EXPECT_NEAR(SpeedAtTime(plan, 3.001), 4.0, 1e-6);
  EXPECT_NEAR(SpeedAtTime(plan, 4.001), 1.0, 1e-6);
  EXPECT_LE(SpeedAtTime(plan, 4.0005), Linear(c.time, c.speed, 4.0005) + 1e-8);
  ASSERT_EQ(plan.clipped.size(), 1u);
}

TEST(TimedWishTest, ARestBehindAClipEndsInTime) {
  // Late for the first rest by what the start takes, on time when it ends.
  Case c;
  c.time = {0.0, 4.0, 5.0, 8.0, 9.0};
  c.speed = {3.0, 3.0, 0.0, 0.0, 2.0};
  c.request.end_speed = 2.0;
  const CurvatureSpeedPlan& plan = c.Plan(Line(30.0));
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  EXPECT_NEAR(SpeedAtTime(plan, 4.5), 1.5, 1e-8);
  EXPECT_EQ(SpeedAtTime(plan, 5.5), 0.0);
  EXPECT_EQ(SpeedAtTime(plan, 7.9), 0.0);
  EXPECT_NEAR(SpeedAtTime(plan, 8.5), 1.0, 1e-8);
  EXPECT_NEAR(SpeedAtTime(plan, 9.5), 2.0, 1e-8);
}

TEST(TimedWishTest, ARestThatOnlyTheClockReachesTakesForEver) {
  // Laid out without its clip the wish would pass the end of the curve before it rests; held back
  // at the start the agent comes to rest before the end, and stays.
  Case c;
  c.time = {0.0, 5.0, 6.0};
  c.speed = {4.0, 4.0, 0.0};
  const CurvatureSpeedPlan& plan = c.Plan(Line(21.0));
  EXPECT_EQ(plan.status, SpeedPlanStatus::kInvalidArgument);
  ASSERT_FALSE(plan.violations.empty());
  EXPECT_TRUE(plan.violations[0].field.starts_with("speed_cap")) << plan.violations[0].field;
}

TEST(TimedWishTest, ARestAtTheVeryEndIsTheEnd) {
  // 0.1 * 3 and the like: the wish's own length differs from the curve's by rounding.
  for (const double factor : {0.1, 0.3, 0.7, 1.1, 1.3, 1.9}) {
    Case c;
    c.time = {0.0, 2.0, 3.0, 4.0 + factor};
    c.speed = {0.0, 2.0 * factor, 2.0 * factor, 0.0};
    const double length = 2.0 * factor + 2.0 * factor + factor * (1.0 + factor);
    const CurvatureSpeedPlan& plan = c.Plan(Line(length));
    ASSERT_EQ(plan.status, SpeedPlanStatus::kOk) << factor;
    EXPECT_NEAR(plan.duration_s, c.time.back(), 1e-6) << factor;
  }
}

// Two lines of 12 that meet at a right angle, where the agent turns for 2 s.
ArcLengthMap Corner() {
  CurveInput input;
  const std::vector<double> x = {0, 4, 8, 12, 12, 12, 12}, y = {0, 0, 0, 0, 4, 8, 12};
  input.control.x = x;
  input.control.y = y;
  auto curve = Curve::Create(input);
  EXPECT_TRUE(curve.ok()) << curve.status();
  auto map = ArcLengthMap::Create(*std::move(curve), ArcLengthOptions());
  EXPECT_TRUE(map.ok()) << map.status();
  return *std::move(map);
}

Case TurningCase() {
  Case c;
  c.request.start_speed = 2.0;
  c.request.agent.turn_before_move = true;
  c.request.agent.max_angular_speed = std::numbers::pi / 4;
  return c;
}

TEST(TimedWishTest, TheWishGoesOnWhileTheAgentTurnsAtACorner) {
  // At rest from 6 1/3 s to 8 1/3 s, while the wish begins to fall; met on the way up at 8 8/9 s.
  Case c = TurningCase();
  c.time = {0.0, 8.0, 9.0};
  c.speed = {2.0, 2.0, 1.0};
  c.request.end_speed = 1.0;
  const CurvatureSpeedPlan& plan = c.Plan(Corner());
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  EXPECT_NEAR(SpeedAtTime(plan, 5.0), 2.0, 1e-9);
  EXPECT_EQ(SpeedAtTime(plan, 7.0), 0.0);
  EXPECT_NEAR(SpeedAtTime(plan, 8.5), 1.0 / 3, 1e-8);
  EXPECT_NEAR(SpeedAtTime(plan, 8.95), 1.05, 1e-8);
  EXPECT_NEAR(SpeedAtTime(plan, 9.5), 1.0, 1e-8);
}

TEST(TimedWishTest, AWishThatRestsWhenTheTurnIsOverKeepsTheAgentAtTheCorner) {
  Case c = TurningCase();
  c.time = {0.0, 7.0, 7.7, 10.0, 11.0};
  c.speed = {2.0, 2.0, 0.0, 0.0, 2.0};
  c.request.end_speed = 2.0;
  const CurvatureSpeedPlan& plan = c.Plan(Corner());
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  EXPECT_EQ(SpeedAtTime(plan, 7.0), 0.0);
  EXPECT_EQ(SpeedAtTime(plan, 9.0), 0.0);
  EXPECT_NEAR(SpeedAtTime(plan, 10.5), 1.0, 1e-8);
  EXPECT_NEAR(plan.duration_s, 11.0 + (12.0 - 1.0) / 2.0, 1e-8);
}

TEST(TimedWishTest, ARestThatBeginsWithTheTurnTakesPlaceMeanwhile) {
  // Both begin at 6.5 s; the turn is over at 8.5 s.
  Case c = TurningCase();
  c.time = {0.0, 5.5, 6.5, 9.5, 10.5};
  c.speed = {2.0, 2.0, 0.0, 0.0, 2.0};
  c.request.end_speed = 2.0;
  const CurvatureSpeedPlan& longer = c.Plan(Corner());
  ASSERT_EQ(longer.status, SpeedPlanStatus::kOk);
  EXPECT_EQ(SpeedAtTime(longer, 9.0), 0.0);
  EXPECT_NEAR(SpeedAtTime(longer, 10.0), 1.0, 1e-8);
  EXPECT_NEAR(longer.duration_s, 10.5 + (12.0 - 1.0) / 2.0, 1e-8);

  c.time = {0.0, 5.5, 6.5, 7.0, 8.0};
  const CurvatureSpeedPlan& shorter = c.Plan(Corner());
  ASSERT_EQ(shorter.status, SpeedPlanStatus::kOk);
  EXPECT_EQ(SpeedAtTime(shorter, 8.0), 0.0);
  EXPECT_NEAR(SpeedAtTime(shorter, 9.0), 1.0, 1e-8);
  EXPECT_NEAR(shorter.duration_s, 9.5 + (12.0 - 1.0) / 2.0, 1e-8);
}

// Every phase below the wish is at a limit, and no speed is above the wish of its time.
TEST(TimedWishTest, RandomWishesAreKeptUnlessALimitForbids) {
  const uint64_t seed = 20261201;
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  int planned = 0, clipped = 0, joined = 0;
  for (int run = 0; run < 400; ++run) {
    SCOPED_TRACE("seed " + std::to_string(seed) + " run " + std::to_string(run));
    std::vector<double> x, y;
    for (int i = 0; i < 6; ++i) {
      x.push_back(8.0 * i + uniform(-2.0, 2.0));
      y.push_back(uniform(-6.0, 6.0));
    }
    const ArcLengthMap map = MapOf(x, y);
    Case c;
    c.time = {0.0};
    c.speed = {uniform(0.5, 5.0)};
    const int knots = 2 + static_cast<int>(random() % 8);
    for (int k = 0; k < knots; ++k) {
      c.time.push_back(c.time.back() + uniform(0.2, 5.0));
      c.speed.push_back(random() % 3 == 0 ? c.speed.back() : uniform(0.5, 7.0));
    }
    if (random() % 4 == 0) {  // A rest on the way.
      c.time.push_back(c.time.back() + 2.0);
      c.speed.push_back(0.0);
      c.time.push_back(c.time.back() + 1.5);
      c.speed.push_back(0.0);
      c.time.push_back(c.time.back() + 1.0);
      c.speed.push_back(2.0);
    }
    const CurvatureSpeedPlan& plan = c.Plan(map);
    ASSERT_EQ(plan.status, SpeedPlanStatus::kOk)
        << (plan.violations.empty() ? "" : plan.violations[0].field);
    ++planned;
    clipped += plan.clipped.size() > 1;
    const SpeedLimits& limits = c.request.agent.limits;
    for (const SpeedPhase& phase : plan.phases) {
      if (phase.kind == SpeedPhaseKind::kDwell) {
        const double middle = phase.start_time_s + 0.5 * phase.duration_s;
        EXPECT_NEAR(Linear(c.time, c.speed, middle), 0.0, 1e-7) << middle;
        continue;
      }
      if (phase.length < 1e-12) continue;  // Where two joints differ by rounding.
      const double d = 0.5 * phase.length;
      const double time = phase.start_time_s + TimeAt(phase, d);
      const double speed = SpeedAt(phase, d), wished = Linear(c.time, c.speed, time);
      EXPECT_LE(speed, wished + 1e-7) << time;
      if (speed >= wished - 1e-7) {
        joined += phase.start_distance > 0.0;
        continue;
      }
      const double place = phase.start_distance + d;
      const double curvature = std::abs(Linear(c.result.distance, c.result.curvature, place));
      const double lateral = speed * speed * curvature / *limits.max_lateral_acceleration;
      const double acceleration = AccelerationAt(phase, d);
      const bool at_limit = acceleration > limits.max_acceleration * (1.0 - 1e-6) ||
                            acceleration < -limits.max_braking * (1.0 - 1e-6) ||
                            lateral > 1.0 - 1e-5 || speed > limits.max_speed * (1.0 - 1e-9);
      EXPECT_TRUE(at_limit) << "at " << place << ", " << time << " s: " << speed << " of " << wished
                            << ", acceleration " << acceleration << ", lateral " << lateral
                            << ", for " << phase.length;
    }
  }
  EXPECT_EQ(planned, 400);
  EXPECT_GT(clipped, 200);
  EXPECT_GT(joined, 1000);
}

}  // namespace
}  // namespace arclane
