// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_speed.h"

#include <cmath>
#include <limits>
#include <optional>

#include "gmock/gmock.h"
#include "tests/unit/pipeline/message_text.h"

namespace arclane {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::FromText;
using ::testing::HasSubstr;

v1::SpeedPlan PlannedSpeed(const std::string& text) {
  return testing::Succeed<v1::PlanSpeedResponse>(AnswerPlanSpeed,
                                                 FromText<v1::PlanSpeedRequest>(text))
      .plan();
}

std::vector<std::string> SpeedFaults(const std::string& text) {
  return testing::FailingFields<v1::PlanSpeedResponse>(AnswerPlanSpeed,
                                                       FromText<v1::PlanSpeedRequest>(text));
}

constexpr char kLimits[] = "limits { max_speed: 6 max_acceleration: 2 max_braking: 2 } ";

TEST(PlanSpeedPipelineTest, RestToRestIsATriangle) {
  // 8 = 2 * v^2 / (2 * 2): v = 4, 2 s each way.
  const v1::SpeedPlan plan = PlannedSpeed(std::string(kLimits) + "pieces { length: 8 }");
  EXPECT_EQ(plan.outcome(), v1::SPEED_OUTCOME_OK);
  EXPECT_NEAR(plan.duration_s(), 4.0, 1e-14);
  EXPECT_THAT(plan.brake_start_distance(), ElementsAre(4.0));
  EXPECT_THAT(plan.phases().kind(), ElementsAre(v1::PHASE_KIND_ACCELERATE, v1::PHASE_KIND_BRAKE));
}

TEST(PlanSpeedPipelineTest, TooFastToStopSaysByHowMuch) {
  const v1::SpeedPlan plan =
      PlannedSpeed(std::string(kLimits) + "pieces { length: 2 } start_speed: 4");
  EXPECT_EQ(plan.outcome(), v1::SPEED_OUTCOME_INFEASIBLE_START);
  EXPECT_DOUBLE_EQ(plan.brake_now().stop_distance(), 4.0);
  EXPECT_DOUBLE_EQ(plan.brake_now().overrun(), 2.0);
  EXPECT_NEAR(plan.max_start_speed(), std::sqrt(8.0), 1e-14);
  EXPECT_EQ(plan.phases().kind_size(), 0);
}

TEST(PlanSpeedPipelineTest, PiecesOfNoLengthHaveNoRow) {
  const v1::SpeedPlan plan =
      PlannedSpeed(std::string(kLimits) +
                   "pieces { length: 4 length: 0 length: 4 radius: inf radius: 1e-9 radius: inf }");
  EXPECT_THAT(plan.piece_index(), ElementsAre(0u, 2u));
  EXPECT_NEAR(plan.duration_s(), 4.0, 1e-14);
}

TEST(PlanSpeedPipelineTest, StopsRestAndDwell) {
  const v1::SpeedPlan plan = PlannedSpeed(
      std::string(kLimits) + "pieces { length: 2 length: 2 } stops { boundary: 1 dwell_s: 0.5 }");
  EXPECT_NEAR(plan.duration_s(), 2.0 + 0.5 + 2.0, 1e-13);
  EXPECT_DOUBLE_EQ(plan.boundary_speed(1), 0.0);
  EXPECT_THAT(plan.phases().kind(), Contains(v1::PHASE_KIND_TURN));
}

// Curvature from 1e-6 to 1e6 within each interval.
v1::PlanSpeedRequest ManyPhases() {
  auto request = FromText<v1::PlanSpeedRequest>(
      "limits { max_speed: 6 max_acceleration: 2 max_braking: 2 max_total_acceleration: 3 }");
  for (int i = 0; i < 100; ++i) {
    request.mutable_profile()->add_distance(i);
    request.mutable_profile()->add_curvature(i % 2 == 0 ? 1e-6 : 1e6);
  }
  return request;
}

TEST(PlanSpeedPipelineTest, TooManyPhasesNameTheLimit) {
  RequestLimits limits;
  limits.max_speed_phases = 10;
  v1::PlanSpeedResponse response;
  const auto failure = AnswerPlanSpeed(
      ManyPhases(), limits, [] { return std::optional<FailureReason>(); }, response);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reason, FailureReason::kTooLarge);
  ASSERT_EQ(failure->violations.size(), 1u);
  EXPECT_EQ(failure->violations[0].field, "profile.curvature");
  EXPECT_THAT(failure->violations[0].description, HasSubstr("max_speed_phases 10"));
}

TEST(PlanSpeedPipelineTest, APlanUnderWayIsGivenUp) {
  v1::PlanSpeedResponse response;
  int asked = 0;
  const auto failure = AnswerPlanSpeed(
      ManyPhases(), {},
      [&asked] {
        return ++asked > 2 ? std::optional(FailureReason::kDeadlineExceeded) : std::nullopt;
      },
      response);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reason, FailureReason::kDeadlineExceeded);
}

