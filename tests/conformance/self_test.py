# SPDX-License-Identifier: Apache-2.0
"""The judges of the conformance run: a right answer passes, each planted fault fails at the check that is meant for it."""
import math
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "live")]

from conformance import Context, kind_of  # noqa: E402  pylint: disable=wrong-import-position
from float_columns import widen_columns  # noqa: E402  pylint: disable=wrong-import-position
from kinds.corner_rounding import row_passes  # noqa: E402  pylint: disable=wrong-import-position
from kinds.corridor import length_tolerance  # noqa: E402  pylint: disable=wrong-import-position
from max_min_radii import max_min_radii  # noqa: E402  pylint: disable=wrong-import-position
from records import read_records  # noqa: E402  pylint: disable=wrong-import-position
from stubs import Stubs  # noqa: E402  pylint: disable=wrong-import-position

DATA = os.path.join(os.path.dirname(HERE), "data")
STUBS = Stubs()


class NamedNavMeshes:
    """Navmeshes that are named and not published: cases are made here, not sent."""

    @staticmethod
    def of_map(name, _mesh):
        """The name that the map would be published by."""
        return name


def context():
    """A full run beside the project's own records."""
    value = Context(STUBS, NamedNavMeshes(), True)
    value.folder = DATA
    return value


def own(file, name):
    """One of the project's own records."""
    return next(r for r in read_records(os.path.join(DATA, file)) if r["id"] == name)


def answer(path, outcome=STUBS.OUTCOME_COMPLETE, links=()):
    """The response of a stop-and-turn route along `path` in the axes (x, z); segments in `links` are off-mesh links."""
    response = STUBS.PlanCorridorResponse()
    route = response.route
    route.outcome = outcome
    distance = 0.0
    for i, (a, b) in enumerate(zip(path, path[1:])):
        length = math.dist(a, b)
        route.segments.kind.append(STUBS.SEGMENT_KIND_LINK if i in links else STUBS.SEGMENT_KIND_LINE)
        route.segments.start.x.append(a[0])
        route.segments.start.z.append(a[1])
        route.segments.start_distance.append(distance)
        route.segments.heading_rad.append(math.atan2(b[1] - a[1], b[0] - a[0]))
        route.segments.length.append(length)
        distance += length
    route.length = route.shortest_length = distance
    route.verification.tolerance = 1e-6
    return response


def failures(case, response):
    """The quantities of the failed checks."""
    return [check.quantity for check in case.judge(response) if not check.passed]


class CorridorJudgeTest(unittest.TestCase):
    """Records of corridors."""

    def setUp(self):
        record = own("corridors_own.jsonl", "u_turn_round_a_wall")
        self.path = record["shortest_path_xz"]
        self.case = {case.name: case for case in kind_of(record).cases(record, context())}["polygons"]

    def test_right_answer_passes(self):
        """The reference path."""
        self.assertEqual(failures(self.case, answer(self.path)), [])

    def test_corner_moved_by_a_millimetre_fails(self):
        """The length betrays it."""
        moved = [self.path[0], [self.path[1][0] + 0.001, self.path[1][1]], self.path[2]]
        self.assertEqual(failures(self.case, answer(moved)), ["length", "shortest_length"])

    def test_gap_between_segments_fails(self):
        """A segment that starts elsewhere than the one before it ends."""
        response = answer(self.path)
        response.route.segments.start.x[1] += 0.001
        self.assertIn("gap between segments", failures(self.case, response))

    def test_segments_that_do_not_sum_to_the_length_fail(self):
        """A length that no segment accounts for."""
        response = answer(self.path)
        response.route.segments.length[0] -= 0.001
        self.assertIn("sum of segment lengths", failures(self.case, response))

    def test_wrong_outcome_fails(self):
        """PARTIAL for a corridor that is whole."""
        self.assertIn("outcome", failures(self.case, answer(self.path, STUBS.OUTCOME_PARTIAL)))

    def test_failed_verification_fails(self):
        """A deviation above the service's own tolerance."""
        response = answer(self.path)
        response.route.verification.largest_deviation = 1e-3
        self.assertEqual(failures(self.case, response), ["verified deviation"])

    def test_not_a_number_fails(self):
        """NaN never passes a comparison."""
        response = answer(self.path)
        response.route.length = math.nan
        self.assertIn("length", failures(self.case, response))

    def test_tolerances_follow_the_record(self):
        """Exact portals, seams, tile borders and recorded partial portals."""
        self.assertAlmostEqual(length_tolerance(100.0, {}, False), 2e-5, delta=1e-12)
        self.assertEqual(length_tolerance(100.0, {"seam_eps": 0.0005}, False), 0.002)
        self.assertEqual(length_tolerance(100.0, {"partial_portals": 2}, False), 0.002)
        self.assertEqual(length_tolerance(100.0, {"partial_portals": 2}, True), 0.02)
        self.assertEqual(length_tolerance(100.0, {"tile_borders": 1}, True), 0.002)
        self.assertAlmostEqual(length_tolerance(100.0, {"tile_borders": 1}, False), 2e-5, delta=1e-12)


