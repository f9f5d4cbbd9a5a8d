// SPDX-License-Identifier: Apache-2.0
// A place on a route, and how it moves: by projection, and ahead along the route.
#ifndef ARCLANE_SERVER_PLANNING_FOLLOW_ROUTE_CURSOR_H_
#define ARCLANE_SERVER_PLANNING_FOLLOW_ROUTE_CURSOR_H_

#include <cstdint>

#include "server/planning/follow/follow_route.h"
#include "server/planning/follow/segment_point.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// Preconditions everywhere: the route has segments.
struct RouteCursor {
  uint32_t segment = 0;
  double offset = 0.0;  // In [0, length].

  double distance(const FollowRoute& route) const {
    return route.segments[segment].start_distance + offset;
  }
};

inline Vec2 PointAt(const FollowRoute& route, const RouteCursor& cursor) {
  return PointOn(route.segments[cursor.segment], cursor.offset);
}

// Moves the cursor to where p projects, segment by segment, and returns p's distance from there.
// Never past a stop in either direction, and not farther forward than kSweepFactor * moved.
double SweepTo(const FollowRoute& route, Vec2 p, double moved, RouteCursor* cursor);

// The distance swept along an arc from inside it grows with R / (R - e); twice the distance moved
// covers agents as far as half a radius beside it.
inline constexpr double kSweepFactor = 2.0;

// The cursor `distance` >= 0 ahead, at most at the next stop, or at the route's end.
inline RouteCursor Ahead(const FollowRoute& route, RouteCursor cursor, double distance) {
  cursor.offset += distance;
  for (;;) {
    const FollowSegment& segment = route.segments[cursor.segment];
    if (cursor.offset <= segment.length) return cursor;
    if (segment.stops_at_end || cursor.segment + 1 == route.segments.size()) {
      cursor.offset = segment.length;
      return cursor;
    }
    cursor.offset -= segment.length;
    ++cursor.segment;
  }
}

// The same past stops.
inline RouteCursor AheadPastStops(const FollowRoute& route, RouteCursor cursor, double distance) {
  cursor.offset += distance;
  for (;;) {
    const double length = route.segments[cursor.segment].length;
    if (cursor.offset <= length) return cursor;
    if (cursor.segment + 1 == route.segments.size()) {
      cursor.offset = length;
      return cursor;
    }
    cursor.offset -= length;
    ++cursor.segment;
  }
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_FOLLOW_ROUTE_CURSOR_H_
