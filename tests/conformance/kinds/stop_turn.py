# SPDX-License-Identifier: Apache-2.0
"""Stop-and-turn plans over waypoints: PlanWaypoints with radius 0 for a body that turns before it moves. Turn angles, turn
times, drive times and the time to 1e-9."""
import math

from checks import Case, Check, Kind, equal, near
from records import number
from waypoints_request import new_waypoints_request

RELATIVE_TOLERANCE = 1e-9


def _columns_near(quantity, measured, reference, scale):
    """Equal lengths, and the worst element within the tolerance of a scale."""
    if len(measured) != len(reference):
        return equal(f"count of {quantity}", len(measured), len(reference))
    worst = Check(quantity, None, None, RELATIVE_TOLERANCE, True)
    for i, (a, b) in enumerate(zip(measured, reference)):
        check = near(f"{quantity}[{i}]", a, b, RELATIVE_TOLERANCE * scale)
        if worst.measured is None or (not check.passed, check.excess) > (not worst.passed, worst.excess):
            worst = check
    return worst


def legs_of(stubs, route):
    """(turn angle, turn time, drive time) of every line of a route, its turn being the one in front of it."""
    time_in = {}
    for kind, segment, duration in zip(route.phases.kind, route.phases.segment_index, route.phases.duration_s):
        turns = kind == stubs.PHASE_KIND_TURN
        time_in[segment, turns] = time_in.get((segment, turns), 0.0) + duration
    legs, turn = [], (0.0, 0.0)
    for i, kind in enumerate(route.segments.kind):
        if kind == stubs.SEGMENT_KIND_TURN:
            turn = (route.segments.turn_angle_rad[i], time_in.get((i, True), 0.0))
        else:
            legs.append((*turn, time_in.get((i, False), 0.0)))
            turn = (0.0, 0.0)
    return legs


def same_turn(angle, reference):
    """The angle, or that of the other direction where it is half a turn from the reference's side."""
    return angle + 2.0 * math.pi * round((reference - angle) / (2.0 * math.pi))


class StopTurnKind(Kind):
    """stop_turn_*: PlanWaypoints."""
    name = "stop and turn"

    def matches(self, record):
        return record.get("cat") == "stop_turn"

    def matches_file(self, file_name):
        return file_name.startswith("stop_turn")

    def cases(self, record, context):
        for up in "ZY":
            yield Case(f"{up}_up", "PlanWaypoints", self._request(context.stubs, up, record),
                       self._judge(context.stubs, record["expect"]),
                       lambda code: [equal("status", code, record["expect"]["status"])])

    @staticmethod
    def _request(stubs, up, record):
        request = new_waypoints_request(stubs, up, record["waypoints"])
        request.radius.append(0.0)
        limits = record["limits"]
        request.agent.limits.max_speed = number(limits["v_max"])
        request.agent.limits.max_acceleration = number(limits["a_accel"])
        request.agent.limits.max_braking = number(limits["a_brake"])
        request.agent.limits.max_angular_speed = number(limits["omega_max"])
        request.agent.manners.heading_tolerance_rad = number(limits["heading_tol"])
        request.agent.manners.turn_before_move = True
        if record["heading0"] is not None:
            request.motion.heading_rad = number(record["heading0"])
        return request

    @staticmethod
    def _judge(stubs, expect):
        def judge(response):
            route = response.route
            status = "OK" if route.outcome == stubs.OUTCOME_COMPLETE else stubs.Outcome.Name(route.outcome)
            checks = [equal("status", status, expect["status"])]
            if not checks[0].passed or expect["status"] != "OK":
                return checks
            time = expect["time"]
            legs = legs_of(stubs, route)
            angles, turns, drives = ([leg[i] for leg in legs] for i in range(3))
            if len(angles) == len(expect["turn_angle"]):
                angles = [same_turn(a, b) for a, b in zip(angles, expect["turn_angle"])]
            return checks + [near("time", route.duration_s, time, RELATIVE_TOLERANCE * time),
                             _columns_near("turn_angle", angles, expect["turn_angle"], 1.0),
                             _columns_near("turn_time", turns, expect["turn_time"], time),
                             _columns_near("drive_time", drives, expect["drive_time"], time)]
        return judge
