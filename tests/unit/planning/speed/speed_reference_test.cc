// SPDX-License-Identifier: Apache-2.0
// Speed plans and stop-and-turn plans against reference records that were computed at 40 digits.
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/speed/curvature_profile.h"
#include "server/planning/speed/speed_plan.h"
#include "server/planning/speed/stop_and_turn.h"
#include "tests/support/reference_data.h"

namespace arclane {
namespace {

using nlohmann::json;
using testing::ToDouble;

std::optional<double> Optional(const json& value) {
  if (value.is_null()) return std::nullopt;
  return ToDouble(value);
}

SpeedLimits ReadLimits(const json& record) {
  SpeedLimits limits;
  limits.max_speed = ToDouble(record["v_max"]);
  limits.max_acceleration = ToDouble(record["a_accel"]);
  limits.max_braking = ToDouble(record["a_brake"]);
  if (record.contains("a_lat")) limits.max_lateral_acceleration = Optional(record["a_lat"]);
  if (record.contains("a_max")) limits.max_total_acceleration = Optional(record["a_max"]);
  if (limits.max_total_acceleration) limits.budget_mode = BudgetMode::kCoupled;
  return limits;
}

std::vector<SpeedPiece> ReadPieces(const json& record) {
  std::vector<SpeedPiece> pieces;
  for (const json& piece : record) {
    pieces.push_back({ToDouble(piece["len"]), Optional(piece["radius"]).value_or(kStraight)});
  }
  return pieces;
}

const char* Name(SpeedPlanStatus status) {
  switch (status) {
    case SpeedPlanStatus::kOk:
      return "OK";
    case SpeedPlanStatus::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case SpeedPlanStatus::kInfeasibleStart:
      return "INFEASIBLE_START";
    case SpeedPlanStatus::kInfeasibleEnd:
      return "INFEASIBLE_END";
    case SpeedPlanStatus::kTooManyPhases:
    case SpeedPlanStatus::kStopped:
      break;
  }
  return "";
}

const char* Name(SpeedPhaseKind kind) {
  switch (kind) {
    case SpeedPhaseKind::kAccelerate:
      return "accel";
    case SpeedPhaseKind::kBrake:
      return "brake";
    default:
      return "cruise";
  }
}

constexpr double kRelative = 1e-9;

void ExpectClose(double expected, double actual, double scale, const std::string& what) {
  EXPECT_LE(std::abs(expected - actual), kRelative * scale)
      << what << ": " << expected << " against " << actual;
}

struct PlainPhase {
  std::string kind;
  double s0, s1, v0, v1, t;
  int piece;
};

// Drops phases shorter than `shortest`; what they covered goes to the phase before.
std::vector<PlainPhase> Merged(const std::vector<PlainPhase>& phases, double shortest) {
  std::vector<PlainPhase> merged;
  for (const PlainPhase& phase : phases) {
    if (phase.s1 - phase.s0 >= shortest) merged.push_back(phase);
  }
  return merged;
}

void ExpectPhases(const json& expected, const SpeedPlan& plan, const std::string& id) {
  std::vector<PlainPhase> want;
  for (const json& p : expected) {
    want.push_back({p["kind"], ToDouble(p["s0"]), ToDouble(p["s1"]), ToDouble(p["v0"]),
                    ToDouble(p["v1"]), ToDouble(p["t"]), p["piece"]});
  }
  std::vector<PlainPhase> have;
  for (const SpeedPhase& p : plan.phases) {
    have.push_back({Name(p.kind), p.start_distance, p.start_distance + p.length, p.start_speed,
                    p.end_speed, p.duration_s, static_cast<int>(p.piece)});
  }
  want = Merged(want, kRelative * plan.length);
  have = Merged(have, kRelative * plan.length);
  ASSERT_EQ(want.size(), have.size()) << id;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const std::string at = id + " phase " + std::to_string(i);
    EXPECT_EQ(want[i].kind, have[i].kind) << at;
    EXPECT_EQ(want[i].piece, have[i].piece) << at;
    ExpectClose(want[i].s0, have[i].s0, plan.length, at + " s0");
    ExpectClose(want[i].s1, have[i].s1, plan.length, at + " s1");
    ExpectClose(want[i].v0, have[i].v0, want[i].v0 + 1e-3 * want[i].v1, at + " v0");
    ExpectClose(want[i].v1, have[i].v1, want[i].v1 + 1e-3 * want[i].v0, at + " v1");
    ExpectClose(want[i].t, have[i].t, plan.duration_s, at + " t");
  }
}

void ExpectColumns(const json& expect, const SpeedPlan& plan, const std::string& id) {
  ASSERT_EQ(expect["v_bound"].size(), plan.boundary_speed.size()) << id;
  ASSERT_EQ(expect["v_peak"].size(), plan.peak_speed.size()) << id;
  for (std::size_t i = 0; i < plan.boundary_speed.size(); ++i) {
    const double want = ToDouble(expect["v_bound"][i]);
    ExpectClose(want, plan.boundary_speed[i], want, id + " v_bound");
  }
  for (std::size_t i = 0; i < plan.peak_speed.size(); ++i) {
    const double peak = ToDouble(expect["v_peak"][i]);
    ExpectClose(peak, plan.peak_speed[i], peak, id + " v_peak");
    const json& brake = expect["s_brake"][i];
    EXPECT_EQ(brake.is_null(), std::isnan(plan.brake_start_distance[i])) << id << " s_brake " << i;
    if (!brake.is_null())
      ExpectClose(ToDouble(brake), plan.brake_start_distance[i], plan.length, id + " s_brake");
    if (expect.contains("t_piece")) {
      const double t = ToDouble(expect["t_piece"][i]);
      ExpectClose(t, plan.piece_time_s[i], t, id + " t_piece");
    }
  }
}

TEST(SpeedReferenceTest, PlansOverPiecesAgree) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  SpeedWorkspace workspace;
  SpeedPlan plan;
  int count = 0;
  for (const json& record : testing::ReadRecords(dir + "/speed/plan_dev.jsonl.gz")) {
    const std::string id = record["id"];
    const std::vector<SpeedPiece> pieces = ReadPieces(record["pieces"]);
    SpeedPlanRequest request;
    request.pieces = pieces;
    request.limits = ReadLimits(record["limits"]);
    request.start_speed = ToDouble(record["v_start"]);
    request.end_speed = ToDouble(record["v_end"]);
    PlanSpeed(request, workspace, plan);
    ++count;
    const json& expect = record["expect"];
    ASSERT_EQ(expect["status"], Name(plan.status)) << id;
    EXPECT_EQ(plan.status == SpeedPlanStatus::kInvalidArgument, !plan.violations.empty()) << id;
    if (expect.contains("v_start_max")) {
      const double v = ToDouble(expect["v_start_max"]);
      ExpectClose(v, plan.start_speed_max, v, id + " v_start_max");
    }
    if (expect.contains("v_end_max")) {
      const double v = ToDouble(expect["v_end_max"]);
      ExpectClose(v, plan.end_speed_max, v, id + " v_end_max");
    }
    if (expect.contains("brake_now")) {
      const json& now = expect["brake_now"];
      const double stop = ToDouble(now["stop_distance"]);
      ExpectClose(stop, plan.brake_now.stop_distance, stop, id + " stop_distance");
      ExpectClose(ToDouble(now["overrun"]), plan.brake_now.overrun, stop, id + " overrun");
      ExpectClose(ToDouble(now["v_at_end"]), plan.brake_now.speed_at_end, request.start_speed,
                  id + " v_at_end");
    }
    if (plan.status != SpeedPlanStatus::kOk) continue;
    const double time = ToDouble(expect["time"]);
    ExpectClose(time, plan.duration_s, time, id + " time");
    ExpectColumns(expect, plan, id);
    if (expect.contains("phases")) ExpectPhases(expect["phases"], plan, id);
    if (request.limits.budget_mode == BudgetMode::kIndependent) {
      ExpectClose(
          time,
          TravelTime(pieces, request.limits, request.start_speed, request.end_speed, workspace),
          time, id + " travel time");
    }
  }
  EXPECT_GT(count, 0);
}

