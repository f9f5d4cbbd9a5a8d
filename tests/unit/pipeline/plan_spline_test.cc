// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_spline.h"

#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>

#include "gmock/gmock.h"
#include "server/pipeline/plan_speed.h"
#include "tests/unit/pipeline/message_text.h"

namespace arclane {
namespace {

using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using testing::FromText;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kCurveAgent[] =
    "agent { limits { max_speed: 6 max_acceleration: 2 max_braking: 2 max_lateral_acceleration: 3 "
    "} } ";
constexpr char kWave[] =
    "spline { bezier {} control { x: 0 x: 4 x: 4 x: 8 x: 12 x: 12 x: 16 y: 0 y: 0 y: 4 y: 4 y: 4 "
    "y: 0 y: 0 } } ";
// A straight line of 9 along the first axis.
constexpr char kLine[] =
    "spline { bezier {} control { x: 0 x: 3 x: 6 x: 9 y: 0 y: 0 y: 0 y: 0 } } ";
// Two lines of 3 that meet at a right angle, to the left.
constexpr char kKink[] =
    "spline { bezier {} control { x: 0 x: 1 x: 2 x: 3 x: 3 x: 3 x: 3 y: 0 y: 0 y: 0 y: 0 y: 1 y: 2 "
    "y: 3 } } ";
constexpr char kLoop[] =
    "spline { catmull_rom {} closed: true control { x: 0 x: 9 x: 8 x: 1 y: 0 y: 1 y: 7 y: 6 } } ";

v1::CurvePlan PlannedCurve(const std::string& text) {
  return testing::Succeed<v1::PlanSplineResponse>(AnswerPlanSpline,
                                                  FromText<v1::PlanSplineRequest>(text))
      .plan();
}

std::vector<std::string> CurveFaults(const std::string& text) {
  return testing::FailingFields<v1::PlanSplineResponse>(AnswerPlanSpline,
                                                        FromText<v1::PlanSplineRequest>(text));
}

// Three control points within 6e-9 of one another make curvature of 1e13 and more.
TEST(PlanSplinePipelineTest, CoincidentControlPointsGiveAFewPhasesOrNameTheLimit) {
  const auto request = FromText<v1::PlanSplineRequest>(
      "spline { b_spline { degree: 2 } control { x: 100000.78376020666 x: 100000.78376021242 x: "
      "100000.7837602077 x: 100000.14616145878 x: 100001.35539855555 x: 100001.66902040999 y: "
      "100000.92283335768 y: 100000.9228333554 y: 100000.92283335634 y: 99998.41178540738 y: "
      "100003.70179789682 y: 100000.56319569885 } } sampling { count: 3001 } agent { limits { "
      "max_speed: 0.236 max_acceleration: 23.8 max_braking: 10.3 max_lateral_acceleration: 0.2377 "
      "max_total_acceleration: 5.967 } }");
  const RequestLimits limits;
  v1::PlanSplineResponse response;
  const auto failure = AnswerPlanSpline(
      request, limits, [] { return std::optional<FailureReason>(); }, response);
  if (failure) {
    EXPECT_EQ(failure->reason, FailureReason::kTooLarge);
  } else {
    EXPECT_LT(response.plan().speed().phases().kind_size(), 20'000);
  }
}

TEST(PlanSplinePipelineTest, SpeedEqualsPlanSpeedOnTheCurvesOwnProfile) {
  for (const char* curve : {kWave, kLoop}) {
    for (const char* budget : {"", "max_total_acceleration: 3.5"}) {
      SCOPED_TRACE(std::string(curve) + budget);
      const std::string limits = std::string(
                                     "limits { max_speed: 6 max_acceleration: 2 max_braking: 2 "
                                     "max_lateral_acceleration: 3 ") +
                                 budget + "} ";
      const v1::CurvePlan plan =
          PlannedCurve("agent { " + limits + "} start_speed: 1 end_speed: 0.5 " + curve);
      auto request = FromText<v1::PlanSpeedRequest>(limits + "start_speed: 1 end_speed: 0.5");
      *request.mutable_profile()->mutable_distance() = plan.profile_distance();
      *request.mutable_profile()->mutable_curvature() = plan.profile_curvature();
      const v1::SpeedPlan speed =
          testing::Succeed<v1::PlanSpeedResponse>(AnswerPlanSpeed, request).plan();
      ASSERT_EQ(plan.speed().outcome(), v1::SPEED_OUTCOME_OK);
      EXPECT_NEAR(plan.speed().duration_s(), speed.duration_s(), 1e-6 * speed.duration_s());
      ASSERT_EQ(plan.speed().boundary_speed_size(), speed.boundary_speed_size());
      for (int i = 0; i < speed.boundary_speed_size(); ++i) {
        EXPECT_NEAR(plan.speed().boundary_speed(i), speed.boundary_speed(i),
                    1e-6 * speed.boundary_speed(i))
            << i;
      }
    }
  }
}

TEST(PlanSplinePipelineTest, AFlyingLapEndsAsItBeginsAndIsFaster) {
  const v1::CurvePlan standing = PlannedCurve(std::string(kCurveAgent) + kLoop);
  const v1::CurvePlan flying = PlannedCurve(std::string(kCurveAgent) + kLoop + "flying_lap: true");
  const auto& speed = flying.speed().boundary_speed();
  EXPECT_GT(speed.Get(0), 0.0);
  EXPECT_NEAR(speed.Get(0), speed.Get(speed.size() - 1), 1e-12 * speed.Get(0));
  EXPECT_LT(flying.speed().duration_s(), standing.speed().duration_s());
  EXPECT_THAT(CurveFaults(std::string(kCurveAgent) + kWave + "flying_lap: true"),
              Contains("flying_lap"));
}

TEST(PlanSplinePipelineTest, AFlyingLapsWishMustBeTheSameAtBothEnds) {
  const std::string lap = std::string(kCurveAgent) + kLoop + "flying_lap: true ";
  EXPECT_EQ(
      PlannedCurve(lap + "speed_wish { distance { distance: 0 } speed: 1 }").speed().outcome(),
      v1::SPEED_OUTCOME_OK);
  EXPECT_THAT(
      CurveFaults(lap + "speed_wish { distance { distance: 0 distance: 9 } speed: 1 speed: 2 }"),
      Contains("speed_wish.speed"));
}

TEST(PlanSplinePipelineTest, AWishOverDistanceIsFollowedWhereTheLimitsAllow) {
  // At 2 all along: reached after 1, left 1 before the end, 1 s + 3.5 s + 1 s.
  const v1::SpeedPlan plan =
      PlannedCurve(std::string(kCurveAgent) + kLine +
                   "speed_wish { distance { distance: 0 distance: 9 } speed: 2 speed: 2 }")
          .speed();
  EXPECT_NEAR(plan.duration_s(), 5.5, 1e-12);
  EXPECT_THAT(plan.clipped().start_distance(),
              ElementsAre(DoubleNear(0.0, 1e-12), DoubleNear(8.0, 1e-12)));
  EXPECT_THAT(plan.clipped().end_distance(),
              ElementsAre(DoubleNear(1.0, 1e-12), DoubleNear(9.0, 1e-12)));
  const v1::SpeedPlan rolling =
      PlannedCurve(std::string(kCurveAgent) + kLine +
                   "speed_wish { distance { distance: 4 } speed: 2 } start_speed: 2 end_speed: 2")
          .speed();
  EXPECT_NEAR(rolling.duration_s(), 4.5, 1e-12);
  EXPECT_THAT(rolling.clipped().start_distance(), IsEmpty());
}

TEST(PlanSplinePipelineTest, AWishOverTimeIsFollowedWhereTheLimitsAllow) {
  // From rest to 4 in 2 s, which covers 4; at 4 until braking over the last 4: 2 s + 0.25 s + 2 s.
  const v1::SpeedPlan plan =
      PlannedCurve(std::string(kCurveAgent) + kLine +
                   "speed_wish { time { time_s: 0 time_s: 2 } speed: 0 speed: 4 }")
          .speed();
  EXPECT_NEAR(plan.duration_s(), 4.25, 1e-12);
  EXPECT_THAT(plan.clipped().start_distance(), ElementsAre(DoubleNear(5.0, 1e-12)));
  EXPECT_THAT(plan.clipped().end_distance(), ElementsAre(DoubleNear(9.0, 1e-12)));
}

TEST(PlanSplinePipelineTest, AWishThatPausesWaits) {
  // To 2 in 1 s (1 far), to rest in 1 s (2 far), 3 s of waiting, to 2 in 1 s (3 far); braking takes
  // the last 1 of 9.
  const v1::SpeedPlan plan =
      PlannedCurve(std::string(kCurveAgent) + kLine +
                   "speed_wish { time { time_s: 0 time_s: 1 time_s: 2 time_s: 5 "
                   "time_s: 6 } speed: 0 speed: 2 speed: 0 speed: 0 speed: 2 }")
          .speed();
  EXPECT_NEAR(plan.duration_s(), 6.0 + 5.0 / 2.0 + 1.0, 1e-12);
}

TEST(PlanSplinePipelineTest, ACornerIsAStopOrARefusal) {
  const v1::CurvePlan plan = PlannedCurve(std::string(kCurveAgent) + kKink);
  EXPECT_THAT(plan.stops().distance(), ElementsAre(DoubleNear(3.0, 1e-12)));
  EXPECT_THAT(plan.stops().turn_angle_rad(), ElementsAre(DoubleNear(std::numbers::pi / 2, 1e-12)));
  // 3 from rest to rest, twice: 2 sqrt(3 / 2) s each.
  EXPECT_NEAR(plan.speed().duration_s(), 4.0 * std::sqrt(1.5), 1e-9);
  EXPECT_THAT(
      CurveFaults(std::string(kCurveAgent) + kKink + "corner_policy: CURVE_CORNER_POLICY_REFUSE"),
      Contains("spline"));
  EXPECT_THAT(
      CurveFaults("agent { limits { max_speed: 6 max_acceleration: 2 max_braking: 2 } body { "
                  "can_turn_in_place: false } } " +
                  std::string(kKink)),
      Contains("spline"));
  EXPECT_EQ(
      PlannedCurve(std::string(kCurveAgent) + kWave + "corner_policy: CURVE_CORNER_POLICY_REFUSE")
          .stops()
          .distance_size(),
      0);
}

TEST(PlanSplinePipelineTest, StepsInTimeAreSampledAtTheirTimes) {
  const v1::CurvePlan plan =
      PlannedCurve(std::string(kCurveAgent) + kLine + "sampling { time_step_s: 0.5 }");
  // v = 2 t for 9 / 2: peak 3 sqrt(2) after 1.5 sqrt(2) s.
  const double duration = 3.0 * std::numbers::sqrt2;
  ASSERT_NEAR(plan.speed().duration_s(), duration, 1e-12);
  const auto& samples = plan.samples();
  ASSERT_EQ(samples.time_s_size(), 10);
  for (int i = 0; i < samples.time_s_size(); ++i) {
    const double t = i + 1 < samples.time_s_size() ? 0.5 * i : duration;
    const double left = duration - t;
    EXPECT_NEAR(samples.time_s(i), t, 1e-12);
    EXPECT_NEAR(samples.distance(i), t < duration / 2 ? t * t : 9.0 - left * left, 1e-12);
    EXPECT_NEAR(samples.speed(i), t < duration / 2 ? 2.0 * t : 2.0 * left, 1e-11);
    EXPECT_NEAR(samples.position().x(i), samples.distance(i), 1e-8);
  }
  EXPECT_THAT(CurveFaults(std::string(kLine) + "sampling { time_step_s: 0.5 }"),
              Contains("sampling.time_step_s"));
}

TEST(PlanSplinePipelineTest, ACurveWithoutLengthIsOnePointAtRest) {
  for (const char* rule : {"count: 5", "spacing: 1", "time_step_s: 0.1"}) {
    SCOPED_TRACE(rule);
    const v1::CurvePlan plan = PlannedCurve(
        std::string(kCurveAgent) +
        "spline { bezier {} control { x: 1 x: 1 x: 1 x: 1 y: 2 y: 2 y: 2 y: 2 } } sampling { " +
        rule + " }");
    EXPECT_EQ(plan.length(), 0.0);
    EXPECT_EQ(plan.speed().outcome(), v1::SPEED_OUTCOME_OK);
    EXPECT_EQ(plan.speed().duration_s(), 0.0);
    EXPECT_THAT(plan.samples().position().x(), ElementsAre(1.0));
    EXPECT_THAT(plan.samples().position().y(), ElementsAre(2.0));
    EXPECT_THAT(plan.samples().tangent().x(), IsEmpty());
  }
}

TEST(PlanSplinePipelineTest, YUpPlanarCurvesTurnFromXTowardsZ) {
  const v1::CurvePlan plan = PlannedCurve(
      "frame { up_axis: UP_AXIS_Y } spline { catmull_rom {} closed: true control { x: 4 x: 0 x: -4 "
      "x: 0 z: 0 z: 4 z: 0 z: -4 } }"
      "sampling { distances { distance: 0 } }");
  const v1::CurvePlan z_up = PlannedCurve(
      "spline { catmull_rom {} closed: true control { x: 4 x: 0 x: -4 x: 0 y: 0 y: 4 y: 0 y: -4 } }"
      "sampling { distances { distance: 0 } }");
  EXPECT_EQ(plan.length(), z_up.length());
  EXPECT_THAT(plan.samples().position().x(), ElementsAre(4.0));
  EXPECT_THAT(plan.samples().position().z(), ElementsAre(0.0));
  EXPECT_THAT(plan.samples().position().y(), IsEmpty());
  EXPECT_THAT(plan.samples().heading_rad(), ElementsAre(DoubleNear(std::numbers::pi / 2, 1e-12)));
  ASSERT_EQ(plan.samples().curvature_size(), 1);
  EXPECT_GT(plan.samples().curvature(0), 0.0);
  EXPECT_EQ(plan.samples().curvature(0), z_up.samples().curvature(0));
  EXPECT_THAT(
      CurveFaults("frame { up_axis: UP_AXIS_Y } spline { catmull_rom {} control { x: 0 x: 1 z: "
                  "0 z: nan } }"),
      Contains("spline.control.z[1]"));
}

TEST(PlanSplinePipelineTest, AStepInTimeEndsAtTheEnd) {
  for (const char* curve : {kWave, kLoop}) {
    for (const char* step : {"0.1", "0.25", "0.37", "100"}) {
      SCOPED_TRACE(std::string(curve) + step);
      const v1::CurvePlan plan =
          PlannedCurve(std::string(kCurveAgent) + curve + "sampling { time_step_s: " + step + " }");
      const auto& samples = plan.samples();
      const int last = samples.distance_size() - 1;
      ASSERT_GE(last, 1);
      EXPECT_EQ(samples.distance(0), 0.0);
      EXPECT_EQ(samples.distance(last), plan.length());
      EXPECT_EQ(samples.position().x(0), 0.0);
      EXPECT_EQ(samples.position().y(0), 0.0);
      EXPECT_EQ(samples.position().x(last), curve == kWave ? 16.0 : 0.0);
      EXPECT_EQ(samples.position().y(last), 0.0);
    }
  }
}

TEST(PlanSplinePipelineTest, ACountIncludesBothEndsOfALoop) {
  const v1::CurvePlan plan = PlannedCurve(std::string(kLoop) + "sampling { count: 5 }");
  ASSERT_EQ(plan.samples().distance_size(), 5);
  EXPECT_EQ(plan.samples().distance(4), plan.length());
  EXPECT_NEAR(plan.samples().distance(1), 0.25 * plan.length(), 1e-12 * plan.length());
  EXPECT_EQ(plan.samples().position().x(4), plan.samples().position().x(0));
  EXPECT_EQ(plan.samples().position().y(4), plan.samples().position().y(0));
}

TEST(PlanSplinePipelineTest, TangentsHaveTheAxesOfTheirPoints) {
  const std::string planar = "spline { hermite { tangents { x: 1 x: 1 y: 0 y: 0 ";
  const std::string points = "control { x: 0 x: 1 y: 0 y: 0 ";
  EXPECT_THAT(CurveFaults(planar + "z: 1 z: 2 } } " + points + "} }"),
              ElementsAre("spline.hermite.tangents.z"));
  EXPECT_THAT(CurveFaults(planar + "} } " + points + "z: 1 z: 2 } }"),
              ElementsAre("spline.hermite.tangents.z"));
  const std::string y_up = "frame { up_axis: UP_AXIS_Y } spline { hermite { tangents { ";
  EXPECT_THAT(
      CurveFaults(y_up + "x: 1 x: 1 z: 0 z: 0 y: 1 y: 2 } } control { x: 0 x: 1 z: 0 z: 0 } }"),
      ElementsAre("spline.hermite.tangents.y"));
  EXPECT_THAT(
      CurveFaults(y_up + "x: 1 x: 1 z: 0 z: 0 } } control { x: 0 x: 1 z: 0 z: 0 y: 1 y: 2 } }"),
      ElementsAre("spline.hermite.tangents.y"));
}

TEST(PlanSplinePipelineTest, ASmoothTightBendIsNotRefused) {
  // Of radius 4e-4 in a length of 200.
  const std::string bend =
      "corner_policy: CURVE_CORNER_POLICY_REFUSE spline { b_spline { degree: 2 } control { x: 0 "
      "x: 100 x: 0 y: -0.2 y: 0 y: 0.2 } } ";
  for (const char* bound : {"", "length_error_bound: 1e-3"}) {
    SCOPED_TRACE(bound);
    const v1::CurvePlan plan = PlannedCurve(std::string(kCurveAgent) + bend + bound);
    EXPECT_THAT(plan.stops().distance(), IsEmpty());
    // It takes about as long as a stop would: 50 from rest to rest at 6, and back.
    EXPECT_NEAR(plan.speed().duration_s(), 2.0 * (50.0 / 6.0 + 3.0), 0.2);
  }
}

TEST(PlanSplinePipelineTest, TheTrueLengthIsADistanceOfTheCurve) {
  const std::string sampled = "sampling { distances { distance: ";
  for (const char* bound : {"1e-3", "1e-6", "1e-9"}) {
    SCOPED_TRACE(bound);
    const std::string curve = std::string(kWave) + "length_error_bound: " + bound + " ";
    const v1::CurvePlan plan = PlannedCurve(curve);
    const double beyond = plan.length() + 0.99 * plan.length_error_bound();
    char text[32];
    std::snprintf(text, sizeof(text), "%.17g } }", beyond);
    const v1::CurvePlan at_end = PlannedCurve(curve + sampled + text);
    EXPECT_EQ(at_end.samples().distance(0), plan.length());
    EXPECT_EQ(at_end.samples().position().x(0), 16.0);
    std::snprintf(text, sizeof(text), "%.17g } }", plan.length() * (1.0 + 1e-3) + 1.0);
    EXPECT_THAT(CurveFaults(curve + sampled + text), ElementsAre("sampling.distances.distance[0]"));
  }
}

TEST(PlanSplinePipelineTest, ACurveBeyondALimitNamesIt) {
  RequestLimits limits;
  limits.max_control_points = 7;
  limits.max_curve_nodes = 10;
  const auto refusal = [&](const std::string& text) {
    v1::PlanSplineResponse response;
    const auto failure = AnswerPlanSpline(FromText<v1::PlanSplineRequest>(text), limits,
                                          testing::NeverStop, response);
    return failure ? failure->message : "";
  };
  EXPECT_EQ(refusal(std::string(kCurveAgent) + kLine), "");
  EXPECT_EQ(refusal(kWave), "");
  EXPECT_THAT(refusal(std::string(kCurveAgent) + kWave), HasSubstr("max_curve_nodes 10"));
  // Its pieces alone are too many.
  limits.max_curve_nodes = 2;
  EXPECT_THAT(refusal(std::string(kCurveAgent) + kWave), HasSubstr("max_curve_nodes 2"));
  limits.max_control_points = 6;
  EXPECT_THAT(refusal(kWave), HasSubstr("max_control_points 6"));
}

TEST(PlanSplinePipelineTest, SpeedsThatCannotBeHadAreOutcomes) {
  EXPECT_EQ(PlannedCurve(std::string(kCurveAgent) + kLine + "end_speed: 6.5").speed().outcome(),
            v1::SPEED_OUTCOME_INFEASIBLE_END);
  const v1::CurvePlan plan = PlannedCurve(
      "agent { limits { max_speed: 9 max_acceleration: 2 max_braking: 2 } } start_speed: 8 " +
      std::string(kLine));
  EXPECT_EQ(plan.speed().outcome(), v1::SPEED_OUTCOME_INFEASIBLE_START);
  EXPECT_NEAR(plan.speed().max_start_speed(), 6.0, 1e-12);
  EXPECT_NEAR(plan.speed().brake_now().overrun(), 16.0 - 9.0, 1e-12);
}

TEST(PlanSplinePipelineTest, WhatCannotBePlannedNamesTheRequestsOwnField) {
  // A wish to stand still takes for ever, whatever node of the profile it shows at.
  EXPECT_THAT(CurveFaults(std::string(kCurveAgent) + kWave +
                          "speed_wish { distance { distance: 0 distance: 9 } speed: 0 speed: 0 }"),
              ElementsAre("speed_wish.speed"));
  EXPECT_THAT(
      CurveFaults(std::string("agent { limits { max_speed: 1e-308 max_acceleration: 2 "
                              "max_braking: 2 max_angular_speed: 1e-101 } } start_speed: 1e308 ") +
                  kWave + "speed_wish { time { time_s: 0 time_s: 1e101 } speed: 1e101 speed: 1 }"),
      UnorderedElementsAre("agent.limits.max_speed", "agent.limits.max_angular_speed",
                           "start_speed", "speed_wish.speed[0]", "speed_wish.time.time_s[1]"));
  // So small that the rate at which its curvature changes is infinite, and driven at its limit.
  EXPECT_THAT(
      CurveFaults("agent { limits { max_speed: 6 max_acceleration: 200 max_braking: 200 "
                  "max_lateral_acceleration: 3 } } spline { bezier {} control { x: 0 x: 1e-160 "
                  "x: 1e-160 x: 2e-160 y: 0 y: 0 y: 1e-160 y: 1e-160 } }"),
      ElementsAre("spline"));
}

}  // namespace
}  // namespace arclane
