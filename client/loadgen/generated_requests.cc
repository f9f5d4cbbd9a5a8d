// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/generated_requests.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

constexpr double kSerialStep = 1e-12;
constexpr double kMiddle = 1.2;  // Of a portal, above or below the axis.

double MiddleOf(int portal) { return portal % 2 == 0 ? kMiddle : -kMiddle; }

void AddCorners(int polygon, v1::PointColumns& vertices) {
  const double left = polygon;
  const double right = polygon + 1.0;
  const double corners[4][2] = {{left, MiddleOf(polygon) - 1.0},
                                {right, MiddleOf(polygon + 1) - 1.0},
                                {right, MiddleOf(polygon + 1) + 1.0},
                                {left, MiddleOf(polygon) + 1.0}};
  for (const auto& corner : corners) {
    vertices.add_x(corner[0]);
    vertices.add_y(corner[1]);
  }
}

void SetLimits(v1::AgentProfile& agent) {
  v1::AgentLimits& limits = *agent.mutable_limits();
  limits.set_max_speed(6.0);
  limits.set_max_acceleration(3.0);
  limits.set_max_braking(4.0);
}

template <typename Request>
void SetSamples(int samples, Request& request) {
  if (samples > 0) request.mutable_sampling()->set_count(static_cast<uint32_t>(samples));
}

// Everything of a corridor request but the corridor's source.
v1::PlanCorridorRequest WithoutSource(const GeneratedShape& shape) {
  v1::PlanCorridorRequest request;
  request.mutable_start()->set_x(0.25);
  request.mutable_start()->set_y(0.5 * MiddleOf(0) + shape.serial * kSerialStep);
  request.mutable_goal()->set_x(shape.size - 0.25);
  request.mutable_goal()->set_y(0.5 * MiddleOf(shape.size));
  SetLimits(*request.mutable_agent());
  SetSamples(shape.samples, request);
  return request;
}

}  // namespace

v1::PlanCorridorRequest GeneratedCorridor(const GeneratedShape& shape) {
  v1::PlanCorridorRequest request = WithoutSource(shape);
  v1::Polygons& polygons = *request.mutable_corridor()->mutable_polygons();
  for (int i = 0; i < shape.size; ++i) {
    AddCorners(i, *polygons.mutable_vertices());
    polygons.add_vertex_count(4);
  }
  return request;
}

std::string GeneratedMeshId(int polygons) { return absl::StrCat("arclane-load-zigzag-", polygons); }

v1::NeutralNavMesh GeneratedMesh(int polygons) {
  v1::NeutralNavMesh mesh;
  for (int i = 0; i < polygons; ++i) {
    AddCorners(i, *mesh.mutable_vertices());
    mesh.add_vertex_count(4);
    for (uint32_t corner = 0; corner < 4; ++corner) {
      mesh.add_vertex_index(static_cast<uint32_t>(i) * 4 + corner);
    }
  }
  return mesh;
}

v1::PlanCorridorRequest GeneratedReference(const GeneratedShape& shape) {
  v1::PlanCorridorRequest request = WithoutSource(shape);
  request.mutable_navmesh()->set_navmesh_id(GeneratedMeshId(shape.size));
  v1::PolygonRefs& refs = *request.mutable_corridor()->mutable_refs();
  for (int i = 0; i < shape.size; ++i) refs.add_ref(static_cast<uint64_t>(i));
  return request;
}

v1::PlanWaypointsRequest GeneratedWaypoints(const GeneratedShape& shape) {
  v1::PlanWaypointsRequest request;
  v1::PointColumns& points = *request.mutable_waypoints();
  for (int i = 0; i < shape.size; ++i) {
    points.add_x(4.0 * i);
    points.add_y((i % 2 == 0 ? 1.0 : -1.0) + (i == 0 ? shape.serial * kSerialStep : 0.0));
  }
  SetLimits(*request.mutable_agent());
  request.mutable_agent()->mutable_limits()->set_max_lateral_acceleration(3.0);
  request.mutable_agent()->mutable_body()->set_max_turn_radius(2.0);
  SetSamples(shape.samples, request);
  return request;
}

v1::PlanSplineRequest GeneratedSpline(const GeneratedShape& shape) {
  v1::PlanSplineRequest request;
  request.mutable_spline()->mutable_catmull_rom();
  v1::PointColumns& points = *request.mutable_spline()->mutable_control();
  for (int i = 0; i < shape.size; ++i) {
    points.add_x(3.0 * i);
    points.add_y(2.0 * std::sin(1.3 * i) + (i == 0 ? shape.serial * kSerialStep : 0.0));
  }
  SetLimits(*request.mutable_agent());
  request.mutable_agent()->mutable_limits()->set_max_lateral_acceleration(3.0);
  SetSamples(shape.samples, request);
  return request;
}

}  // namespace arclane