class LinkJudgeTest(unittest.TestCase):
    """Off-mesh links."""

    def setUp(self):
        record = own("corridors_own.jsonl", "link_over_a_gap")
        self.path = record["shortest_path_xz"]
        self.cases = list(kind_of(record).cases(record, context()))

    def test_link_segment_passes(self):
        """Both ends on the route, as a link."""
        for case in self.cases:
            self.assertEqual(failures(case, answer(self.path, links=(1,))), [], case.name)

    def test_link_driven_as_a_line_fails(self):
        """No link segment."""
        self.assertEqual(failures(self.cases[0], answer(self.path)), ["link segments"])

    def test_link_in_the_wrong_place_fails(self):
        """A link segment that is not the link."""
        self.assertIn("link entry", failures(self.cases[0], answer(self.path, links=(0,))))


class MapQueryJudgeTest(unittest.TestCase):
    """Map queries and their exact transformations."""

    def test_transformations_scale_the_reference(self):
        """2^10 times the length, to 1e-9."""
        record = own("queries_dev_own.jsonl", "rooms/2")
        cases = {case.name: case for case in kind_of(record).cases(record, context())}
        # Each corridor under seven transformations with both up axes, and once by reference.
        self.assertEqual(len(cases), 3 * (7 * 2 + 1))
        scaled = [[1024.0 * x for x in p] for p in record["path"]]
        case = cases["optimal/scaled_2^10/Y_up"]
        self.assertEqual(failures(case, answer(scaled)), [])
        scaled[1][0] += 0.01
        self.assertIn("length", failures(case, answer(scaled)))

    def test_offsets_are_exact(self):
        """Offset coordinates, offset again by the origin, keep the length."""
        record = own("queries_dev_own.jsonl", "rooms/4")
        for case in kind_of(record).cases(record, context()):
            if case.name == "optimal/offset/Y_up":
                self.assertEqual(case.request.start.x, 2.0 ** 30 + record["start"][0])
                self.assertEqual(case.request.start.z, -2.0 ** 30 + record["start"][1])
                moved = [[p[0] + 2.0 ** 30, p[1] - 2.0 ** 30] for p in record["path"]]
                self.assertEqual(failures(case, answer(moved)), [])


def stop_turn_answer(expect):
    """The response that a record of stops and turns expects."""
    response = STUBS.PlanWaypointsResponse()
    route = response.route
    route.outcome = STUBS.OUTCOME_COMPLETE
    for angle, turn_time, drive_time in zip(expect["turn_angle"], expect["turn_time"], expect["drive_time"]):
        rows = [(STUBS.SEGMENT_KIND_TURN, STUBS.PHASE_KIND_TURN, turn_time)] if angle else []
        for segment, phase, duration in [*rows, (STUBS.SEGMENT_KIND_LINE, STUBS.PHASE_KIND_CRUISE, drive_time)]:
            route.phases.kind.append(phase)
            route.phases.segment_index.append(len(route.segments.kind))
            route.phases.duration_s.append(duration)
            route.segments.kind.append(segment)
            route.segments.turn_angle_rad.append(angle if segment == STUBS.SEGMENT_KIND_TURN else 0.0)
    route.duration_s = expect["time"]
    return response


