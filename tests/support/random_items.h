// SPDX-License-Identifier: Apache-2.0
// Random items of batches and streams: all kinds, good and bad, with and without what items share,
// some of them equal. The corridors by reference lie on a grid of squares (grid_mesh.h).
#ifndef ARCLANE_TESTS_SUPPORT_RANDOM_ITEMS_H_
#define ARCLANE_TESTS_SUPPORT_RANDOM_ITEMS_H_

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "arclane/v1/planner.pb.h"
#include "server/navmesh/neutral_mesh.h"
#include "tests/support/grid_mesh.h"

namespace arclane::testing {

inline constexpr uint32_t kGridSide = 8;

// The grid, with a gate that is closed between the squares 9 and 10 and one that is open between 27
// and 28.
inline NeutralMesh ItemsGrid() {
  NeutralMesh mesh = GridMesh({.width = kGridSide, .height = kGridSide, .tile = 4});
  mesh.gates = {{{7}, "closed", {{{9}, {10}}}, false}, {{8}, "open", {{{27}, {28}}}, true}};
  return mesh;
}

class RandomItems {
 public:
  explicit RandomItems(uint64_t seed) : random_(seed) {}

  // Three agents (one that stops, one that rounds, one that keeps a clearance), three samplings
  // (the last in floats), the navmesh "grid".
  static v1::PlanShared Shared() {
    v1::PlanShared shared;
    shared.mutable_navmesh()->set_navmesh_id("grid");
    for (int i = 0; i < 3; ++i) {
      v1::AgentProfile& agent = *shared.add_agents();
      v1::AgentLimits& limits = *agent.mutable_limits();
      limits.set_max_speed(3 + i);
      limits.set_max_acceleration(2);
      limits.set_max_braking(3);
      limits.set_max_lateral_acceleration(4);
      if (i == 1) agent.mutable_body()->set_max_turn_radius(0.4);
      if (i == 2) agent.mutable_body()->set_clearance(0.1);
    }
    shared.add_samplings()->set_count(5);
    shared.add_samplings()->set_spacing(0.25);
    v1::Sampling& floats = *shared.add_samplings();
    floats.set_count(4);
    floats.set_column_precision(v1::COLUMN_PRECISION_FLOAT);
    return shared;
  }

  v1::PlanItem Next() {
    if (!made_.empty() && Below(8) == 0) return made_[Below(static_cast<uint32_t>(made_.size()))];
    v1::PlanItem item;
    switch (Below(8)) {
      case 0:
      case 1:
      case 2:
      case 3:
        Corridor(*item.mutable_corridor(), /*by_ref=*/true);
        break;
      case 4:
        Corridor(*item.mutable_corridor(), /*by_ref=*/false);
        break;
      case 5:
        Waypoints(*item.mutable_waypoints());
        break;
      case 6:
        Spline(*item.mutable_spline());
        break;
      default:
        Speed(*item.mutable_speed());
    }
    if (!item.has_speed()) {
      if (Below(2) == 0) {
        item.set_agent_index(Below(3));
      } else if (!item.has_spline() || Below(2) == 0) {
        Agent(item);
      }
      if (Below(2) == 0) item.set_sampling_index(Below(3));
    } else if (Below(3) == 0) {
      item.mutable_speed()->clear_limits();
      item.set_agent_index(Below(3));
    }
    Spoil(item);
    if (made_.size() < 100) made_.push_back(item);
    return item;
  }

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  double Unit() { return std::uniform_real_distribution<double>()(random_); }

 private:
  // A walk over the grid that does not turn back.
  std::vector<uint32_t> Walk() {
    // Sometimes one that was taken before, from and to other places.
    if (!walks_.empty() && Below(4) == 0)
      return walks_[Below(static_cast<uint32_t>(walks_.size()))];
    std::vector<uint32_t> squares = {Below(kGridSide * kGridSide)};
    const uint32_t length = 1 + Below(12);
    while (squares.size() < length) {
      const uint32_t at = squares.back();
      const uint32_t x = at % kGridSide, y = at / kGridSide;
      std::vector<uint32_t> next;
      if (x > 0) next.push_back(at - 1);
      if (x + 1 < kGridSide) next.push_back(at + 1);
      if (y > 0) next.push_back(at - kGridSide);
      if (y + 1 < kGridSide) next.push_back(at + kGridSide);
      const uint32_t to = next[Below(static_cast<uint32_t>(next.size()))];
      if (squares.size() > 1 && to == squares[squares.size() - 2]) continue;
      squares.push_back(to);
    }
    if (walks_.size() < 100) walks_.push_back(squares);
    return squares;
  }

