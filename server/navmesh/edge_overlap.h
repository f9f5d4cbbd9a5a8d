// SPDX-License-Identifier: Apache-2.0
// The common part of two polygon edges that run against each other.
#ifndef ARCLANE_SERVER_NAVMESH_EDGE_OVERLAP_H_
#define ARCLANE_SERVER_NAVMESH_EDGE_OVERLAP_H_

#include <optional>

#include "server/navmesh/ids.h"
#include "server/navmesh/tile.h"

namespace arclane {

struct OverlapRule {
  MeshUpAxis up = MeshUpAxis::kZ;
  double tolerance = 0.0;  // Points closer than this in plan are the same point.
  double max_step =
      0.0;  // Largest difference in height at either end of the overlap; at least the tolerance.
};

// As fractions of a -> b, 0 <= low < high <= 1; within the tolerance of an end of the edge they are
// exactly 0 and 1.
struct EdgeOverlap {
  double low = 0.0;
  double high = 1.0;
};

// The part of the edge a -> b that lies on the edge c -> d, which must run the other way, be
// collinear with it in plan, and overlap it by more than the tolerance. nullopt otherwise.
std::optional<EdgeOverlap> OverlapOf(const MeshPoint& a, const MeshPoint& b, const MeshPoint& c,
                                     const MeshPoint& d, const OverlapRule& rule);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_EDGE_OVERLAP_H_
