// SPDX-License-Identifier: Apache-2.0
// Writes PlanCorridor requests for the fuzzer to start from: every kind of corridor, frame, agent
// and sampling once, all small. Usage: plan_corridor_seeds FOLDER
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "arclane/v1/planner.pb.h"

namespace {

using arclane::v1::PlanCorridorRequest;
using Points = std::vector<std::pair<double, double>>;

void SetAgent(PlanCorridorRequest& request) {
  auto* limits = request.mutable_agent()->mutable_limits();
  limits->set_max_speed(6);
  limits->set_max_acceleration(3);
  limits->set_max_braking(4);
  limits->set_max_angular_speed(2);
}

void SetEnds(PlanCorridorRequest& request, std::pair<double, double> start,
             std::pair<double, double> goal) {
  request.mutable_start()->set_x(start.first);
  request.mutable_start()->set_y(start.second);
  request.mutable_goal()->set_x(goal.first);
  request.mutable_goal()->set_y(goal.second);
}

void AddPolygon(PlanCorridorRequest& request, const Points& points) {
  auto* polygons = request.mutable_corridor()->mutable_polygons();
  for (const auto& [x, y] : points) {
    polygons->mutable_vertices()->add_x(x);
    polygons->mutable_vertices()->add_y(y);
  }
  polygons->add_vertex_count(static_cast<uint32_t>(points.size()));
}

void AddPortal(PlanCorridorRequest& request, std::pair<double, double> left,
               std::pair<double, double> right) {
  auto* portals = request.mutable_corridor()->mutable_portals();
  portals->mutable_left()->add_x(left.first);
  portals->mutable_left()->add_y(left.second);
  portals->mutable_right()->add_x(right.first);
  portals->mutable_right()->add_y(right.second);
}

PlanCorridorRequest Zigzag(int count) {
  PlanCorridorRequest request;
  SetAgent(request);
  SetEnds(request, {0, 0}, {count + 1.0, 0});
  for (int i = 1; i <= count; ++i) {
    const double shift = i % 2 == 0 ? 1.5 : -1.5;
    AddPortal(request, {i, shift + 1}, {i, shift - 1});
  }
  return request;
}

PlanCorridorRequest Turn() {
  PlanCorridorRequest request;
  SetAgent(request);
  SetEnds(request, {0.5, 0.5}, {3.5, 3.5});
  AddPolygon(request, {{0, 0}, {3, 0}, {3, 1}, {0, 1}});
  AddPolygon(request, {{3, 0}, {4, 0}, {4, 1}, {3, 1}});
  AddPolygon(request, {{3, 1}, {4, 1}, {4, 4}, {3, 4}});
  return request;
}

std::vector<PlanCorridorRequest> Seeds() {
  std::vector<PlanCorridorRequest> seeds = {PlanCorridorRequest(), Zigzag(1), Zigzag(4), Zigzag(40),
                                            Turn()};

  PlanCorridorRequest link = Turn();
  link.mutable_corridor()->clear_polygons();
  AddPolygon(link, {{0, 0}, {1, 0}, {1, 1}, {0, 1}});
  AddPolygon(link, {{0.5, 0.5}, {3.5, 3.5}});
  AddPolygon(link, {{3, 3}, {4, 3}, {4, 4}, {3, 4}});
  seeds.push_back(link);

  PlanCorridorRequest rounded = Turn();
  rounded.mutable_agent()->mutable_body()->set_max_turn_radius(1);
  rounded.mutable_agent()->mutable_body()->set_radius(0.1);
  rounded.mutable_agent()->mutable_limits()->set_max_lateral_acceleration(4);
  seeds.push_back(rounded);

  PlanCorridorRequest moving = Zigzag(3);
  moving.mutable_motion()->mutable_velocity()->set_x(5);
  moving.mutable_motion()->set_goal_speed(2);
  moving.mutable_agent()->mutable_manners()->set_reaction_time_s(0.1);
  moving.mutable_agent()->mutable_manners()->set_turn_before_move(true);
  seeds.push_back(moving);

  PlanCorridorRequest gated = Zigzag(3);
  auto* dependencies = gated.mutable_corridor()->mutable_dependencies();
  dependencies->add_portal_index(1);
  dependencies->add_kind(arclane::v1::DEPENDENCY_KIND_GATE);
  dependencies->add_id(7);
  seeds.push_back(gated);
  gated.add_closed_gates(7);
  seeds.push_back(gated);

  for (int kind = 0; kind < 4; ++kind) {
    PlanCorridorRequest sampled = Turn();
    auto* sampling = sampled.mutable_sampling();
    if (kind == 0) sampling->set_spacing(0.25);
    if (kind == 1) sampling->set_count(16);
    if (kind == 2) sampling->set_time_step_s(0.1);
    if (kind == 3) sampling->mutable_distances()->add_distance(1.5);
    sampled.set_include_corridor(true);
    seeds.push_back(sampled);
  }

  PlanCorridorRequest far = Turn();
  far.mutable_frame()->set_up_axis(arclane::v1::UP_AXIS_Y);
  far.mutable_frame()->set_source(arclane::v1::COORDINATE_SOURCE_FLOAT32);
  far.mutable_frame()->mutable_origin()->set_x(1e7);
  far.mutable_start()->set_x(NAN);
  far.mutable_corridor()->set_is_partial(true);
  seeds.push_back(far);
  return seeds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: plan_corridor_seeds FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const PlanCorridorRequest& seed : Seeds()) {
    std::ofstream file(folder / ("seed_" + std::to_string(number++)), std::ios::binary);
    if (!seed.SerializeToOstream(&file)) {
      std::cerr << "cannot write into " << folder << "\n";
      return 1;
    }
  }
  std::cout << number << " seeds in " << folder << "\n";
  return 0;
}