class StopTurnJudgeTest(unittest.TestCase):
    """Stop-and-turn plans."""

    def setUp(self):
        record = own("stop_turn_own.jsonl", "square")
        self.expect = record["expect"]
        self.case = next(iter(kind_of(record).cases(record, context())))

    def test_right_answer_passes(self):
        """The expectation itself."""
        self.assertEqual(failures(self.case, stop_turn_answer(self.expect)), [])

    def test_wrong_time_fails(self):
        """A duration off by 1e-6."""
        response = stop_turn_answer(self.expect)
        response.route.duration_s += 1e-6
        self.assertEqual(failures(self.case, response), ["time"])

    def test_missing_turn_fails(self):
        """The first line is driven without turning towards it."""
        response = stop_turn_answer({**self.expect, "turn_angle": [0.0, *self.expect["turn_angle"][1:]]})
        self.assertEqual(failures(self.case, response), ["turn_angle[0]", "turn_time[0]"])

    def test_corner_that_is_driven_through_fails(self):
        """Two lines without a stop are one drive less."""
        response = stop_turn_answer({**self.expect, "drive_time": self.expect["drive_time"][1:]})
        self.assertIn("count of drive_time", failures(self.case, response))


class FloatColumnsTest(unittest.TestCase):
    """Answers whose columns are floats are read as doubles."""

    def test_numbers_and_positions(self):
        """Positions get their origin back; what has no floats stays as it is."""
        response = STUBS.PlanCorridorResponse()
        floats = response.route.samples.floats
        floats.distance.extend([0.0, 0.5])
        floats.position.origin.x = 1e7
        floats.position.x.extend([-0.25, 0.25])
        response.route.corners.floats.radius.append(2.0)
        response.route.corners.kind.append(STUBS.CORNER_KIND_ROUNDED)
        widen_columns(response)
        self.assertEqual(list(response.route.samples.distance), [0.0, 0.5])
        self.assertEqual(list(response.route.samples.position.x), [1e7 - 0.25, 1e7 + 0.25])
        self.assertEqual(list(response.route.corners.radius), [2.0])
        self.assertFalse(response.route.samples.HasField("floats"))
        before = response.SerializeToString(deterministic=True)
        self.assertEqual(widen_columns(response).SerializeToString(deterministic=True), before)


def fillet_answer(record):
    """The response that a record of rounded corners expects, as far as it is judged."""
    response = STUBS.PlanWaypointsResponse()
    route = response.route
    expect = record["expect"]
    route.outcome = STUBS.OUTCOME_COMPLETE
    for i, (angle, radius) in enumerate(zip(expect["turn_angle"], expect["radius_maxmin"])):
        route.corners.portal_index.append(i + 1)
        route.corners.kind.append(STUBS.CORNER_KIND_ROUNDED if radius else STUBS.CORNER_KIND_STOP)
        route.corners.turn_angle_rad.append(angle)
        route.corners.radius.append(radius)
        if radius:
            route.segments.kind.append(STUBS.SEGMENT_KIND_ARC)
            route.segments.curvature.append(math.copysign(1.0 / radius, angle))
    return response


class FilletJudgeTest(unittest.TestCase):
    """Corners rounded by inscribed arcs."""

    @staticmethod
    def cases(name):
        """The record and its cases."""
        record = own("fillet_own.jsonl", name)
        return record, list(kind_of(record).cases(record, context()))

    def test_right_answers_pass(self):
        """The expectations themselves."""
        for name in ("equal_shares_of_a_line", "the_small_wish_is_kept", "one_stop_for_two_conflicts", "the_arc_stays_off_the_pillar"):
            record, cases = self.cases(name)
            self.assertEqual(failures(cases[0], fillet_answer(record)), [], name)

    def test_radii_shrunk_by_one_ratio_fail(self):
        """Both wishes shrunk alike, though the small one could be kept."""
        record, cases = self.cases("the_small_wish_is_kept")
        record["expect"] = {**record["expect"], "radius_maxmin": [0.9 / 1.15, 0.25 / 1.15]}
        self.assertIn("radius 0 by size, own max-min", failures(cases[0], fillet_answer(record)))

    def test_more_stops_than_needed_fail(self):
        """Stops at the outer corners."""
        record, cases = self.cases("one_stop_for_two_conflicts")
        record["expect"] = {**record["expect"], "radius_maxmin": [0.0, 0.75, 0.0]}
        self.assertEqual(failures(cases[0], fillet_answer(record)), ["count of stops"])

    def test_a_stop_for_an_agent_that_cannot_turn_fails(self):
        """COMPLETE instead of NEEDS_MOTION_PLANNING."""
        record, cases = self.cases("no_stop_without_turning_in_place")
        self.assertEqual(failures(cases[0], fillet_answer(record)), ["outcome"])

    def test_arc_through_the_pillar_fails(self):
        """Rounded with a radius that is not contained; a refusal is as good as a stop."""
        _, cases = self.cases("the_arc_stays_off_the_pillar")
        case = next(case for case in cases if case.name == "corner 0 with radius 7.0")
        response = STUBS.PlanWaypointsResponse()
        response.route.outcome = STUBS.OUTCOME_COMPLETE
        response.route.corners.kind.append(STUBS.CORNER_KIND_ROUNDED)
        self.assertEqual(failures(case, response), ["contained"])
        self.assertTrue(case.judge_error("INVALID_ARGUMENT")[0].passed)
        self.assertFalse(case.judge_error("INTERNAL")[0].passed)