  // A walk as polygons or by their refs.
  void Corridor(v1::PlanCorridorRequest& request, bool by_ref) {
    const std::vector<uint32_t> squares = Walk();
    Inside(squares.front(), *request.mutable_start());
    Inside(squares.back(), *request.mutable_goal());
    if (by_ref) {
      for (const uint32_t square : squares)
        request.mutable_corridor()->mutable_refs()->add_ref(square);
    } else {
      v1::Polygons& polygons = *request.mutable_corridor()->mutable_polygons();
      for (const uint32_t square : squares) {
        const double x = square % kGridSide, y = square / kGridSide;
        for (const double a : {x, x + 1, x + 1, x}) polygons.mutable_vertices()->add_x(a);
        for (const double b : {y, y, y + 1, y + 1}) polygons.mutable_vertices()->add_y(b);
        polygons.add_vertex_count(4);
      }
    }
    if (Below(4) == 0) request.set_cache_mode(v1::CACHE_MODE_BYPASS);
    if (Below(6) == 0) request.set_include_corridor(true);
    if (Below(6) == 0) request.mutable_motion()->mutable_velocity()->set_x(Unit() * 2 - 1);
  }

  void Inside(uint32_t square, v1::Point& point) {
    // Sometimes a negative zero, which is a zero.
    point.set_x(square % kGridSide + 0.05 + 0.9 * Unit());
    point.set_y(square / kGridSide + 0.05 + 0.9 * Unit());
    point.set_z(Below(4) == 0 ? -0.0 : 0.0);
  }

  void Waypoints(v1::PlanWaypointsRequest& request) {
    const uint32_t count = 2 + Below(6);
    for (uint32_t i = 0; i < count; ++i) {
      request.mutable_waypoints()->add_x(4 * i + Unit());
      request.mutable_waypoints()->add_y(6 * Unit());
    }
    request.add_radius(Unit());
  }

  void Spline(v1::PlanSplineRequest& request) {
    request.mutable_spline()->mutable_bezier();
    for (int i = 0; i < 4; ++i) {
      request.mutable_spline()->mutable_control()->add_x(i + 0.3 * Unit());
      request.mutable_spline()->mutable_control()->add_y(2 * Unit());
    }
  }

  void Speed(v1::PlanSpeedRequest& request) {
    const uint32_t count = 1 + Below(5);
    for (uint32_t i = 0; i < count; ++i) {
      request.mutable_pieces()->add_length(1 + 5 * Unit());
      request.mutable_pieces()->add_radius(Below(2) == 0 ? INFINITY : 1 + 5 * Unit());
    }
    Limits(*request.mutable_limits());
  }

  void Limits(v1::AgentLimits& limits) {
    limits.set_max_speed(1 + 5 * Unit());
    limits.set_max_acceleration(1 + Unit());
    limits.set_max_braking(1 + Unit());
    limits.set_max_lateral_acceleration(1 + Unit());
  }

  void Agent(v1::PlanItem& item) {
    v1::AgentProfile& agent = item.has_corridor()    ? *item.mutable_corridor()->mutable_agent()
                              : item.has_waypoints() ? *item.mutable_waypoints()->mutable_agent()
                                                     : *item.mutable_spline()->mutable_agent();
    Limits(*agent.mutable_limits());
    if (Below(3) == 0) agent.mutable_body()->set_max_turn_radius(0.1 + Unit());
  }

  // Every tenth item is wrong in some way.
  void Spoil(v1::PlanItem& item) {
    if (Below(10) != 0) return;
    switch (Below(6)) {
      case 0:
        item.set_agent_index(99);
        break;
      case 1:
        item.clear_request();
        break;
      case 2:
        if (item.has_corridor()) item.mutable_corridor()->mutable_start()->set_x(NAN);
        break;
      case 3:
        if (item.has_corridor()) item.mutable_corridor()->mutable_goal()->set_y(1e6);
        break;
      case 4:
        if (item.has_corridor() && item.corridor().corridor().has_refs())
          item.mutable_corridor()->mutable_corridor()->mutable_refs()->add_ref(1234567);
        break;
      default:
        if (item.has_waypoints()) item.mutable_waypoints()->clear_waypoints();
    }
  }

  std::mt19937_64 random_;
  std::vector<v1::PlanItem> made_;
  std::vector<std::vector<uint32_t>> walks_;
};

}  // namespace arclane::testing

#endif  // ARCLANE_TESTS_SUPPORT_RANDOM_ITEMS_H_
