// SPDX-License-Identifier: Apache-2.0
// Requests made for load: their work is set by one size, and no two serial numbers give equal
// bytes.
#ifndef ARCLANE_CLIENT_LOADGEN_GENERATED_REQUESTS_H_
#define ARCLANE_CLIENT_LOADGEN_GENERATED_REQUESTS_H_

#include <cstdint>
#include <string>

#include "arclane/v1/navmesh.pb.h"
#include "arclane/v1/planner.pb.h"

namespace arclane {

// Requests of different serial numbers differ by serial * 1e-12 lengths in the start's position:
// the same work, never the same request. `samples` 0 asks for none.
struct GeneratedShape {
  int size = 32;  // Polygons, waypoints or control points.
  int samples = 100;
  int serial = 0;
};

// Quadrilaterals a unit long and two wide, alternately higher and lower, so that most portals bend
// the line. shape.size >= 1.
v1::PlanCorridorRequest GeneratedCorridor(const GeneratedShape& shape);

// The mesh of these polygons (refs 0, 1, ...), and the same corridor by their refs. A mesh of n
// polygons serves corridors of n.
std::string GeneratedMeshId(int polygons);
v1::NeutralNavMesh GeneratedMesh(int polygons);
v1::PlanCorridorRequest GeneratedReference(const GeneratedShape& shape);

// Waypoints in a zigzag, corners rounded as far as lines allow. shape.size >= 2.
v1::PlanWaypointsRequest GeneratedWaypoints(const GeneratedShape& shape);

// A centripetal Catmull-Rom curve through a wave. shape.size >= 2.
v1::PlanSplineRequest GeneratedSpline(const GeneratedShape& shape);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_GENERATED_REQUESTS_H_
