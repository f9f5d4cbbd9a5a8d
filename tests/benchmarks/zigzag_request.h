// SPDX-License-Identifier: Apache-2.0
// The request that the end-to-end figures are about: a zigzag of 32 polygons with 100 samples.
#ifndef ARCLANE_TESTS_BENCHMARKS_ZIGZAG_REQUEST_H_
#define ARCLANE_TESTS_BENCHMARKS_ZIGZAG_REQUEST_H_

#include "arclane/v1/planner.pb.h"

namespace arclane::benchmarks {

inline constexpr int kZigzagPolygons = 32;
inline constexpr int kZigzagSamples = 100;

// Quadrilaterals between portals at x = i whose middles lie alternately above and below the axis,
// so that most portals bend the line. Requests of different serial numbers differ, by less than a
// millionth of a polygon in the start's position: no two are equal, all are the same work.
inline v1::PlanCorridorRequest ZigzagRequest(int serial, int polygon_count = kZigzagPolygons) {
  v1::PlanCorridorRequest request;
  const auto middle = [](int i) { return i % 2 == 0 ? 1.2 : -1.2; };
  auto* polygons = request.mutable_corridor()->mutable_polygons();
  auto* vertices = polygons->mutable_vertices();
  for (int i = 0; i < polygon_count; ++i) {
    const double corners[4][2] = {{i + 0.0, middle(i) - 1.0},
                                  {i + 1.0, middle(i + 1) - 1.0},
                                  {i + 1.0, middle(i + 1) + 1.0},
                                  {i + 0.0, middle(i) + 1.0}};
    for (const auto& corner : corners) {
      vertices->add_x(corner[0]);
      vertices->add_y(corner[1]);
    }
    polygons->add_vertex_count(4);
  }
  request.mutable_start()->set_x(0.25);
  request.mutable_start()->set_y(middle(0) * 0.5 + serial * 1e-12);
  request.mutable_goal()->set_x(polygon_count - 0.25);
  request.mutable_goal()->set_y(middle(polygon_count) * 0.5);
  auto* limits = request.mutable_agent()->mutable_limits();
  limits->set_max_speed(6.0);
  limits->set_max_acceleration(3.0);
  limits->set_max_braking(4.0);
  request.mutable_sampling()->set_count(kZigzagSamples);
  return request;
}

}  // namespace arclane::benchmarks

#endif  // ARCLANE_TESTS_BENCHMARKS_ZIGZAG_REQUEST_H_
