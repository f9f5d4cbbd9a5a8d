# SPDX-License-Identifier: Apache-2.0
"""Corners rounded by inscribed arcs: PlanWaypoints with radii. The least number of stops and whether motion planning is needed are
exact, of several stop sets the chosen one has the lexicographically largest radii, radii and times agree to 1e-9, and every row of
`containment` is asked for itself."""
import math

from checks import Case, Kind, at_most, equal, near
from max_min_radii import larger, max_min_radii
from records import number
from waypoints_request import new_waypoints_request, set_containment, stops_of

RELATIVE_TOLERANCE = 1e-9
LIMITS = {"max_speed": 6.0, "max_acceleration": 3.0, "max_braking": 4.0, "max_lateral_acceleration": 4.0}
# A line that is lengthened for an arc ends this part beyond it, so that the arc fits despite rounding.
BEYOND_TANGENT = 1e-9


class FilletKind(Kind):
    """fillet_*: PlanWaypoints."""
    name = "fillet"

    def matches(self, record):
        return "waypoints" in record and "radius_request" in record

    def matches_file(self, file_name):
        return file_name.startswith("fillet_")

    def cases(self, record, context):
        for up in "ZY":
            yield Case(f"{up}_up", "PlanWaypoints", self._request(context.stubs, up, record), self._judge(context.stubs, record))
        for row in record["expect"].get("containment", []):
            yield self._row_case(context.stubs, record, row)

    @staticmethod
    def _request(stubs, up, record):
        request = new_waypoints_request(stubs, up, record["waypoints"])
        for limit, value in LIMITS.items():
            setattr(request.agent.limits, limit, value)
        request.radius.extend(number(r) for r in record["radius_request"])
        request.agent.body.min_turn_radius = number(record["radius_min"])
        request.agent.body.can_turn_in_place = record["can_turn_in_place"]
        if record["polygons"] is not None:
            set_containment(stubs, up, request, record["polygons"])
        return request

    def _judge(self, stubs, record):
        expect = record["expect"]

        def judge(response):
            route = response.route
            outcome = "COMPLETE" if expect["status"] == "OK" else expect["status"]
            checks = [equal("outcome", stubs.Outcome.Name(route.outcome), f"OUTCOME_{outcome}")]
            if not checks[0].passed:
                return checks
            stops = stops_of(stubs, route)
            checks.append(equal("count of stops", len(stops), expect["min_stops"]))
            checks.append(equal("count of corners", len(route.corners.kind), len(expect["turn_angle"])))
            if not all(check.passed for check in checks):
                return checks
            for i, (a, b) in enumerate(zip(route.corners.turn_angle_rad, expect["turn_angle"])):
                checks.append(near(f"turn angle {i}", math.remainder(a - b, 2.0 * math.pi), 0.0, RELATIVE_TOLERANCE))
            if expect["status"] != "OK":
                return checks + [equal("blocked corner is a stop", route.blocked.corner_index in stops, True)]
            return checks + self._radii(route, stops, record) + self._arcs(stubs, route)
        return judge

    @staticmethod
    def _radii(route, stops, record):
        """The stop set is the best one and its radii are its own max-min; the reference's numbers hold for the reference's set."""
        expect = record["expect"]
        least = number(record["radius_min"])
        allowed = expect.get("radius_feasible_intervals") or [[[0.0, cap]] for cap in expect["radius_cap"]]
        allowed = [[(max(low, least), high) for low, high in intervals if high >= least and high > 0.0] for intervals in allowed]
        tan_half = [math.inf if k is None else k for k in expect["tan_half"]]
        own = max_min_radii(allowed, stops, tan_half, expect["segment_length"])
        checks = [equal("a stop set that can be driven", own is not None, True)]
        if own is None:
            return checks
        for other in expect["stop_sets"]:
            radii = max_min_radii(allowed, other, tan_half, expect["segment_length"])
            if radii is None or other == stops:
                continue
            better = larger(radii, own) or (not larger(own, radii) and other < stops)
            checks.append(equal(f"stops at {other} are better than at {stops}", better, False))
        # By size: where intervals have gaps, two corners can share a line in two ways that are equally good.
        for i, (a, b) in enumerate(zip(sorted(route.corners.radius), sorted(own))):
            checks.append(near(f"radius {i} by size, own max-min", a, b, RELATIVE_TOLERANCE * max(1.0, b)))
        if stops == expect["stop_corners_used"]:
            for i, (a, b) in enumerate(zip(route.corners.radius, expect["radius_maxmin"])):
                checks.append(near(f"radius {i}", a, b, RELATIVE_TOLERANCE * max(1.0, b)))
            if "time_maxmin" in expect:
                checks.append(near("time_maxmin", route.duration_s, expect["time_maxmin"],
                                   RELATIVE_TOLERANCE * expect["time_maxmin"]))
        return checks

    @staticmethod
    def _arcs(stubs, route):
        """The arcs that are driven are those that the corners name."""
        named = [r for r, kind in zip(route.corners.radius, route.corners.kind) if kind == stubs.CORNER_KIND_ROUNDED]
        driven = [1.0 / abs(c) for c, kind in zip(route.segments.curvature, route.segments.kind) if kind == stubs.SEGMENT_KIND_ARC]
        checks = [equal("count of arcs", len(driven), len(named))]
        checks += [near(f"radius of arc {i}", a, b, 1e-12 * b) for i, (a, b) in enumerate(zip(driven, named))]
        return checks + [near("sum of lengths", math.fsum(route.segments.length), route.length, RELATIVE_TOLERANCE * route.length)]

    @staticmethod
    def _row_case(stubs, record, row):
        """One corner with that one radius: its neighbours' lines are long enough, and no smaller radius will do."""
        i, radius = row["corner"], number(row["radius"])
        before, corner, behind = record["waypoints"][i:i + 3]
        trim = radius * record["expect"]["tan_half"][i] * (1.0 + BEYOND_TANGENT)

        def reach(end):
            length = math.dist(corner, end)
            factor = max(1.0, trim / length)
            return [c + factor * (e - c) for c, e in zip(corner, end)] if factor > 1.0 else end

        request = new_waypoints_request(stubs, "Z", [reach(before), corner, reach(behind)])
        for limit, value in LIMITS.items():
            setattr(request.agent.limits, limit, value)
        request.radius.append(radius)
        request.agent.body.min_turn_radius = radius
        set_containment(stubs, "Z", request, record["polygons"])

        def judge(response):
            route = response.route
            checks = [equal("outcome", stubs.Outcome.Name(route.outcome), "OUTCOME_COMPLETE"),
                      equal("contained", list(route.corners.kind) == [stubs.CORNER_KIND_ROUNDED], row["contained"])]
            if row["contained"] and checks[1].passed:
                checks.append(at_most("radius", abs(route.corners.radius[0] - radius), 0.0, RELATIVE_TOLERANCE * radius))
            return checks

        def judge_error(code):
            # A tangent point outside the polygons is refused as a line that leaves them.
            return [equal("contained", False if code == "INVALID_ARGUMENT" else code, row["contained"])]

        return Case(f"corner {i} with radius {radius}", "PlanWaypoints", request, judge, judge_error)
