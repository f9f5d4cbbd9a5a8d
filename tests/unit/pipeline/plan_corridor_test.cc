// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_corridor.h"

#include "gtest/gtest.h"
#include "tests/unit/pipeline/message_text.h"

namespace arclane {
namespace {

using testing::FromText;

// Two unit squares: their outlines, without the closing sides, are 7 long together; the way from
// start to goal adds 1.
constexpr char kCorridor[] =
    "corridor { polygons { vertices { x: [0, 1, 1, 0, 1, 2, 2, 1] y: [0, 0, 1, 1, 0, 0, 1, 1] } "
    "vertex_count: [4, 4] } } start { x: 0.5 y: 0.5 } goal { x: 1.5 y: 0.5 } ";

bool IsQuick(const std::string& text) {
  return IsQuickPlan(FromText<v1::PlanCorridorRequest>(kCorridor + text));
}

TEST(IsQuickPlanTest, WithoutRoundingAndClearanceItIs) {
  EXPECT_TRUE(IsQuick(""));
  EXPECT_TRUE(IsQuick("agent { body { radius: 0.4 baked_radius: 0.4 } }"));
}

TEST(IsQuickPlanTest, RoundingTakesItsTime) {
  EXPECT_FALSE(IsQuick("agent { body { max_turn_radius: 1 } }"));
}

TEST(IsQuickPlanTest, DistanceFromWallsTakesItsTime) {
  EXPECT_FALSE(IsQuick("agent { body { clearance: 0.1 } }"));
  EXPECT_FALSE(IsQuick("agent { body { radius: 0.5 baked_radius: 0.4 } }"));
  EXPECT_FALSE(IsQuick("agent { body { radius: nan } }"));
}

TEST(IsQuickPlanTest, ManySamplesTakeTheirTime) {
  EXPECT_TRUE(IsQuick("sampling { count: 1000 }"));
  EXPECT_FALSE(IsQuick("sampling { count: 1001 }"));
  EXPECT_TRUE(IsQuick("sampling { spacing: 0.009 }"));
  EXPECT_FALSE(IsQuick("sampling { spacing: 0.007 }"));
  EXPECT_TRUE(IsQuick("sampling { spacing: 1e-9 max_count: 1000 }"));
  EXPECT_FALSE(IsQuick("sampling { spacing: nan }"));
  EXPECT_FALSE(IsQuick("sampling { time_step_s: 100 }"));
  EXPECT_TRUE(IsQuick("sampling { distances { distance: 0.5 } }"));
}

TEST(AnswerPlanCorridorTest, TracesItsStagesAndItsSize) {
  const auto request = FromText<v1::PlanCorridorRequest>(
      std::string(kCorridor) +
      "agent { limits { max_speed: 1 max_acceleration: 1 max_braking: 1 } } sampling { count: 9 }");
  v1::PlanCorridorResponse response;
  PlanTrace trace;
  const auto go_on = [] { return std::optional<FailureReason>(); };
  ASSERT_FALSE(AnswerPlanCorridor(request, {}, go_on, response, nullptr, &trace));
  for (const Stage stage : {Stage::kValidate, Stage::kCorridor, Stage::kFunnel, Stage::kCorners,
                            Stage::kSpeed, Stage::kSample, Stage::kEncode}) {
    EXPECT_TRUE(trace.Ended(stage)) << static_cast<int>(stage);
  }
  EXPECT_FALSE(trace.Ended(Stage::kQueue));
  EXPECT_EQ(trace.portals, 1u);
  EXPECT_EQ(trace.samples, 9u);
}

}  // namespace
}  // namespace arclane