TEST(PlanSpeedPipelineTest, AProfileWithoutCurvatureIsALine) {
  const v1::SpeedPlan line = PlannedSpeed(std::string(kLimits) + "pieces { length: 30 }");
  const v1::SpeedPlan profile = PlannedSpeed(
      std::string(kLimits) +
      "profile { distance: 0 distance: 7 distance: 30 curvature: 0 curvature: 0 curvature: 0 }");
  EXPECT_NEAR(profile.duration_s(), line.duration_s(), 1e-12);
}

TEST(PlanSpeedPipelineTest, AFlyingLapOfACircleHoldsTheLateralLimit) {
  // Curvature 1/4 under a_lat 4: v = 4 all the way round 10.
  const v1::SpeedPlan plan = PlannedSpeed(
      "limits { max_speed: 6 max_acceleration: 2 max_braking: 2 max_lateral_acceleration: 4 }"
      "profile { distance: 0 distance: 10 curvature: 0.25 curvature: 0.25 closed: true flying: "
      "true }");
  EXPECT_NEAR(plan.duration_s(), 2.5, 1e-12);
  EXPECT_THAT(plan.boundary_speed(),
              ElementsAre(::testing::DoubleNear(4.0, 1e-12), ::testing::DoubleNear(4.0, 1e-12)));
}

TEST(PlanSpeedPipelineTest, ViolationsAreNamedAsTheMessageNamesThem) {
  EXPECT_THAT(
      SpeedFaults(
          "limits { max_speed: nan max_acceleration: 0 max_braking: -1 } pieces { length: 1 }"),
      ::testing::IsSupersetOf(
          {"limits.max_speed", "limits.max_acceleration", "limits.max_braking"}));
  EXPECT_THAT(
      SpeedFaults(std::string(kLimits) + "pieces { length: 1 length: nan } start_speed: -1"),
      ::testing::IsSupersetOf({"pieces.length[1]", "start_speed"}));
  EXPECT_THAT(
      SpeedFaults(std::string(kLimits) + "pieces { length: 1 } stops { boundary: 1 dwell_s: -1 }"),
      Contains("stops.dwell_s[0]"));
  EXPECT_THAT(SpeedFaults(kLimits), Contains("geometry"));
}

TEST(PlanSpeedPipelineTest, ReservedBudgetsMustHoldTheirSum) {
  constexpr char kReserved[] =
      "limits { max_speed: 6 max_acceleration: 3 max_braking: 4 max_lateral_acceleration: 3 "
      "budget_mode: BUDGET_MODE_RESERVED "
      "max_total_acceleration: %TOTAL% } pieces { length: 5 length: 3 radius: inf radius: 2 }";
  const auto with_total = [&](const char* total) {
    std::string text(kReserved);
    return text.replace(text.find("%TOTAL%"), 7, total);
  };
  EXPECT_EQ(PlannedSpeed(with_total("5")).outcome(), v1::SPEED_OUTCOME_OK);
  EXPECT_THAT(SpeedFaults(with_total("4.99")), Contains("limits.max_total_acceleration"));
}

TEST(PlanSpeedPipelineTest, GivesUpWhenToldTo) {
  v1::PlanSpeedResponse response;
  const auto failure = AnswerPlanSpeed(
      FromText<v1::PlanSpeedRequest>(std::string(kLimits) + "pieces { length: 8 }"),
      RequestLimits(), [] { return std::optional(FailureReason::kDeadlineExceeded); }, response);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->reason, FailureReason::kDeadlineExceeded);
}

TEST(PlanSpeedPipelineTest, NumbersBeyondDoubleNameWhatMakesThem) {
  constexpr char kProfile[] =
      "profile { distance: 0 distance: 1 distance: 2 distance: 3 curvature: 0 curvature: 0 "
      "curvature: 0 curvature: 0 ";
  EXPECT_THAT(SpeedFaults(std::string(kLimits) + kProfile +
                          "speed_cap: 5 speed_cap: 0 speed_cap: 0 speed_cap: 5 }"),
              ElementsAre("profile.speed_cap[1]"));
  EXPECT_THAT(
      SpeedFaults(std::string("limits { max_speed: 1e-309 max_acceleration: 2 max_braking: 2 } ") +
                  kProfile + "}"),
      ElementsAre("limits.max_speed"));
  EXPECT_THAT(SpeedFaults(std::string(kLimits) + kProfile + "} start_speed: 1e308"),
              ElementsAre("start_speed"));
  EXPECT_THAT(SpeedFaults(std::string(kLimits) + "pieces { length: 1 } start_speed: 1e308"),
              ElementsAre("start_speed"));
  EXPECT_THAT(SpeedFaults("limits { max_speed: 6 max_acceleration: 2 max_braking: 2 "
                          "max_lateral_acceleration: 3 } profile { distance: 0 distance: 1e-160 "
                          "curvature: 1e162 curvature: 3e162 }"),
              ElementsAre("profile.curvature[1]"));
}

}  // namespace
}  // namespace arclane