TEST(SpeedReferenceTest, StopAndTurnAgrees) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  SpeedWorkspace workspace;
  SpeedPlan plan;
  StopAndTurn drive;
  int count = 0;
  for (const json& record : testing::ReadRecords(dir + "/speed/stop_turn_dev.jsonl.gz")) {
    const std::string id = record["id"];
    std::vector<Vec2> waypoints;
    for (const json& point : record["waypoints"])
      waypoints.push_back({ToDouble(point[0]), ToDouble(point[1])});
    const json& limits = record["limits"];
    BuildStopAndTurn(waypoints, Optional(record["heading0"]),
                     {ToDouble(limits["omega_max"]), ToDouble(limits["heading_tol"])}, drive);
    SpeedPlanRequest request;
    request.pieces = drive.pieces;
    request.stops = drive.stops;
    request.limits = ReadLimits(limits);
    PlanSpeed(request, workspace, plan);
    ++count;
    const json& expect = record["expect"];
    ASSERT_EQ(expect["status"], Name(plan.status)) << id;
    const double time = ToDouble(expect["time"]);
    ExpectClose(time, plan.duration_s, time, id + " time");
    ASSERT_EQ(expect["turn_angle"].size(), drive.turn_angle_rad.size()) << id;
    for (std::size_t i = 0; i < drive.turn_angle_rad.size(); ++i) {
      ExpectClose(std::abs(ToDouble(expect["turn_angle"][i])), std::abs(drive.turn_angle_rad[i]),
                  1.0, id + " angle");
      ExpectClose(ToDouble(expect["turn_time"][i]), drive.turn_time_s[i], 1.0, id + " turn time");
      ExpectClose(ToDouble(expect["drive_time"][i]), plan.piece_time_s[i], 1.0, id + " drive time");
    }
  }
  EXPECT_GT(count, 0);
}

