// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/motion_plan.h"

#include <cmath>
#include <numbers>

#include "gtest/gtest.h"

namespace arclane {
namespace {

AgentProfile Agent() {
  AgentProfile agent;
  agent.limits.max_speed = 10.0;
  agent.limits.max_acceleration = 2.0;
  agent.limits.max_braking = 2.0;
  agent.max_angular_speed = 2.0;
  return agent;
}

RoutePlan Straight(double length) {
  RoutePlan plan;
  plan.route.start = {0, 0};
  plan.route.segments.push_back(MakeLine(SegmentKind::kLine, {0, 0}, {length, 0}));
  return plan;
}

TEST(MotionPlanTest, RestToRestIsATriangle) {
  RoutePlan plan = Straight(8.0);
  MotionPlanner().Plan(Agent(), {}, plan);
  EXPECT_EQ(plan.outcome, RouteOutcome::kComplete);
  EXPECT_NEAR(plan.route.duration_s, 4.0, 1e-14);
  ASSERT_EQ(plan.route.phases.size(), 2u);
  EXPECT_EQ(plan.route.phases[0].kind, SpeedPhaseKind::kAccelerate);
  EXPECT_EQ(plan.route.phases[1].kind, SpeedPhaseKind::kBrake);
  EXPECT_NEAR(plan.route.phases[1].start_speed, 4.0, 1e-14);
}

TEST(MotionPlanTest, AStartThatCannotStopSaysByHowMuch) {
  RoutePlan plan = Straight(2.0);
  EndMotion motion;
  motion.velocity = {4.0, 0.0};
  MotionPlanner().Plan(Agent(), motion, plan);
  EXPECT_EQ(plan.outcome, RouteOutcome::kCannotStop);
  ASSERT_TRUE(plan.braking);
  EXPECT_NEAR(plan.braking->stop_distance, 4.0, 1e-12);
  EXPECT_NEAR(plan.braking->available_distance, 2.0, 1e-12);
  EXPECT_NEAR(plan.braking->overrun, 2.0, 1e-12);
  EXPECT_NEAR(plan.braking->speed_at_end, std::sqrt(8.0), 1e-12);
  EXPECT_NEAR(plan.braking->max_start_speed, std::sqrt(8.0), 1e-9);
  EXPECT_NEAR(plan.braking->rest_position.x, 4.0, 1e-12);
  // The real speed is never pretended lower.
  ASSERT_FALSE(plan.route.phases.empty());
  EXPECT_EQ(plan.route.phases[0].start_speed, 4.0);
  EXPECT_NEAR(plan.route.length, 4.0, 1e-12);
  EXPECT_NEAR(plan.route.duration_s, 2.0, 1e-12);
}

// A line of 3, an arc that is driven at 2 at most, and plenty of room to stop behind it.
TEST(MotionPlanTest, AnArcEnteredTooFastIsWhereTheDistanceEnds) {
  AgentProfile agent = Agent();
  agent.limits.max_lateral_acceleration = 4.0;
  EndMotion motion;
  motion.velocity = {4.0, 0.0};
  const auto with_arc = [](double before) {
    RoutePlan plan = Straight(before);
    const Vec2 corner = plan.route.segments[0].end;
    plan.route.segments.push_back(
        MakeArc(corner, 0.0, 1.0, std::numbers::pi / 2, corner + Vec2{1.0, 1.0}));
    const Vec2 end = plan.route.segments.back().end;
    plan.route.segments.push_back(MakeLine(SegmentKind::kLine, end, end + Vec2{0.0, 20.0}));
    return plan;
  };
  // Braking at 2 from 4 takes 3 to reach 2: at 3 it is just feasible.
  RoutePlan enough = with_arc(3.0);
  MotionPlanner().Plan(agent, motion, enough);
  EXPECT_EQ(enough.outcome, RouteOutcome::kComplete);
  RoutePlan plan = with_arc(2.5);
  MotionPlanner().Plan(agent, motion, plan);
  EXPECT_EQ(plan.outcome, RouteOutcome::kCannotStop);
  ASSERT_TRUE(plan.braking);
  EXPECT_NEAR(plan.braking->available_distance, 2.5, 1e-12);
  EXPECT_NEAR(plan.braking->speed_at_end, std::sqrt(16.0 - 2.0 * 2.0 * 2.5), 1e-12);
  EXPECT_NEAR(plan.braking->stop_distance, 4.0, 1e-12);
  EXPECT_NEAR(plan.braking->overrun, 1.5, 1e-12);
  EXPECT_NEAR(plan.braking->max_start_speed, std::sqrt(4.0 + 2.0 * 2.0 * 2.5), 1e-9);
  // A stop before the arc ends the distance first.
  RoutePlan stopped = with_arc(2.5);
  stopped.route.segments.insert(stopped.route.segments.begin() + 1,
                                MakeTurn(stopped.route.segments[0].end, 0.0, 0.5));
  MotionPlanner().Plan(agent, motion, stopped);
  EXPECT_NEAR(stopped.braking->available_distance, 2.5, 1e-12);
  EXPECT_NEAR(stopped.braking->max_start_speed, std::sqrt(2.0 * 2.0 * 2.5), 1e-9);
}

TEST(MotionPlanTest, ReactionTimeReservesTheHold) {
  AgentProfile agent = Agent();
  agent.limits.reaction_time_s = 0.1;
  EndMotion motion;
  motion.velocity = {4.0, 0.0};
  RoutePlan enough = Straight(4.4);
  MotionPlanner().Plan(agent, motion, enough);
  EXPECT_EQ(enough.outcome, RouteOutcome::kComplete);
  EXPECT_NEAR(enough.route.duration_s, 2.1, 1e-9);
  RoutePlan short_by_a_little = Straight(4.39);
  MotionPlanner().Plan(agent, motion, short_by_a_little);
  EXPECT_EQ(short_by_a_little.outcome, RouteOutcome::kCannotStop);
  EXPECT_NEAR(short_by_a_little.braking->stop_distance, 4.4, 1e-12);
  EXPECT_NEAR(short_by_a_little.braking->overrun, 0.01, 1e-12);
}

TEST(MotionPlanTest, AVelocityOffTheFirstLineIsTold) {
  RoutePlan plan = Straight(100.0);
  EndMotion motion;
  motion.velocity = {0.0, 3.0};
  MotionPlanner().Plan(Agent(), motion, plan);
  EXPECT_EQ(plan.outcome, RouteOutcome::kStartOffRoute);
  EXPECT_NEAR(plan.braking->heading_error, std::numbers::pi / 2, 1e-12);
  EXPECT_NEAR(plan.braking->rest_position.y, 2.25, 1e-12);
  EXPECT_NEAR(plan.braking->rest_position.x, 0.0, 1e-12);
  AgentProfile tolerant = Agent();
  tolerant.heading_tolerance = 1.6;
  RoutePlan tolerated = Straight(100.0);
  MotionPlanner().Plan(tolerant, motion, tolerated);
  EXPECT_EQ(tolerated.outcome, RouteOutcome::kComplete);
}

TEST(MotionPlanTest, AnUnreachableGoalSpeedEndsAsFastAsPossible) {
  RoutePlan plan = Straight(1.0);
  EndMotion motion;
  motion.goal_speed = 5.0;
  MotionPlanner().Plan(Agent(), motion, plan);
  EXPECT_EQ(plan.outcome, RouteOutcome::kGoalSpeedUnreachable);
  EXPECT_NEAR(plan.goal_speed_reached, 2.0, 1e-9);
  ASSERT_FALSE(plan.route.phases.empty());
  EXPECT_NEAR(plan.route.phases.back().end_speed, 2.0, 1e-9);
  RoutePlan above_limit = Straight(1000.0);
  motion.goal_speed = 50.0;
  MotionPlanner().Plan(Agent(), motion, above_limit);
  EXPECT_EQ(above_limit.outcome, RouteOutcome::kGoalSpeedUnreachable);
  EXPECT_NEAR(above_limit.goal_speed_reached, 10.0, 1e-9);
}

TEST(MotionPlanTest, TurnsInPlaceTakeTheirTimeOnlyWhenTurningBeforeMoving) {
  AgentProfile agent = Agent();
  for (const bool before : {false, true}) {
    agent.turn_before_move = before;
    agent.heading_tolerance = 0.2;
    RoutePlan plan;
    plan.route.segments.push_back(MakeLine(SegmentKind::kLine, {0, 0}, {8, 0}));
    plan.route.segments.push_back(MakeTurn({8, 0}, 0.0, std::numbers::pi / 2));
    plan.route.segments.push_back(MakeLine(SegmentKind::kLine, {8, 0}, {8, 8}));
    MotionPlanner().Plan(agent, {}, plan);
    const double turn = before ? (std::numbers::pi / 2 - 0.2) / 2.0 : 0.0;
    EXPECT_NEAR(plan.route.duration_s, 8.0 + turn, 1e-12);
    for (const SpeedPhase& phase : plan.route.phases) {
      if (phase.kind == SpeedPhaseKind::kDwell) {
        EXPECT_EQ(phase.piece, 1u);
      }
    }
  }
}

TEST(MotionPlanTest, WithoutLengthAnAgentAtItsGoalSpeedHasNothingToDo) {
  RoutePlan plan = Straight(0.0);
  EndMotion motion;
  motion.velocity = {0.0, 1.0};
  motion.goal_speed = 1.0;
  MotionPlanner().Plan(Agent(), motion, plan);
  EXPECT_EQ(plan.outcome, RouteOutcome::kComplete);
  EXPECT_EQ(plan.goal_speed_reached, 1.0);
  EXPECT_FALSE(plan.braking);
  EXPECT_EQ(plan.route.duration_s, 0.0);
  motion.goal_speed = 0.5;
  RoutePlan slower = Straight(0.0);
  MotionPlanner().Plan(Agent(), motion, slower);
  EXPECT_EQ(slower.outcome, RouteOutcome::kCannotStop);
}

TEST(MotionPlanTest, WithoutLengthAMovingAgentCannotStop) {
  RoutePlan plan;
  plan.route.start = plan.route.end = {5, 5};
  EndMotion motion;
  motion.velocity = {2.0, 0.0};
  MotionPlanner().Plan(Agent(), motion, plan);
  EXPECT_EQ(plan.outcome, RouteOutcome::kCannotStop);
  EXPECT_NEAR(plan.braking->overrun, 1.0, 1e-12);
  RoutePlan rest;
  rest.route.start = rest.route.end = {5, 5};
  MotionPlanner().Plan(Agent(), {}, rest);
  EXPECT_EQ(rest.outcome, RouteOutcome::kComplete);
  EXPECT_EQ(rest.route.duration_s, 0.0);
}

}  // namespace
}  // namespace arclane
