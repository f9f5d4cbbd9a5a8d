// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/planning/follow/follow_world.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/planning/geometry/polygon.h"
#include "server/planning/route/corridor_planner.h"
#include "tests/support/reference_data.h"
#include "tests/unit/planning/rounding/rounding_cases.h"

namespace arclane::testing {

FollowAgent WalkingAgent() {
  FollowAgent agent;
  agent.profile.limits.max_speed = 6.0;
  agent.profile.limits.max_acceleration = 3.0;
  agent.profile.limits.max_braking = 4.0;
  agent.profile.limits.max_lateral_acceleration = 4.0;
  agent.corner_distance_tolerance = 1e-3;
  agent.corner_speed_tolerance = 0.05;
  return agent;
}

FollowAgent RoundingAgent() {
  FollowAgent agent = WalkingAgent();
  agent.profile.max_turn_radius = std::numeric_limits<double>::infinity();
  return agent;
}

FollowAgent TurningAgent() {
  FollowAgent agent = WalkingAgent();
  agent.profile.turn_before_move = true;
  agent.profile.max_angular_speed = 4.0;
  agent.profile.heading_tolerance = 0.02;
  return agent;
}

bool PlanRoute(const std::string& id, const CorridorSource& source, bool float32,
               const FollowAgent& agent, std::span<const FollowDependency> dependencies,
               PlannedRoute* planned) {
  CorridorPlanRequest request;
  request.corridor = source.input(/*with_polygons=*/true, /*with_portals=*/false);
  request.corridor.precision =
      float32 ? CoordinatePrecision::Float32() : CoordinatePrecision::Double();
  request.corridor.max_end_shift = 1e-2;
  request.agent = agent.profile;
  CorridorPlanner planner;
  Violations violations;
  planned->id = id;
  planned->plan = RoutePlan();
  planned->agent = agent;
  if (planner.Plan(
          request, [] { return false; }, planned->plan, violations) != PlanStatus::kOk) {
    return false;
  }
  planned->corridor = planner.corridor();
  FollowRouteInput input;
  input.route = &planned->plan.route;
  input.outcome = planned->plan.outcome;
  input.corners = planned->plan.corners;
  input.corridor = &planned->corridor;
  input.deviation_tolerance = planned->plan.deviation_tolerance;
  input.agent = agent;
  input.dependencies = dependencies;
  input.version = 7;
  const absl::Status status = BuildFollowRoute(input, &planned->follow);
  EXPECT_TRUE(status.ok()) << id << ": " << status;
  return status.ok();
}

CorridorSource RandomCorridor(uint32_t seed) {
  const RoundingCase c = RandomLane(seed, 0.0);
  CorridorSource source;
  source.SetStart({c.corridor.start.x, c.corridor.start.y, 0.0});
  source.SetGoal({c.corridor.goal.x, c.corridor.goal.y, 0.0});
  for (size_t k = 0; k < c.corridor.cell_count(); ++k) {
    std::vector<Point3> points;
    for (const Vec2 v : c.corridor.cell(k)) points.push_back({v.x, v.y, 0.0});
    source.AddPolygon(points);
  }
  return source;
}

CorridorSource StraightCorridor(int cells) {
  CorridorSource source;
  source.SetStart({1.0, 0.0, 0.0});
  source.SetGoal({4.0 * cells - 1.0, 0.0, 0.0});
  for (int i = 0; i < cells; ++i) {
    const double x = 4.0 * i;
    source.AddPolygon({{x, -2, 0}, {x + 4, -2, 0}, {x + 4, 2, 0}, {x, 2, 0}});
  }
  return source;
}

CorridorSource BentCorridor() {
  CorridorSource source;
  source.SetStart({1.0, 1.0, 0.0});
  source.SetGoal({11.0, 11.0, 0.0});
  source.AddPolygon({{0, 0, 0}, {10, 0, 0}, {10, 2, 0}, {0, 2, 0}});
  source.AddPolygon({{10, 0, 0}, {12, 0, 0}, {12, 2, 0}, {10, 2, 0}});
  source.AddPolygon({{10, 2, 0}, {12, 2, 0}, {12, 12, 0}, {10, 12, 0}});
  return source;
}

std::vector<std::pair<std::string, CorridorSource>> DetourCorridors(const std::string& dir) {
  std::vector<std::pair<std::string, CorridorSource>> corridors;
  for (const nlohmann::json& record : ReadRecords(dir + "/detour/corridors_dev.jsonl.gz")) {
    corridors.emplace_back(record.at("id").get<std::string>(), FromDetourRecord(record));
  }
  return corridors;
}

std::vector<std::pair<std::string, CorridorSource>> MapCorridors(const std::string& dir) {
  std::vector<std::pair<std::string, CorridorSource>> corridors;
  std::map<std::string, nlohmann::json> meshes;
  for (const nlohmann::json& record : ReadRecords(dir + "/maps/queries_dev.jsonl.gz")) {
    const auto map = record.at("map").get<std::string>();
    auto it = meshes.find(map);
    if (it == meshes.end()) {
      const std::string path = absl::StrCat(dir, "/maps/meshes/", map, ".json.gz");
      it = meshes.emplace(map, nlohmann::json::parse(ReadFile(path))).first;
    }
    const nlohmann::json& vertices = it->second.at("vertices");
    const auto point = [](const nlohmann::json& p) {
      return Point3{p[0].get<double>(), p[1].get<double>(), 0.0};
    };
    CorridorSource source;
    source.SetStart(point(record.at("start")));
    source.SetGoal(point(record.at("goal")));
    for (const nlohmann::json& polygon : record.at("corridor_optimal").at("polygons")) {
      std::vector<Point3> points;
      for (const nlohmann::json& v : it->second.at("polygons")[polygon.get<size_t>()]) {
        points.push_back(point(vertices[v.get<size_t>()]));
      }
      source.AddPolygon(points);
    }
    corridors.emplace_back(record.at("id").dump(), std::move(source));
  }
  return corridors;
}

Drive::Drive(const FollowRoute& route, Setup setup)
    : route_(route), setup_(std::move(setup)), random_(setup_.seed) {
  double heading = route.segments.empty() ? 0.0 : route.segments.front().heading;
  Place(route.start, {}, heading);
}

void Drive::Place(Vec2 position, Vec2 velocity, double heading) {
  position_ = before_ = position;
  velocity_ = velocity;
  late_command_ = velocity;
  heading_ = heading;
  state_ = StartFollowing(route_, 0.0, position);
  state_.command = velocity;
}

void Drive::Step() {
  std::normal_distribution<double> normal(0.0, 1.0);
  input_ = FollowInput();
  input_.report.time_s = time_s_;
  input_.report.dt = setup_.dt;
  input_.report.position = position_;
  if (setup_.position_noise > 0.0) {
    input_.report.position =
        position_ + Vec2{normal(random_), normal(random_)} * setup_.position_noise;
  }
  input_.report.velocity = velocity_;
  input_.report.heading = heading_;
  input_.report.displacement = displacement_;
  if (setup_.before) setup_.before(steps_, input_);
  FollowStep(route_, setup_.options, input_, state_, request_);

  const Vec2 command = request_.preferred_velocity;
  Vec2 displacement;
  switch (setup_.options.integrator) {
    case Integrator::kHold:
      displacement = command * setup_.dt;
      velocity_ = command;
      break;
    case Integrator::kRamp:
      displacement = (velocity_ + command) * 0.5 * setup_.dt;
      velocity_ = command;
      break;
    case Integrator::kDelay:
      displacement = late_command_ * setup_.dt;
      velocity_ = late_command_;
      late_command_ = command;
      break;
  }
  if (setup_.clamp_to_half_planes) {
    displacement = SlideInside(request_.half_planes(), input_.report.position, displacement);
  }
  before_ = position_;
  position_ = position_ + displacement;
  displacement_ = displacement;
  heading_ = request_.heading;
  time_s_ += setup_.dt;
  ++steps_;
  if (setup_.after) setup_.after(steps_ - 1, *this);
}

void Drive::Run() {
  while (steps_ < setup_.max_steps) {
    Step();
    if (request_.status == FollowStatus::kBadInput) return;
    const bool ends = arrived() || request_.status == FollowStatus::kCancelled ||
                      (request_.replan && request_.status != FollowStatus::kBlocked);
    if (ends && velocity_ == Vec2{} && request_.preferred_velocity == Vec2{}) return;
  }
}

double FractionInside(std::span<const HalfPlane> planes, Vec2 p, Vec2 displacement) {
  double fraction = 1.0;
  for (const HalfPlane& plane : planes) {
    const double rate = Dot(plane.normal, displacement);
    const double room = plane.offset - Dot(plane.normal, p);
    // A rate that is rounding leads along the plane.
    if (rate > 4e-16 * (Norm(p) + Norm(displacement)) && rate * fraction > room)
      fraction = std::max(0.0, room / rate);
  }
  return fraction;
}

Vec2 SlideInside(std::span<const HalfPlane> planes, Vec2 p, Vec2 displacement) {
  for (int pass = 0; pass < 2; ++pass) {
    for (const HalfPlane& plane : planes) {
      const double room = std::max(0.0, plane.offset - Dot(plane.normal, p));
      const double rate = Dot(plane.normal, displacement);
      if (rate > room) displacement = displacement - plane.normal * (rate - room);
    }
  }
  return displacement * FractionInside(planes, p, displacement);
}

double DistanceFromCorridor(const Corridor& corridor, Vec2 p) {
  double nearest = std::numeric_limits<double>::infinity();
  for (size_t k = 0; k < corridor.cell_count() && nearest > 0.0; ++k) {
    nearest = std::min(nearest, DistanceToConvex(corridor.cell(k), p));
  }
  return nearest;
}

}  // namespace arclane::testing
