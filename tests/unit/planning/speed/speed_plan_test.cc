// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/speed_plan.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/speed/stop_and_turn.h"

namespace arclane {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

SpeedLimits Limits(double speed, double acceleration, double braking) {
  SpeedLimits limits;
  limits.max_speed = speed;
  limits.max_acceleration = acceleration;
  limits.max_braking = braking;
  return limits;
}

SpeedPlan Plan(const std::vector<SpeedPiece>& pieces, const SpeedLimits& limits, double start = 0.0,
               double end = 0.0, const std::vector<SpeedStop>& stops = {}) {
  SpeedWorkspace workspace;
  SpeedPlan plan;
  PlanSpeed({pieces, limits, start, end, stops}, workspace, plan);
  return plan;
}

TEST(SpeedPlanTest, TriangleOnOneLine) {
  const SpeedPlan plan = Plan({{8.0}}, Limits(10, 2, 2));
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  EXPECT_DOUBLE_EQ(plan.duration_s, 4.0);
  EXPECT_DOUBLE_EQ(plan.peak_speed[0], 4.0);
  EXPECT_DOUBLE_EQ(plan.brake_start_distance[0], 4.0);
  ASSERT_EQ(plan.phases.size(), 2u);
}

TEST(SpeedPlanTest, ShortMovesGiveFiniteTimes) {
  for (const double length : {0.0008, 1e-6, 1e-9, 1e-30}) {
    const SpeedPlan plan = Plan({{length}}, Limits(6, 3, 4));
    ASSERT_EQ(plan.status, SpeedPlanStatus::kOk) << length;
    // Triangle: t = sqrt(2 s (1/a + 1/b)).
    EXPECT_NEAR(plan.duration_s, std::sqrt(2.0 * length * (1.0 / 3 + 1.0 / 4)),
                1e-14 * plan.duration_s)
        << length;
  }
}

TEST(SpeedPlanTest, ScalesWithLength) {
  for (const double scale : {1e-9, 1e-3, 1.0, 1e5, 1e9}) {
    const std::vector<SpeedPiece> pieces = {
        {3.0 * scale}, {2.0 * scale, 1.5 * scale}, {5.0 * scale}};
    SpeedLimits limits = Limits(6 * std::sqrt(scale), 3, 4);
    limits.max_lateral_acceleration = 4.0;
    const SpeedPlan plan = Plan(pieces, limits);
    ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
    SpeedLimits unit = Limits(6, 3, 4);
    unit.max_lateral_acceleration = 4.0;
    const SpeedPlan one = Plan({{3.0}, {2.0, 1.5}, {5.0}}, unit);
    EXPECT_NEAR(plan.duration_s / std::sqrt(scale), one.duration_s, 1e-12 * one.duration_s)
        << scale;
  }
}

TEST(SpeedPlanTest, TinyRadiusIsNearlyAStop) {
  SpeedLimits limits = Limits(6, 3, 4);
  limits.max_lateral_acceleration = 4.0;
  const SpeedPlan plan = Plan({{5.0}, {1e-12, 1e-12}, {5.0}}, limits);
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  EXPECT_LE(plan.boundary_speed[1], 2.1e-6);
  limits = Limits(6, 3, 4);
  limits.max_total_acceleration = 4.0;
  limits.budget_mode = BudgetMode::kCoupled;
  EXPECT_EQ(Plan({{5.0}, {1e-12, 1e-12}, {5.0}}, limits).status, SpeedPlanStatus::kOk);
  EXPECT_EQ(Plan({{5.0}, {5.0, 1e12}, {5.0}}, limits).status, SpeedPlanStatus::kOk);
}

TEST(SpeedPlanTest, AMillionPieces) {
  std::vector<SpeedPiece> pieces(1000000);
  for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i] = {1e-3, i % 3 == 0 ? 0.7 : kStraight};
  SpeedLimits limits = Limits(6, 3, 4);
  limits.max_lateral_acceleration = 4.0;
  for (const double reaction_s : {0.0, 0.2}) {
    limits.reaction_time_s = reaction_s;
    const SpeedPlan plan = Plan(pieces, limits);
    ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
    const double cap = std::sqrt(4.0 * 0.7);
    EXPECT_NEAR(plan.peak_speed[500000], cap, 0.01);
    EXPECT_GT(plan.duration_s, 1000.0 / 1.75);
  }
}