class MaxMinRadiiTest(unittest.TestCase):
    """The judge's own radii."""

    def test_shares_of_a_line(self):
        """Equal shares, then what the smaller wish leaves."""
        self.assertEqual(max_min_radii([[(0.0, 1.0)], [(0.0, 1.0)]], [], [1.0, 1.0], [5.0, 1.0, 5.0]), [0.5, 0.5])
        self.assertEqual(max_min_radii([[(0.0, 1.0)], [(0.0, 0.25)]], [], [1.0, 1.0], [5.0, 1.0, 5.0]), [0.75, 0.25])

    def test_a_gap_between_intervals_is_kept(self):
        """Equal shares lie in the gap: above it the smaller of the two radii is larger than below it."""
        radii = max_min_radii([[(0.0, 0.25), (0.75, 1.0)], [(0.0, 1.0)]], [], [1.0, 1.0], [5.0, 1.125, 5.0])
        self.assertEqual(radii, [0.75, 0.375])

    def test_lows_that_do_not_fit(self):
        """Two smallest radii on too short a line."""
        self.assertIsNone(max_min_radii([[(0.6, 1.0)], [(0.6, 1.0)]], [], [1.0, 1.0], [5.0, 1.0, 5.0]))


class CornerRoundingJudgeTest(unittest.TestCase):
    """Corner rounding, by row."""

    def test_either_way_passes(self):
        """Fewest stops in little more than their best time, or the least time without more stops."""
        record = {"best_known_rounded_count": 3, "best_known_rounded_time": 10.0, "best_known_time": 9.0, "best_known_time_stops": 1}
        self.assertTrue(row_passes(record, 10.4, 3, 0, 1.05))
        self.assertFalse(row_passes(record, 10.6, 3, 0, 1.05))
        self.assertFalse(row_passes(record, 10.4, 2, 1, 1.05))
        self.assertTrue(row_passes(record, 9.4, 2, 1, 1.05))
        self.assertFalse(row_passes(record, 9.4, 1, 2, 1.05))


class RecognitionTest(unittest.TestCase):
    """Kinds by fields."""

    def test_kinds(self):
        """Served and unserved kinds."""
        kinds = {
            "corridor": {"start": [], "goal": [], "polygons": [], "portals": []},
            "map query": {"map": "m", "status": "ok", "corridor_optimal": {}},
            "map query without path": {"map": "m", "status": "unreachable", "start": [], "goal": []},
            "stop and turn": {"cat": "stop_turn", "waypoints": []},
            "speed plan": {"cat": "infeasible", "pieces": [], "limits": {}, "v_start": 0},
            "speed plan along a curve": {"cat": "curve", "kappa": [], "cases": []},
            "stopping law": {"cat": "discrete_loop"},
            "fillet": {"waypoints": [], "radius_request": []},
            "spline": {"kind": "bezier", "control": [], "inverse": []},
            "corner rounding": {"best_known_rounded_time": 1, "Rp": 1},
            "navmesh query": {"start_poly": 1, "path": []},
        }
        for name, record in kinds.items():
            self.assertEqual(kind_of(record).name, name)
        self.assertIsNone(kind_of({"something": "else"}))


if __name__ == "__main__":
    unittest.main()
