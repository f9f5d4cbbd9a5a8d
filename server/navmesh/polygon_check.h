// SPDX-License-Identifier: Apache-2.0
// Whether an outline is a convex polygon, up to the rounding of its coordinates.
#ifndef ARCLANE_SERVER_NAVMESH_POLYGON_CHECK_H_
#define ARCLANE_SERVER_NAVMESH_POLYGON_CHECK_H_

#include <span>

#include "server/navmesh/ids.h"
#include "server/navmesh/tile.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// The largest coordinate of a mesh. Far beyond any world, and its products stay exact enough to
// order points.
inline constexpr double kMaxMeshCoordinate = 1e12;

// The horizontal coordinates of a point.
inline Vec2 PlanOf(const MeshPoint& p, MeshUpAxis up) {
  switch (up) {
    case MeshUpAxis::kX:
      return {p.y, p.z};
    case MeshUpAxis::kY:
      return {p.x, p.z};
    case MeshUpAxis::kZ:
      break;
  }
  return {p.x, p.y};
}
inline double HeightOf(const MeshPoint& p, MeshUpAxis up) {
  return up == MeshUpAxis::kX ? p.x : (up == MeshUpAxis::kY ? p.y : p.z);
}

enum class OutlineShape {
  kClockwise,         // Convex; heading shrinks along it.
  kCounterClockwise,  // Convex; heading grows along it.
  kTooFewVertices,    // Fewer than three.
  kRepeatedVertex,    // Two successive vertices are the same point.
  kNoArea,            // Its width is nowhere above the tolerance.
  kNotConvex,         // A vertex lies inside the line of its neighbours by more than the tolerance.
  kSelfCrossing,      // It turns around more than once.
};

// `tolerance` is the distance below which a vertex counts as lying on the line of its neighbours: a
// few roundings of the coordinates' source at their magnitude. Collinear vertices are allowed.
// O(vertices).
OutlineShape ShapeOf(std::span<const Vec2> outline, double tolerance);

// What is wrong, for a message; empty for the two convex shapes.
const char* Describe(OutlineShape shape);

// Four roundings of float32 (unit roundoff 2^-24, half a unit in the last place each way, twice) at
// a magnitude: how far a vertex that was computed on a line may lie off it once stored.
constexpr double Float32Tolerance(double magnitude) { return magnitude * 4.0 / (1 << 23); }
// The same for doubles.
constexpr double Float64Tolerance(double magnitude) { return magnitude * 0x1p-50; }

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_POLYGON_CHECK_H_