TEST(SpeedPlanTest, ArcsWhoseRadiiDifferByAnUlpAreDrivenAtTheCap) {
  const double above = std::nextafter(1.0, 2.0);
  const std::vector<SpeedPiece> pieces = {
      {10.0, kStraight}, {2.0, 1.0}, {2.0, above}, {10.0, kStraight}};
  SpeedLimits limits;
  limits.max_speed = 10.0;
  limits.max_acceleration = 3.0;
  limits.max_braking = 4.0;
  limits.max_total_acceleration = 5.0;
  limits.budget_mode = BudgetMode::kCoupled;
  SpeedWorkspace workspace;
  SpeedPlan plan;
  PlanSpeed({pieces, limits}, workspace, plan);
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  const double cap = std::sqrt(5.0);
  EXPECT_NEAR(plan.piece_time_s[1], 2.0 / cap, 1e-14);
  EXPECT_NEAR(plan.piece_time_s[2], 2.0 / cap, 1e-14);
  int on_arcs = 0;
  for (const SpeedPhase& phase : plan.phases) {
    if (phase.piece != 1 && phase.piece != 2) continue;
    ++on_arcs;
    EXPECT_EQ(phase.kind, SpeedPhaseKind::kCruise);
  }
  EXPECT_EQ(on_arcs, 2);
}

TEST(SpeedPlanTest, StopsDwellAndRest) {
  const SpeedPlan plan = Plan({{8.0}, {0.0}, {8.0}}, Limits(10, 2, 2), 0.0, 0.0,
                              {{0, 0.5}, {1, 1.0}, {2, 0.25}, {3, 2.0}});
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  EXPECT_DOUBLE_EQ(plan.duration_s, 4.0 + 4.0 + 3.75);
  EXPECT_EQ(plan.boundary_speed, (std::vector<double>{0.0, 0.0, 0.0}));
  EXPECT_EQ(plan.phases.front().kind, SpeedPhaseKind::kDwell);
  EXPECT_EQ(plan.phases.back().kind, SpeedPhaseKind::kDwell);
  EXPECT_EQ(plan.phases.back().start_distance, 16.0);
}

TEST(SpeedPlanTest, AStopAtAnEndForbidsSpeedThere) {
  EXPECT_EQ(Plan({{8.0}}, Limits(10, 2, 2), 1.0, 0.0, {{0, 0.0}}).status,
            SpeedPlanStatus::kInfeasibleStart);
  EXPECT_EQ(Plan({{8.0}}, Limits(10, 2, 2), 0.0, 1.0, {{1, 0.0}}).status,
            SpeedPlanStatus::kInfeasibleEnd);
}

TEST(SpeedPlanTest, ReactionReservesDistance) {
  SpeedLimits limits = Limits(10, 2, 2);
  limits.reaction_time_s = 0.1;
  // v tr + v^2 / 2a = 0.4 + 4.
  const SpeedPlan exact = Plan({{4.4}}, limits, 4.0);
  ASSERT_EQ(exact.status, SpeedPlanStatus::kOk);
  ASSERT_EQ(exact.phases.size(), 2u);
  EXPECT_EQ(exact.phases[0].kind, SpeedPhaseKind::kCruise);
  EXPECT_NEAR(exact.phases[0].length, 0.4, 1e-14);
  EXPECT_NEAR(exact.duration_s, 2.1, 1e-13);
  const SpeedPlan late = Plan({{4.39}}, limits, 4.0);
  ASSERT_EQ(late.status, SpeedPlanStatus::kInfeasibleStart);
  EXPECT_NEAR(late.brake_now.stop_distance, 4.4, 1e-14);
  EXPECT_NEAR(late.brake_now.overrun, 0.01, 1e-14);
  const double v = late.start_speed_max;
  EXPECT_NEAR(v * 0.1 + v * v / 4.0, 4.39, 1e-13);
}

