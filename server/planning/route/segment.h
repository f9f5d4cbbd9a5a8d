// SPDX-License-Identifier: Apache-2.0
// The geometry of a driven route: lines, arcs, curve pieces, links and turns in place, joined end
// to end.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_SEGMENT_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_SEGMENT_H_

#include <cstdint>

#include "server/planning/geometry/vec2.h"

namespace arclane {

enum class SegmentKind : uint8_t {
  kLine,
  kArc,
  kCurve,
  kTurn,  // A change of heading at rest; length 0.
  kLink,  // The straight stretch of an off-mesh link.
};

struct Segment {
  SegmentKind kind = SegmentKind::kLine;
  double start_distance = 0.0;  // Horizontal distance along the route.
  double length = 0.0;          // Horizontal; 0 for turns.
  Vec2 start;
  Vec2 end;                 // Exactly the next segment's start.
  double heading = 0.0;     // Of travel at the start, radians in (-pi, pi].
  double curvature = 0.0;   // Signed, positive to the left; 0 but for arcs.
  double turn_angle = 0.0;  // Change of heading over the segment, radians, positive to the left.
};

// An angle brought to (-pi, pi].
double WrapAngle(double angle);

// A line, or a link, from `start` to `end`. Heading 0 when they are equal.
Segment MakeLine(SegmentKind kind, Vec2 start, Vec2 end);
// An arc of signed `curvature` != 0 and `length` >= 0. `end` is where the neighbour starts; it may
// differ from the arc's own end by rounding only.
Segment MakeArc(Vec2 start, double heading, double curvature, double length, Vec2 end);
// A turn in place by `angle`.
Segment MakeTurn(Vec2 at, double heading_before, double angle);

// The point at `offset` in [0, length] behind the segment's start: exact at both ends. For lines,
// arcs, links and turns.
Vec2 PointAt(const Segment& segment, double offset);
// Heading of travel there, in (-pi, pi]. For a turn: the heading before it.
double HeadingAt(const Segment& segment, double offset);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_SEGMENT_H_
