// SPDX-License-Identifier: Apache-2.0
// Convex polygons: hulls, tests of convexity that forgive the rounding of coordinates, containment
// and distance.
//
// "Counter-clockwise" means that heading grows along the boundary; the inside lies to the left of
// every edge. Vertices may lie on the line of their neighbours (weakly convex) unless a function
// says otherwise.
#ifndef ARCLANE_SERVER_PLANNING_GEOMETRY_POLYGON_H_
#define ARCLANE_SERVER_PLANNING_GEOMETRY_POLYGON_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/geometry/vec2.h"

namespace arclane {

// Writes the indices of the strictly convex hull of `points` to *hull, counter-clockwise, starting
// at the lowest leftmost point. Equal points count once; collinear points yield their two ends; one
// point yields itself. Exact (Orient2D). Andrew's monotone chain, O(n log n).
void ConvexHull(std::span<const Vec2> points, std::vector<uint32_t>* hull);

// Twice the signed area: positive for counter-clockwise polygons.
double TwiceSignedArea(std::span<const Vec2> polygon);

enum class PolygonShape : uint8_t {
  kConvex,
  kNotConvex,     // Some vertex lies further inside the hull than the tolerance.
  kSelfCrossing,  // All vertices lie on the hull, but the boundary does not follow it once.
  kDegenerate,    // Without area: no vertex lies further than the tolerance from some line.
};

struct PolygonShapeWorkspace {
  std::vector<uint32_t> hull;
};

// The shape of a polygon of three or more vertices, of either winding, when vertices may be wrong
// by `tolerance`: real navmesh polygons have vertices that should lie on an edge and are off it by
// their rounding. *offending is set to the index of a vertex that proves the fault. O(n) for convex
// polygons, O(n log n) else.
PolygonShape ClassifyPolygon(std::span<const Vec2> polygon, double tolerance,
                             PolygonShapeWorkspace* workspace, size_t* offending);

// True when p lies inside or on the boundary of the counter-clockwise convex polygon. Exact. A
// polygon of two vertices is a segment, of one vertex a point. O(n).
bool ConvexContains(std::span<const Vec2> polygon, Vec2 p);

// The point of the convex counter-clockwise polygon closest to p: p itself when contained. O(n).
Vec2 ClosestPointInConvex(std::span<const Vec2> polygon, Vec2 p);

// The distance of p from the convex counter-clockwise polygon: 0 when contained. O(n).
double DistanceToConvex(std::span<const Vec2> polygon, Vec2 p);

// The height of the surface at p, for a polygon with heights at its vertices: linear on the
// triangles of the fan at vertex 0; outside the polygon, that of the closest point. Two vertices:
// linear along the segment. O(n).
double ConvexSurfaceHeight(std::span<const Vec2> polygon, std::span<const double> heights, Vec2 p);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_GEOMETRY_POLYGON_H_
