# SPDX-License-Identifier: Apache-2.0
"""PlanCorridor requests from plane coordinates, and what every answer must satisfy whatever was asked."""
import math

from checks import at_most, equal, near

# The columns that carry the horizontal plane and the one of the heights, by up axis.
_PLANE = {"X": ("y", "z", "x"), "Y": ("x", "z", "y"), "Z": ("x", "y", "z")}


class Axes:
    """Writes plane coordinates and heights into the columns of an up axis, and reads them back."""

    def __init__(self, stubs, up):
        self.first, self.second, self.height = _PLANE[up]
        self.up_axis = getattr(stubs, f"UP_AXIS_{up}")

    def set_point(self, point, p, height=0.0):
        """Fills a Point."""
        setattr(point, self.first, p[0])
        setattr(point, self.second, p[1])
        setattr(point, self.height, height)

    def extend(self, columns, points, heights=None):
        """Appends points (and heights) to PointColumns."""
        getattr(columns, self.first).extend([p[0] for p in points])
        getattr(columns, self.second).extend([p[1] for p in points])
        if heights is not None:
            getattr(columns, self.height).extend(heights)

    def points(self, columns):
        """The plane coordinates of PointColumns."""
        return list(zip(getattr(columns, self.first), getattr(columns, self.second)))

    def point(self, point):
        """The plane coordinates of a Point."""
        return getattr(point, self.first), getattr(point, self.second)


def new_request(stubs, axes, source):
    """A request for an agent that stops and turns at every corner, without start, goal and corridor."""
    request = stubs.PlanCorridorRequest()
    request.frame.up_axis = axes.up_axis
    request.frame.source = source
    limits = request.agent.limits
    limits.max_speed = 6.0
    limits.max_acceleration = 3.0
    limits.max_braking = 4.0
    return request


def whole_route(stubs, axes, request, response, outcome):
    """Checks of any stop-and-turn answer: its outcome, that the segments join up from start to goal, that their
    lengths sum to the length, and that the service's own verification is within its tolerance."""
    route = response.route
    checks = [equal("outcome", stubs.Outcome.Name(route.outcome), stubs.Outcome.Name(outcome))]
    if not checks[0].passed:
        return checks
    start, goal = axes.point(request.start), axes.point(request.goal)
    size = max(map(abs, (*start, *goal, route.length)))
    rounding = 1e-9 * size
    segments = route.segments
    starts = axes.points(segments.start)
    total = math.fsum(segments.length)
    checks.append(near("sum of segment lengths", total, route.length, 1e-9 * max(route.length, total) + 1e-12 * size))
    # Line by line: the end that a segment's heading and length lead to is where the next one starts.
    ends = []
    for kind, p, heading, length in zip(segments.kind, starts, segments.heading_rad, segments.length):
        moves = kind in (stubs.SEGMENT_KIND_LINE, stubs.SEGMENT_KIND_LINK)
        ends.append((p[0] + length * math.cos(heading), p[1] + length * math.sin(heading)) if moves else p)
    gap = max((math.dist(a, b) for a, b in zip(ends, starts[1:])), default=0.0)
    checks.append(at_most("gap between segments", gap, 0.0, rounding))
    if starts:
        checks.append(at_most("start of the route", math.dist(starts[0], start), route.start_shift, rounding))
        checks.append(at_most("end of the route", math.dist(ends[-1], goal), route.goal_shift, rounding))
    verification = route.verification
    checks.append(at_most("verified deviation", verification.largest_deviation, verification.tolerance))
    return checks
