# SPDX-License-Identifier: Apache-2.0
"""How well corners are rounded: PlanCorridor for an agent with a turn radius, on corridors that records of other files hold.

A row passes when it rounds as many corners as the best known result in at most 1.05 of its time, or takes at most 1.05 of the best known
time without more stops. Over a file, 95% of the rows must also hold at 1.02, and the sum of times may be 1% above the best known.
"""
import json
import math
import os

from checks import Case, Kind, at_most, equal
from corridor_request import Axes, new_request
from kinds.corridor import Geometry, heights, plane
from records import read_records, read_text

LIMITS = {"max_speed": 6.0, "max_acceleration": 3.0, "max_braking": 4.0, "max_lateral_acceleration": 4.0}
WORK_BUDGET_S = 0.02
COUNTED_ANGLE_RAD = math.radians(5.0)
DEFAULT_EXTRA_LENGTH = 0.05
ROW_FACTOR, TIGHT_FACTOR, TIGHT_SHARE, SUM_FACTOR = 1.05, 1.02, 0.95, 1.01


def row_passes(record, time_s, rounded, stops, factor):
    """The judgement of a row at a factor of the best known times."""
    fewest_stops = rounded >= record["best_known_rounded_count"] and time_s <= factor * record["best_known_rounded_time"]
    least_time = time_s <= factor * record["best_known_time"] and stops <= record["best_known_time_stops"]
    return fewest_stops or least_time


class CornerRoundingKind(Kind):
    """corners_*: PlanCorridor."""
    name = "corner rounding"

    def __init__(self):
        self._corridors, self._queries, self._meshes = {}, {}, {}
        self._rows = []

    def matches(self, record):
        return "best_known_rounded_time" in record and "Rp" in record

    def matches_file(self, file_name):
        return file_name.startswith("corners_")

    def cases(self, record, context):
        stubs = context.stubs
        for name, extra_length in (("unbounded_length", math.inf), ("default_length", None)):
            request = self._request(stubs, record["id"], context.folder)
            for limit, value in LIMITS.items():
                setattr(request.agent.limits, limit, value)
            request.agent.body.max_turn_radius = record["Rp"]
            request.agent.body.min_turn_radius = record["Rmin"]
            manners = request.agent.manners
            if extra_length is not None:
                manners.max_extra_length = extra_length
                manners.corner_work_budget_s = WORK_BUDGET_S
            yield Case(name, "PlanCorridor", request, self._judge(stubs, record, bounded=extra_length is None))

    def _judge(self, stubs, record, bounded):
        def judge(response):
            route = response.route
            checks = [equal("outcome", stubs.Outcome.Name(route.outcome), "OUTCOME_COMPLETE")]
            if not checks[0].passed:
                return checks
            verification = route.verification
            checks.append(at_most("verified deviation", verification.largest_deviation, verification.tolerance))
            if bounded:
                longest = (1.0 + DEFAULT_EXTRA_LENGTH) * route.shortest_length
                return checks + [at_most("length", route.length, longest, 1e-9 * longest)]
            counted = sum(kind == stubs.CORNER_KIND_STOP and abs(angle) > COUNTED_ANGLE_RAD
                          for kind, angle in zip(route.corners.kind, route.corners.turn_angle_rad))
            stops = sum(kind == stubs.CORNER_KIND_STOP for kind in route.corners.kind)
            rounded = record["corners_total"] - counted
            self._rows.append((record, route.duration_s, rounded, stops))
            best = record["best_known_rounded_time"]
            time = at_most("time", route.duration_s, best, (ROW_FACTOR - 1.0) * best)
            time.quantity = f"time with {rounded} of {record['best_known_rounded_count']} corners rounded and {stops} stops"
            time.passed = row_passes(record, route.duration_s, rounded, stops, ROW_FACTOR)
            return checks + [time]
        return judge

    def end_file(self):
        rows, self._rows = self._rows, []
        if not rows:
            return []
        problems = []
        tight = sum(row_passes(*row, TIGHT_FACTOR) for row in rows) / len(rows)
        if tight < TIGHT_SHARE:
            problems.append(f"only {tight:.1%} of {len(rows)} rows hold at {TIGHT_FACTOR}, {TIGHT_SHARE:.0%} are asked")
        ratio = math.fsum(row[1] for row in rows) / math.fsum(row[0]["best_known_rounded_time"] for row in rows)
        if ratio > SUM_FACTOR:
            problems.append(f"the sum of times is {ratio:.4f} of the best known, {SUM_FACTOR} is asked")
        return problems

    def _request(self, stubs, record_id, folder):
        """The request for the corridor that the id names."""
        if ":" in record_id:
            map_name, query_id = record_id.split(":", 1)
            return self._map_request(stubs, map_name, query_id, os.path.join(folder, "..", "maps"))
        return self._detour_request(stubs, record_id, os.path.join(folder, "..", "detour"))

    def _detour_request(self, stubs, record_id, folder):
        if folder not in self._corridors:
            self._corridors[folder] = _index(folder, "corridors")
        record = self._corridors[folder][record_id]
        geometry = Geometry(record)
        axes = Axes(stubs, "Y")
        request = new_request(stubs, axes, stubs.COORDINATE_SOURCE_FLOAT32)
        axes.set_point(request.start, plane(geometry.start), geometry.start[1])
        axes.set_point(request.goal, plane(geometry.goal), geometry.goal[1])
        polygons = request.corridor.polygons
        for polygon in geometry.polygons:
            axes.extend(polygons.vertices, [plane(v) for v in polygon], heights(polygon))
            polygons.vertex_count.append(len(polygon))
        return request

    def _map_request(self, stubs, map_name, query_id, folder):
        if folder not in self._queries:
            self._queries[folder] = _index(folder, "queries")
        if map_name not in self._meshes:
            self._meshes[map_name] = json.loads(read_text(os.path.join(folder, "meshes", f"{map_name}.json.gz")))
        record, mesh = self._queries[folder][query_id], self._meshes[map_name]
        axes = Axes(stubs, "Z")
        request = new_request(stubs, axes, stubs.COORDINATE_SOURCE_FLOAT64)
        axes.set_point(request.start, record["start"])
        axes.set_point(request.goal, record["goal"])
        cells = [[mesh["vertices"][v] for v in mesh["polygons"][k]] for k in record["corridor_optimal"]["polygons"]]
        polygons = request.corridor.polygons
        polygons.vertex_count.extend(map(len, cells))
        axes.extend(polygons.vertices, [v for cell in cells for v in cell])
        return request


def _index(folder, prefix):
    """Every record of the folder's files of a prefix, by id."""
    names = sorted(name for name in os.listdir(folder) if name.startswith(prefix) and ".jsonl" in name)
    return {str(record["id"]): record for name in names for record in read_records(os.path.join(folder, name))}