TEST(SpeedPlanTest, ReactionMakesAPlateauOnAShortHop) {
  SpeedLimits limits = Limits(10, 2, 4);
  limits.reaction_time_s = 0.5;
  const SpeedPlan plan = Plan({{3.0}}, limits);
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  ASSERT_EQ(plan.phases.size(), 3u);
  const double v = plan.peak_speed[0];
  EXPECT_NEAR(v * v / 4.0 + v * 0.5 + v * v / 8.0, 3.0, 1e-14);
  EXPECT_NEAR(plan.phases[1].duration_s, 0.5, 1e-14);
}

TEST(SpeedPlanTest, ReactionHoldsBeforeBrakingForAnArc) {
  SpeedLimits limits = Limits(10, 3, 2);
  limits.max_lateral_acceleration = 4.0;
  limits.reaction_time_s = 0.2;
  const SpeedPlan plan = Plan({{20.0}, {6.0, 1.0}, {20.0}}, limits);
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  EXPECT_NEAR(plan.boundary_speed[1], 2.0, 1e-14);
  ASSERT_GE(plan.phases.size(), 3u);
  EXPECT_EQ(plan.phases[1].kind, SpeedPhaseKind::kCruise);
  EXPECT_NEAR(plan.phases[1].duration_s, 0.2, 1e-12);
  EXPECT_EQ(plan.phases[2].kind, SpeedPhaseKind::kBrake);
}

TEST(SpeedPlanTest, ReactionBrakesThroughAPlateauTooShortToHold) {
  SpeedLimits limits = Limits(10, 3, 2);
  limits.max_lateral_acceleration = 4.0;
  limits.reaction_time_s = 0.5;
  // The middle arc's cap of 4 m/s lasts 0.1 m, far less than 0.5 s of holding.
  const SpeedPlan plan = Plan({{40.0}, {0.1, 4.0}, {2.0, 2.0}, {2.0, 0.25}, {20.0}}, limits);
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  double held = 0.0;
  bool braking = false;
  for (const SpeedPhase& phase : plan.phases) {
    if (phase.kind == SpeedPhaseKind::kBrake && !braking) {
      EXPECT_GE(held, 0.5 - 1e-9);
    }
    braking = phase.kind == SpeedPhaseKind::kBrake;
    held = phase.kind == SpeedPhaseKind::kCruise ? held + phase.duration_s : 0.0;
  }
}

TEST(SpeedPlanTest, FullBrakeTellsTheRealSpeed) {
  SpeedWorkspace workspace;
  FullBrakePlan brake;
  const std::vector<SpeedPiece> pieces = {{1.0}, {1.0, 3.0}};
  // 4 m/s with 2 to go at 2 m/s^2: rests 2 too far.
  PlanFullBrake(pieces, Limits(10, 2, 2), 4.0, brake);
  EXPECT_DOUBLE_EQ(brake.outcome.overrun, 2.0);
  EXPECT_DOUBLE_EQ(brake.outcome.stop_distance, 4.0);
  EXPECT_NEAR(brake.outcome.speed_at_end, std::sqrt(8.0), 1e-15);
  EXPECT_DOUBLE_EQ(brake.rest_distance, 2.0);
  ASSERT_EQ(brake.phases.size(), 2u);
  EXPECT_EQ(brake.phases[0].start_speed, 4.0);
  EXPECT_EQ(brake.phases[1].piece, 1u);
  EXPECT_NEAR(brake.phases[1].end_speed, std::sqrt(8.0), 1e-15);

  SpeedLimits limits = Limits(10, 2, 8);
  limits.reaction_time_s = 0.1;
  PlanFullBrake(pieces, limits, 4.0, brake);
  EXPECT_DOUBLE_EQ(brake.rest_distance, 1.4);
  EXPECT_EQ(brake.outcome.overrun, 0.0);
  EXPECT_EQ(brake.phases.back().end_speed, 0.0);
  EXPECT_NEAR(brake.duration_s, 0.6, 1e-15);
}

