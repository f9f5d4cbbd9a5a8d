// SPDX-License-Identifier: Apache-2.0
// Driven paths as route segments, and their corners.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_ASSEMBLY_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_ASSEMBLY_H_

#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/rounding/driven_path.h"
#include "server/planning/rounding/round_corners.h"
#include "server/planning/route/agent_profile.h"
#include "server/planning/route/route_plan.h"
#include "server/planning/route/segment.h"

namespace arclane {

// Appends the elements of the path, the last ending at `goal`.
void AppendElements(const DrivenPath& path, Vec2 goal, std::vector<Segment>& segments);

// Fills start distances; returns the length.
double LayOutSegments(std::span<Segment> segments);

// Appends one corner for each outcome of the path; portal index and height are left for the caller,
// whose index into `portal_index` is CornerOutcome::corner. Its distance along the route is that of
// the nearest point of the laid out segments that follow the corner before it.
void AppendCorners(const DrivenPath& path, std::span<const Segment> segments,
                   std::vector<RouteCorner>& corners);

// What the first stop of a path that needs motion planning lacks; the path's first corner is the
// route's `first_corner`.
UndrivableCorner DescribeUndrivable(const DrivenPath& path, double min_turn_radius,
                                    size_t first_corner = 0);

// Puts a turn in front of the segments when the agent, at rest, has another heading than their
// first; names it in the plan when the agent cannot turn in place. True when the agent can start.
bool AddStartTurn(const AgentProfile& agent, const EndMotion& motion, RoutePlan& plan);

// The agent as the rounding of corners sees it.
AgentTurning TurningOf(const AgentProfile& agent);
DrivingLimits DrivingLimitsOf(const AgentProfile& agent, const EndMotion& motion);
RoundingOptions RoundingOptionsOf(const AgentProfile& agent);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_ASSEMBLY_H_
