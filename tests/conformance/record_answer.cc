// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/record_answer.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/planning/geometry/vec2.h"
#include "server/planning/speed/speed_plan.h"
#include "server/planning/speed/stop_and_turn.h"

namespace arclane::conformance {
namespace {

struct KindRow {
  std::string_view name;
  nlohmann::json (*answer)(const nlohmann::json& record);
};

constexpr KindRow kKinds[] = {
    {"stop_turn", AnswerStopTurn},
};

std::string StatusName(SpeedPlanStatus status) {
  switch (status) {
    case SpeedPlanStatus::kOk:
      return "OK";
    case SpeedPlanStatus::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case SpeedPlanStatus::kInfeasibleStart:
      return "INFEASIBLE_START";
    case SpeedPlanStatus::kInfeasibleEnd:
      return "INFEASIBLE_END";
  }
  return "UNKNOWN";
}

}  // namespace

nlohmann::json AnswerStopTurn(const nlohmann::json& record) {
  std::vector<Vec2> waypoints;
  for (const nlohmann::json& p : record.at("waypoints")) {
    waypoints.push_back({p.at(0).get<double>(), p.at(1).get<double>()});
  }
  std::optional<double> start_heading_rad;
  if (!record.at("heading0").is_null()) start_heading_rad = record.at("heading0").get<double>();
  const nlohmann::json& limits = record.at("limits");
  StopAndTurn stop_and_turn;
  BuildStopAndTurn(waypoints, start_heading_rad,
                   {.max_angular_speed = limits.at("omega_max").get<double>(),
                    .heading_tolerance_rad = limits.at("heading_tol").get<double>()},
                   stop_and_turn);

  SpeedPlanRequest request;
  request.pieces = stop_and_turn.pieces;
  request.stops = stop_and_turn.stops;
  request.limits.max_speed = limits.at("v_max").get<double>();
  request.limits.max_acceleration = limits.at("a_accel").get<double>();
  request.limits.max_braking = limits.at("a_brake").get<double>();
  SpeedWorkspace workspace;
  SpeedPlan plan;
  PlanSpeed(request, workspace, plan);
  return {{"status", StatusName(plan.status)},
          {"time", plan.duration_s},
          {"turn_angle", stop_and_turn.turn_angle_rad},
          {"turn_time", stop_and_turn.turn_time_s},
          {"drive_time", plan.piece_time_s}};
}

nlohmann::json Answer(const nlohmann::json& request) {
  const auto kind = request.at("kind").get<std::string>();
  for (const KindRow& row : kKinds) {
    if (row.name == kind) return row.answer(request.at("record"));
  }
  return {{"error", "no planning code answers records of kind " + kind}};
}

}  // namespace arclane::conformance
