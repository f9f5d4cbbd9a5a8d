// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/start_join.h"

#include <cmath>
#include <numbers>
#include <optional>

namespace arclane {
namespace {

// A circle that is driven around: centre and signed radius, positive to the left; 0 is a point.
struct Disc {
  Vec2 centre;
  double radius = 0.0;

  // Where it is left, or entered, along a direction.
  Vec2 At(Vec2 direction) const { return centre - LeftNormal(direction) * radius; }
};

// The direction of the line that leaves `from` and enters `to`. With a = the line's length and
// k = to.radius - from.radius the way between the centres is a d + k n, n being the left normal of
// d; as complex numbers d = w / (a + i k).
std::optional<Vec2> TangentBetween(const Disc& from, const Disc& to) {
  const Vec2 w = to.centre - from.centre;
  const double squared = SquaredNorm(w);
  const double k = to.radius - from.radius;
  const double a_squared = squared - k * k;
  if (!(a_squared > 0.0)) return std::nullopt;
  const double a = std::sqrt(a_squared);
  const Vec2 d{(w.x * a + w.y * k) / squared, (w.y * a - w.x * k) / squared};
  return d * (1.0 / Norm(d));
}

// The turn from one direction to another to the side of `sign`, in [0, 2 pi).
double TurnTo(Vec2 from, Vec2 to, double sign) {
  const double turn = TurnAngle(from, to) * sign;
  return turn < 0.0 ? turn + 2.0 * std::numbers::pi : turn;
}

}  // namespace

bool JoinStart(Vec2 direction, double radius, std::vector<Segment>& segments) {
  if (segments.empty() || segments[0].kind != SegmentKind::kLine || !(segments[0].length > 0.0))
    return false;
  const Segment& first = segments[0];
  const double side = Cross(direction, first.end - first.start) >= 0.0 ? 1.0 : -1.0;
  const Disc start{first.start + LeftNormal(direction) * (side * radius), side * radius};
  Disc next{first.end, 0.0};
  const bool has_next = segments.size() > 1;
  const bool enters_arc = has_next && segments[1].kind == SegmentKind::kArc;
  if (enters_arc) {
    const Segment& arc = segments[1];
    next.radius = 1.0 / arc.curvature;
    next.centre = arc.start + LeftNormal(UnitVector(arc.heading)) * next.radius;
  } else if (has_next && segments[1].kind != SegmentKind::kTurn) {
    return false;
  }
  const std::optional<Vec2> along = TangentBetween(start, next);
  if (!along) return false;
  const double turn = TurnTo(direction, *along, side);
  if (!(turn > 0.0 && turn < std::numbers::pi)) return false;
  const Vec2 leaves = start.At(*along);
  const Vec2 enters = enters_arc ? next.At(*along) : first.end;

  Segment line = MakeLine(SegmentKind::kLine, leaves, enters);
  if (!(line.length > 0.0)) return false;
  if (enters_arc) {
    Segment& arc = segments[1];
    const double sign = arc.curvature > 0.0 ? 1.0 : -1.0;
    const double rest = TurnTo(*along, UnitVector(arc.heading + arc.turn_angle), sign);
    if (!(rest > 0.0 && rest < std::numbers::pi)) return false;
    arc = MakeArc(enters, line.heading, arc.curvature, rest / std::abs(arc.curvature), arc.end);
  } else if (has_next) {
    Segment& stop = segments[1];
    const double after = WrapAngle(stop.heading + stop.turn_angle);
    stop = MakeTurn(stop.start, line.heading, WrapAngle(after - line.heading));
  }
  const Segment arc =
      MakeArc(first.start, Heading(direction), side / radius, turn * radius, leaves);
  segments[0] = line;
  segments.insert(segments.begin(), arc);
  return true;
}

}  // namespace arclane