// The largest excess of any limit over the plan, relative, at points inside every phase.
double LargestExcess(const CurvatureProfileRequest& request, const CurvatureSpeedPlan& plan) {
  const SpeedLimits& limits = request.limits;
  double worst = -1.0;
  for (const SpeedPhase& phase : plan.phases) {
    const double s0 = request.distance[phase.piece];
    const double s1 = request.distance[phase.piece + 1];
    constexpr int kPoints = 23;
    for (int i = 0; i <= kPoints; ++i) {
      const double d = phase.length * i / kPoints;
      const double share = (phase.start_distance + d - s0) / (s1 - s0);
      const double kappa = request.curvature[phase.piece] * (1.0 - share) +
                           request.curvature[phase.piece + 1] * share;
      const double v = SpeedAt(phase, d);
      const double a = AccelerationAt(phase, d);
      const double lateral = v * v * std::abs(kappa);
      worst = std::max({worst, v / limits.max_speed - 1.0, a / limits.max_acceleration - 1.0,
                        -a / limits.max_braking - 1.0});
      if (limits.max_lateral_acceleration)
        worst = std::max(worst, lateral / *limits.max_lateral_acceleration - 1.0);
      if (limits.budget_mode == BudgetMode::kCoupled) {
        worst = std::max(worst, std::hypot(a, lateral) / *limits.max_total_acceleration - 1.0);
      }
    }
  }
  return worst;
}

TEST(SpeedReferenceTest, PlansAlongCurvesAgree) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  CurvatureWorkspace workspace;
  CurvatureSpeedPlan plan;
  int count = 0;
  for (const json& record : testing::ReadRecords(dir + "/speed/curves_dev.jsonl.gz")) {
    const std::vector<double> distance = record["s"];
    const std::vector<double> curvature = record["kappa"];
    for (const json& item : record["cases"]) {
      const std::string id = record["id"].get<std::string>() + " " +
                             item["model"].get<std::string>() + " " +
                             item["mode"].get<std::string>();
      CurvatureProfileRequest request;
      request.distance = distance;
      request.curvature = curvature;
      request.limits = ReadLimits(item["limits"]);
      request.flying_lap = item["mode"] == "flying";
      PlanSpeedAlongCurve(request, workspace, plan);
      ++count;
      const json& expect = item["expect"];
      ASSERT_EQ(expect["status"], Name(plan.status)) << id;
      const double time = ToDouble(expect["time"]);
      EXPECT_GE(plan.duration_s, ToDouble(expect["time_lo"]) * (1.0 - 1e-9)) << id;
      EXPECT_LE(plan.duration_s, time * 1.001) << id;
      double worst = 0.0;
      for (std::size_t i = 0; i < expect["v"].size(); ++i) {
        const double v = ToDouble(expect["v"][i]);
        const double error =
            std::abs(v - plan.node_speed[expect["v_index"][i]]) / std::max(v, 1e-9);
        worst = std::max(worst, error);
      }
      EXPECT_LE(worst, 1e-3) << id;
      const double excess = LargestExcess(request, plan);
      EXPECT_LE(excess, 1e-6) << id;
      double end = plan.phases.front().start_distance;
      for (const SpeedPhase& phase : plan.phases) {
        EXPECT_NEAR(phase.start_distance, end, 1e-9 * plan.length) << id;
        end = phase.start_distance + phase.length;
      }
      EXPECT_NEAR(end, distance.back(), 1e-9 * plan.length) << id;
      std::printf("%-36s time %+.2e lo %+.2e v %.1e excess %+.1e phases/node %.2f\n", id.c_str(),
                  plan.duration_s / time - 1.0, plan.duration_s / ToDouble(expect["time_lo"]) - 1.0,
                  worst, excess,
                  static_cast<double>(plan.phases.size()) / static_cast<double>(distance.size()));
    }
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace arclane
