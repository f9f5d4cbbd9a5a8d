// SPDX-License-Identifier: Apache-2.0
#include "server/planning/follow/route_cursor.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace arclane {
namespace {

struct Projection {
  double offset = 0.0;     // Unclamped.
  double deviation = 0.0;  // Where the offset lies on the segment.
};

// `near` chooses among the turns of an arc that is longer than a half circle.
Projection Project(const FollowSegment& segment, Vec2 p, double near) {
  const Vec2 r = p - segment.start;
  if (!segment.is_arc) {
    return {Dot(r, segment.direction), std::abs(Cross(segment.direction, r))};
  }
  const double radius = 1.0 / segment.curvature;  // Signed.
  const Vec2 from_centre = r - LeftNormal(segment.direction) * radius;
  // The start lies at -LeftNormal(direction) * radius from the centre.
  const double along = Dot(from_centre, segment.direction);
  const double across = -Dot(from_centre, LeftNormal(segment.direction));
  const double turned = radius > 0.0 ? std::atan2(along, across) : std::atan2(along, -across);
  const double magnitude = std::abs(radius);
  double offset = turned * magnitude;
  const double circle = 2.0 * std::numbers::pi * magnitude;
  if (std::abs(offset - near) > 0.5 * circle)
    offset += circle * std::round((near - offset) / circle);
  return {offset, std::abs(Norm(from_centre) - magnitude)};
}

// Moves the cursor on to the first place where the distance from p no longer falls.
double Descend(const FollowRoute& route, Vec2 p, double budget, RouteCursor* cursor) {
  bool went_forward = false;
  for (;;) {
    const FollowSegment& segment = route.segments[cursor->segment];
    const Projection projection = Project(segment, p, cursor->offset);
    const double reach = cursor->offset + budget;
    if (projection.offset > segment.length && reach > segment.length) {
      budget -= segment.length - cursor->offset;
      cursor->offset = segment.length;
      if (segment.stops_at_end || cursor->segment + 1 == route.segments.size()) {
        return Distance(p, segment.end);
      }
      ++cursor->segment;
      cursor->offset = 0.0;
      went_forward = true;
      continue;
    }
    if (projection.offset < 0.0) {
      cursor->offset = 0.0;
      if (went_forward || cursor->segment == segment.leg_begin) return Distance(p, segment.start);
      --cursor->segment;
      cursor->offset = route.segments[cursor->segment].length;
      budget = 0.0;  // Backward from here on.
      continue;
    }
    if (projection.offset <= std::min(reach, segment.length)) {
      cursor->offset = projection.offset;
      return projection.deviation;
    }
    cursor->offset = std::min(reach, segment.length);
    return Distance(p, PointOn(segment, cursor->offset));
  }
}

// A place behind the next turns that is nearer to p by this factor is where the agent is: a step
// may be longer than all of a hairpin, on whose way the distance rises first.
constexpr double kNearer = 0.5;

// Looks for one in the segments behind the cursor's, as far as `room` reaches and the next stop.
double LookBehindTurns(const FollowRoute& route, Vec2 p, double deviation, double room,
                       RouteCursor* cursor) {
  const RouteCursor from = *cursor;
  double least = kNearer * deviation;
  room -= route.segments[from.segment].length - from.offset;
  for (uint32_t i = from.segment;
       room > 0.0 && !route.segments[i].stops_at_end && i + 1 < route.segments.size();) {
    const FollowSegment& segment = route.segments[++i];
    const double offset =
        std::clamp(Project(segment, p, 0.0).offset, 0.0, std::min(segment.length, room));
    const double distance = Distance(p, PointOn(segment, offset));
    if (distance < least) {
      least = deviation = distance;
      *cursor = {i, offset};
    }
    room -= segment.length;
  }
  return deviation;
}

}  // namespace

double SweepTo(const FollowRoute& route, Vec2 p, double moved, RouteCursor* cursor) {
  const double roundoff = kArrivalRoundings * route.roundoff;
  const double budget = kSweepFactor * moved + roundoff;
  const double begin = cursor->distance(route);
  const double deviation = Descend(route, p, budget, cursor);
  if (deviation <= roundoff) return deviation;
  const double room = begin + budget - cursor->distance(route);
  return LookBehindTurns(route, p, deviation, room, cursor);
}

}  // namespace arclane