TEST(SpeedPlanTest, ReportsEveryViolation) {
  SpeedLimits limits = Limits(kNaN, -1.0, kInfinity);
  limits.max_lateral_acceleration = 0.0;
  limits.max_total_acceleration = kInfinity;
  limits.reaction_time_s = -0.5;
  const SpeedPlan plan =
      Plan({{-1.0}, {kNaN, 0.0}, {kInfinity, kNaN}}, limits, -1.0, kNaN, {{9, -1.0}});
  EXPECT_EQ(plan.status, SpeedPlanStatus::kInvalidArgument);
  EXPECT_EQ(plan.violations.size(), 15u);
}

TEST(SpeedPlanTest, ReservedBudgetsMustFit) {
  SpeedLimits limits = Limits(10, 3, 2);
  limits.budget_mode = BudgetMode::kReserved;
  limits.max_lateral_acceleration = 4.0;
  limits.max_total_acceleration = 5.0;
  EXPECT_EQ(Plan({{8.0}}, limits).status, SpeedPlanStatus::kOk);
  limits.max_total_acceleration = 4.99;
  const SpeedPlan plan = Plan({{8.0}}, limits);
  ASSERT_EQ(plan.status, SpeedPlanStatus::kInvalidArgument);
  EXPECT_EQ(plan.violations[0].field, "limits.max_total_acceleration");
}

TEST(SpeedPlanTest, ReusedBuffersGiveTheSameBits) {
  SpeedWorkspace workspace;
  SpeedPlan reused;
  SpeedLimits limits = Limits(9, 3, 4);
  limits.max_total_acceleration = 4.0;
  limits.budget_mode = BudgetMode::kCoupled;
  const std::vector<SpeedPiece> long_path = {{30.0}, {3.0, 2.0}, {7.0}, {2.0, 1.0}, {4.0}};
  const std::vector<SpeedPiece> short_path = {{30.0}, {3.0, 2.0}};
  PlanSpeed({long_path, limits, 0.0, 0.0, {}}, workspace, reused);
  PlanSpeed({short_path, limits, 0.0, 1.0, {}}, workspace, reused);
  const SpeedPlan fresh = Plan(short_path, limits, 0.0, 1.0);
  EXPECT_EQ(reused.duration_s, fresh.duration_s);
  ASSERT_EQ(reused.phases.size(), fresh.phases.size());
  for (std::size_t i = 0; i < fresh.phases.size(); ++i) {
    EXPECT_EQ(reused.phases[i].duration_s, fresh.phases[i].duration_s);
    EXPECT_EQ(reused.phases[i].length, fresh.phases[i].length);
  }
}

TEST(StopAndTurnTest, ReversalTurnsByPi) {
  StopAndTurn drive;
  const std::vector<Vec2> waypoints = {{0, 0}, {100, 0}, {100, 1e-12}, {0, 0}};
  BuildStopAndTurn(waypoints, std::nullopt, {2.0, 0.0}, drive);
  SpeedWorkspace workspace;
  SpeedPlan plan;
  PlanSpeed({drive.pieces, Limits(6, 3, 4), 0.0, 0.0, drive.stops}, workspace, plan);
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  EXPECT_EQ(plan.boundary_speed, (std::vector<double>{0, 0, 0, 0}));
  ASSERT_EQ(drive.turn_angle_rad.size(), 3u);
  EXPECT_EQ(drive.turn_angle_rad[0], 0.0);
  EXPECT_NEAR(drive.turn_angle_rad[1] + drive.turn_angle_rad[2], 3.14159265358979, 1e-12);
}

TEST(StopAndTurnTest, EqualNeighboursAreDropped) {
  StopAndTurn drive;
  const std::vector<Vec2> same = {{1, 2}, {1, 2}, {1, 2}};
  BuildStopAndTurn(same, 0.3, {2.0, 0.0}, drive);
  EXPECT_TRUE(drive.pieces.empty());
  const std::vector<Vec2> some = {{1, 2}, {1, 2}, {1, 2 + 1e-6}, {1, 2 + 1e-6}};
  BuildStopAndTurn(some, 0.3, {2.0, 0.5}, drive);
  ASSERT_EQ(drive.pieces.size(), 1u);
  EXPECT_EQ(drive.waypoint_index, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_NEAR(drive.turn_time_s[0], (3.14159265358979 / 2 - 0.3 - 0.5) / 2.0, 1e-12);
}

}  // namespace
}  // namespace arclane
