// SPDX-License-Identifier: Apache-2.0
#include "server/planning/follow/follow_route.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/planning/follow/cell_walls.h"
#include "server/planning/geometry/precision.h"
#include "server/planning/route/braking_trace.h"
#include "server/planning/route/corridor_planner.h"
#include "server/planning/route/route_verification.h"

namespace arclane {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

absl::Status AddSegments(const FollowRouteInput& input, FollowRoute* out) {
  const std::vector<Segment>& segments = input.route->segments;
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    if (segment.kind == SegmentKind::kCurve) {
      return absl::InvalidArgumentError("a route of curve pieces cannot be followed");
    }
    if (segment.kind == SegmentKind::kTurn) {
      if (!out->segments.empty()) out->segments.back().stops_at_end = true;
      continue;
    }
    if (!(segment.length > 0.0)) continue;
    FollowSegment next;
    next.start_distance = segment.start_distance;
    next.length = segment.length;
    next.start = segment.start;
    next.end = segment.end;
    next.heading = segment.heading;
    next.curvature = segment.curvature;
    next.is_arc = segment.kind == SegmentKind::kArc && segment.curvature != 0.0;
    next.direction = next.is_arc ? UnitVector(segment.heading)
                                 : (segment.end - segment.start) * (1.0 / segment.length);
    next.source = static_cast<uint32_t>(i);
    out->segments.push_back(next);
  }
  return absl::OkStatus();
}

void LinkLegs(FollowRoute* out) {
  if (out->segments.empty()) return;
  out->segments.back().stops_at_end = out->end_speed == 0.0;
  uint32_t begin = 0;
  for (size_t i = 0; i < out->segments.size(); ++i) {
    out->segments[i].leg_begin = begin;
    if (out->segments[i].stops_at_end) begin = static_cast<uint32_t>(i + 1);
  }
  double stop = kNever;
  for (size_t i = out->segments.size(); i-- > 0;) {
    FollowSegment& segment = out->segments[i];
    if (segment.stops_at_end) stop = segment.start_distance + segment.length;
    segment.stop_distance = stop;
  }
}

void AddCeilings(const Route& route, FollowRoute* out) {
  out->phases.assign(route.phases.begin(), route.phases.end());
  for (size_t i = 0; i < route.phases.size(); ++i) {
    const SpeedPhase& phase = route.phases[i];
    if (phase.law == SpeedLaw::kDwell || !(phase.length > 0.0)) continue;
    SpeedCeiling ceiling;
    ceiling.begin = phase.start_distance;
    ceiling.end = phase.start_distance + phase.length;
    ceiling.top = std::max(phase.start_speed, phase.end_speed);
    ceiling.end_speed = phase.end_speed;
    ceiling.phase = static_cast<uint32_t>(i);
    if (phase.end_speed < phase.start_speed) {
      if (phase.law == SpeedLaw::kConstantAcceleration) {
        ceiling.kind =
            phase.end_speed > 0.0 ? SpeedCeiling::Kind::kBrake : SpeedCeiling::Kind::kStop;
        ceiling.braking = -phase.acceleration;
      } else {
        ceiling.kind = SpeedCeiling::Kind::kLaw;
      }
    }
    out->ceilings.push_back(ceiling);
  }
}

// Where the route crosses the portals. A braking path that leaves the corridor crosses those that
// it reaches; the others lie behind its end.
absl::Status FindCrossings(const FollowRouteInput& input, FollowRoute* out) {
  std::vector<PortalCrossing> crossings;
  const Corridor& corridor = *input.corridor;
  if (input.outcome == RouteOutcome::kCannotStop || input.outcome == RouteOutcome::kStartOffRoute) {
    TraceInCorridor(corridor, input.route->start, input.route->end, &crossings);
  } else if (input.route->segments.empty()) {
    crossings.assign(corridor.portals.size(), {0.0, corridor.start});
  } else {
    const double allowed =
        std::max(input.deviation_tolerance, kDeviationTolerances * corridor.tolerance);
    const Deviation deviation =
        RouteVerifier().Verify(corridor, input.route->segments, allowed, &crossings);
    if (!(deviation.distance <= allowed)) {
      return absl::InvalidArgumentError("the route does not lie in the corridor");
    }
  }
  for (const PortalCrossing& crossing : crossings) {
    out->portal_distance.push_back(crossing.distance);
    out->portal_crossing.push_back(crossing.point);
  }
  out->portal_distance.resize(corridor.portals.size(), kNever);
  out->portal_crossing.resize(corridor.portals.size(), input.route->end);
  return absl::OkStatus();
}

