// SPDX-License-Identifier: Apache-2.0
// A route as the follower reads it: driven segments with their stops, speed ceilings, portals and
// walls, laid out flat. Built once for each route, immutable, shared by any number of agents and
// threads; a step reads it without allocation.
#ifndef ARCLANE_SERVER_PLANNING_FOLLOW_FOLLOW_ROUTE_H_
#define ARCLANE_SERVER_PLANNING_FOLLOW_FOLLOW_ROUTE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "server/planning/corridor/corridor.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/route/agent_profile.h"
#include "server/planning/route/route.h"
#include "server/planning/route/route_plan.h"

namespace arclane {

// The points p with Dot(normal, p) <= offset; `normal` is a unit vector that points out.
struct HalfPlane {
  Vec2 normal;
  double offset = 0.0;
};

// A line, link or arc that is driven. Turns in place are stops between segments.
struct FollowSegment {
  double start_distance = 0.0;  // Along the route.
  double length = 0.0;          // > 0.
  Vec2 start;
  Vec2 end;
  Vec2 direction;  // Unit, of travel at the start.
  double heading = 0.0;
  double curvature = 0.0;      // 0 but for arcs.
  double stop_distance = 0.0;  // Along the route: where the agent next rests; infinity: nowhere.
  uint32_t leg_begin = 0;      // The first segment behind the stop before.
  uint32_t source = 0;         // The route's segment.
  bool is_arc = false;
  bool stops_at_end = false;
};

// The highest speed along a stretch, from the route's speed phases. Where the plan accelerates the
// ceiling is what it accelerates to: the agent's own acceleration keeps it below the plan.
struct SpeedCeiling {
  enum class Kind : uint8_t {
    kConstant,  // `top`.
    kBrake,     // v^2 = end_speed^2 + 2 braking (end - s).
    kStop,      // As kBrake, to rest: the stopping law rules.
    kLaw,       // SpeedAt(phases[phase], s - begin), which falls.
  };
  double begin = 0.0;
  double end = 0.0;
  double top = 0.0;  // The speed at `begin`, or the constant one.
  double end_speed = 0.0;
  double braking = 0.0;
  uint32_t phase = 0;
  Kind kind = Kind::kConstant;
};

// A part of a cell's edge that is no portal, or a portal seen as a wall.
struct FollowWall {
  Vec2 a;
  Vec2 b;
  HalfPlane plane;  // Of the edge, the cell inside.
};

// What the follower needs to know of the agent: the profile that the route was planned for and the
// tolerances at corners.
struct FollowAgent {
  AgentProfile profile;
  double corner_distance_tolerance = 0.0;  // >= 0; see FollowRoute::arrival_tolerance.
  double corner_speed_tolerance = 0.0;     // >= 0.
};

// One entry of the read set: what a portal depends on. `portal` is the corridor's portal, the
// number of portals names the goal.
struct FollowDependency {
  uint32_t portal = 0;
};

struct FollowRouteInput {
  const Route* route = nullptr;
  RouteOutcome outcome = RouteOutcome::kComplete;
  std::span<const RouteCorner> corners;
  // Its cells are the walls. A corridor of one cell without portals is right for a route that was
  // planned without one; no vertices: no walls, and no half-planes.
  const Corridor* corridor = nullptr;
  // The largest deviation of the route from the corridor that its plan allows; 0: that of lines.
  double deviation_tolerance = 0.0;
  FollowAgent agent;
  std::span<const FollowDependency> dependencies;
  uint64_t version = 0;  // The caller's; a state belongs to one version.
};

struct FollowRoute {
  uint64_t version = 0;
  bool is_partial = false;    // Its end is not the goal.
  bool needs_replan = false;  // It is a braking path: there is more to plan behind its end.
  FollowAgent agent;
  Vec2 start;
  Vec2 end;
  double end_heading = 0.0;
  double length = 0.0;
  double end_speed = 0.0;
  // A position that the arithmetic cannot tell from another one.
  double roundoff = 0.0;
  // max(corner_distance_tolerance, kArrivalRoundings * roundoff).
  double arrival_tolerance = 0.0;
  // Unless FollowerOptions name another: the largest of two radii, ten arrival tolerances and the
  // braking distance from the highest speed.
  double off_route_distance = 0.0;

  std::vector<FollowSegment> segments;
  std::vector<SpeedCeiling> ceilings;
  std::vector<SpeedPhase> phases;       // For ceilings of kind kLaw.
  std::vector<double> corner_distance;  // Of the corners, ascending.
  std::vector<double> portal_distance;  // Where the route crosses each portal, ascending.
  std::vector<Vec2> portal_crossing;
  std::vector<Portal> portals;
  std::vector<FollowDependency> dependencies;

  // How far cells that should share an edge may lie apart, from the corridor's own; 0 without
  // cells.
  double tolerance = 0.0;
  // kPlaneRoundings of the cells' largest coordinate: what half-planes may be wrong by.
  double plane_roundoff = 0.0;
  std::vector<HalfPlane> cell_planes;      // Of the edges, moved out by plane_roundoff; of links
                                           // by the tolerance.
  std::vector<uint32_t> cell_plane_begin;  // Cells + 1.
  std::vector<FollowWall> walls;           // Without portals.
  std::vector<uint32_t> wall_begin;        // Cells + 1.
  std::vector<FollowWall> entry;           // Of cell k: portal k - 1 (cell 0: unused).
  std::vector<FollowWall> exit;            // Of cell k: portal k (the last cell: unused).

  size_t cell_count() const { return cell_plane_begin.empty() ? 0 : cell_plane_begin.size() - 1; }
  std::span<const HalfPlane> planes(size_t cell) const {
    return {cell_planes.data() + cell_plane_begin[cell],
            cell_planes.data() + cell_plane_begin[cell + 1]};
  }
};

// Landing on a stop is exact to a few roundings of the position.
inline constexpr double kArrivalRoundings = 64.0;

// A half-plane's distance from a point is wrong by a few roundings of the largest coordinate.
inline constexpr double kPlaneRoundings = 16.0;

// Fills *route, whose buffers are reused. InvalidArgument: the route has curve pieces, a dependency
// names no portal, or the route does not lie in the corridor. O(route + corridor).
absl::Status BuildFollowRoute(const FollowRouteInput& input, FollowRoute* route);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_FOLLOW_FOLLOW_ROUTE_H_
