// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/segment.h"

#include <cmath>
#include <numbers>

namespace arclane {

double WrapAngle(double angle) {
  constexpr double kPi = std::numbers::pi;
  if (angle > -kPi && angle <= kPi) return angle;
  const double wrapped = std::remainder(angle, 2.0 * kPi);
  return wrapped <= -kPi ? wrapped + 2.0 * kPi : wrapped;
}

Segment MakeLine(SegmentKind kind, Vec2 start, Vec2 end) {
  Segment segment;
  segment.kind = kind;
  segment.start = start;
  segment.end = end;
  segment.length = Distance(start, end);
  segment.heading = Heading(end - start);
  return segment;
}

Segment MakeArc(Vec2 start, double heading, double curvature, double length, Vec2 end) {
  Segment segment;
  segment.kind = SegmentKind::kArc;
  segment.start = start;
  segment.end = end;
  segment.length = length;
  segment.heading = WrapAngle(heading);
  segment.curvature = curvature;
  segment.turn_angle = curvature * length;
  return segment;
}

Segment MakeTurn(Vec2 at, double heading_before, double angle) {
  Segment segment;
  segment.kind = SegmentKind::kTurn;
  segment.start = at;
  segment.end = at;
  segment.heading = WrapAngle(heading_before);
  segment.turn_angle = angle;
  return segment;
}

Vec2 PointAt(const Segment& segment, double offset) {
  if (offset <= 0.0) return segment.start;
  if (offset >= segment.length) return segment.end;
  if (segment.kind != SegmentKind::kArc) {
    return Lerp(segment.start, segment.end, offset / segment.length);
  }
  // The chord of an arc: length 2 sin(phi / 2) / curvature at the heading half-way.
  const double half = 0.5 * segment.curvature * offset;
  const double chord = half == 0.0 ? offset : offset * (std::sin(half) / half);
  return segment.start + chord * UnitVector(segment.heading + half);
}

double HeadingAt(const Segment& segment, double offset) {
  if (segment.curvature == 0.0) return segment.heading;
  return WrapAngle(segment.heading + segment.curvature * offset);
}

}  // namespace arclane