void Clear(FollowRoute* out) {
  out->tolerance = out->plane_roundoff = 0.0;
  out->segments.clear();
  out->ceilings.clear();
  out->phases.clear();
  out->corner_distance.clear();
  out->portal_distance.clear();
  out->portal_crossing.clear();
  out->portals.clear();
  out->dependencies.clear();
  out->cell_planes.clear();
  out->cell_plane_begin.clear();
  out->walls.clear();
  out->wall_begin.clear();
  out->entry.clear();
  out->exit.clear();
}

}  // namespace

absl::Status BuildFollowRoute(const FollowRouteInput& input, FollowRoute* out) {
  Clear(out);
  const Route& route = *input.route;
  out->version = input.version;
  out->needs_replan = input.outcome != RouteOutcome::kComplete &&
                      input.outcome != RouteOutcome::kGoalSpeedUnreachable;
  out->is_partial = out->needs_replan;
  out->agent = input.agent;
  out->start = route.start;
  out->end = route.end;
  out->length = route.length;
  out->end_speed = 0.0;
  for (const SpeedPhase& phase : route.phases) {
    if (phase.length > 0.0) out->end_speed = phase.end_speed;
  }
  if (absl::Status status = AddSegments(input, out); !status.ok()) return status;
  LinkLegs(out);
  AddCeilings(route, out);
  double magnitude = std::max(std::abs(route.start.x), std::abs(route.start.y));
  for (const FollowSegment& segment : out->segments) {
    magnitude = std::max({magnitude, std::abs(segment.end.x), std::abs(segment.end.y)});
  }
  if (!out->segments.empty()) {
    const FollowSegment& last = out->segments.back();
    out->end_heading = last.heading + last.curvature * last.length;
  }
  out->roundoff = magnitude * std::numeric_limits<double>::epsilon();
  out->arrival_tolerance =
      std::max(input.agent.corner_distance_tolerance, kArrivalRoundings * out->roundoff);
  const SpeedLimits& limits = input.agent.profile.limits;
  const double braking = 0.5 * limits.max_speed * limits.max_speed / limits.max_braking;
  out->off_route_distance =
      std::max({2.0 * input.agent.profile.radius, 10.0 * out->arrival_tolerance, braking});
  for (const RouteCorner& corner : input.corners) out->corner_distance.push_back(corner.distance);

  if (input.corridor == nullptr || input.corridor->cell_vertices.empty()) {
    return absl::OkStatus();
  }
  out->portals = input.corridor->portals;
  if (absl::Status status = FindCrossings(input, out); !status.ok()) return status;
  out->tolerance = std::max({kDeviationTolerances * input.corridor->tolerance,
                             input.deviation_tolerance, kArrivalRoundings * out->roundoff});
  for (const Vec2 v : input.corridor->cell_vertices) {
    magnitude = std::max({magnitude, std::abs(v.x), std::abs(v.y)});
  }
  out->plane_roundoff = kPlaneRoundings * magnitude * std::numeric_limits<double>::epsilon();
  AddCellWalls(*input.corridor, out);
  for (const FollowDependency& dependency : input.dependencies) {
    if (dependency.portal > out->portals.size()) {
      return absl::InvalidArgumentError("a dependency names a portal that the corridor lacks");
    }
    out->dependencies.push_back(dependency);
  }
  return absl::OkStatus();
}

}  // namespace arclane
