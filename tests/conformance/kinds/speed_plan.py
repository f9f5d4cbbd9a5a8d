# SPDX-License-Identifier: Apache-2.0
"""Speed plans over lines and arcs: PlanSpeed with pieces. Statuses are exact, times and speeds to 1e-9."""
import math

from checks import Case, Kind, equal, near
from records import number

RELATIVE_TOLERANCE = 1e-9
_OUTCOME = {"OK": "SPEED_OUTCOME_OK", "INFEASIBLE_START": "SPEED_OUTCOME_INFEASIBLE_START",
            "INFEASIBLE_END": "SPEED_OUTCOME_INFEASIBLE_END"}
_PHASE = {"PHASE_KIND_ACCELERATE": "accel", "PHASE_KIND_COUPLED_ACCELERATE": "accel", "PHASE_KIND_BRAKE": "brake",
          "PHASE_KIND_COUPLED_BRAKE": "brake", "PHASE_KIND_CRUISE": "cruise"}


def fill_limits(stubs, limits, record):
    """AgentLimits of a record; a total budget is shared with the lateral acceleration."""
    limits.max_speed = number(record["v_max"])
    limits.max_acceleration = number(record["a_accel"])
    limits.max_braking = number(record["a_brake"])
    if record.get("a_lat") is not None:
        limits.max_lateral_acceleration = number(record["a_lat"])
    if record.get("a_max") is not None:
        limits.max_total_acceleration = number(record["a_max"])
        limits.budget_mode = stubs.BUDGET_MODE_COUPLED


def worst_near(quantity, measured, reference, tolerances):
    """Equal lengths, and the worst element; None in the reference means NaN."""
    if len(measured) != len(reference):
        return equal(f"count of {quantity}", len(measured), len(reference))
    checks = []
    for i, (a, b, tolerance) in enumerate(zip(measured, reference, tolerances)):
        name = f"{quantity}[{i}]"
        checks.append(equal(name, math.isnan(a), True) if b is None else near(name, a, number(b), tolerance))
    return max(checks, key=lambda check: (not check.passed, check.excess), default=equal(quantity, 0, 0))


class SpeedPlanKind(Kind):
    """plan_*: PlanSpeed."""
    name = "speed plan"

    def matches(self, record):
        return "pieces" in record and "limits" in record and "v_start" in record

    def matches_file(self, file_name):
        return file_name.startswith("plan_")

    def cases(self, record, context):
        stubs = context.stubs
        request = stubs.PlanSpeedRequest()
        request.pieces.SetInParent()
        request.pieces.length.extend(number(piece["len"]) for piece in record["pieces"])
        request.pieces.radius.extend(math.inf if piece["radius"] is None else number(piece["radius"])
                                     for piece in record["pieces"])
        fill_limits(stubs, request.limits, record["limits"])
        request.start_speed = number(record["v_start"])
        request.end_speed = number(record["v_end"])
        expect = record["expect"]

        def judge(response):
            plan = response.plan
            checks = [equal("outcome", stubs.SpeedOutcome.Name(plan.outcome), _OUTCOME.get(expect["status"], expect["status"]))]
            if not checks[0].passed:
                return checks
            checks += self._bounds(plan, expect)
            if expect["status"] == "OK":
                checks += self._plan(plan, expect)
                if "phases" in expect:
                    checks += self._phases(stubs, plan, expect["phases"])
            return checks

        def judge_error(code):
            return [equal("status", code, expect["status"])]

        yield Case("pieces", "PlanSpeed", request, judge, judge_error)

    @staticmethod
    def _bounds(plan, expect):
        checks = []
        for name, measured in (("v_start_max", plan.max_start_speed), ("v_end_max", plan.max_end_speed)):
            if name in expect:
                checks.append(near(name, measured, expect[name], RELATIVE_TOLERANCE * expect[name]))
        if "brake_now" in expect:
            now = expect["brake_now"]
            scale = max(now["stop_distance"], now["v_at_end"])
            for name, measured in (("stop_distance", plan.brake_now.stop_distance), ("overrun", plan.brake_now.overrun),
                                   ("v_at_end", plan.brake_now.speed_at_end)):
                checks.append(near(name, measured, now[name], RELATIVE_TOLERANCE * scale))
        return checks

    @staticmethod
    def _plan(plan, expect):
        def relative(values):
            return [RELATIVE_TOLERANCE * abs(number(v)) for v in values]
        checks = [near("time", plan.duration_s, expect["time"], RELATIVE_TOLERANCE * expect["time"]),
                  worst_near("v_bound", plan.boundary_speed, expect["v_bound"], relative(expect["v_bound"])),
                  worst_near("v_peak", plan.peak_speed, expect["v_peak"], relative(expect["v_peak"])),
                  worst_near("s_brake", plan.brake_start_distance, expect["s_brake"],
                             [RELATIVE_TOLERANCE * plan.length] * len(expect["s_brake"]))]
        if "t_piece" in expect:
            checks.append(worst_near("t_piece", plan.piece_time_s, expect["t_piece"],
                                     [RELATIVE_TOLERANCE * max(expect["time"], t) for t in expect["t_piece"]]))
        return checks

    @staticmethod
    def _phases(stubs, plan, expected):
        """Phases as (piece, kind, start, end, speed, duration), those shorter than 1e-9 of the length left out."""
        shortest = RELATIVE_TOLERANCE * plan.length
        columns = plan.phases
        measured = [(piece, _PHASE.get(stubs.PhaseKind.Name(kind), "?"), s, s + length, v, t) for piece, kind, s, length, v, t in zip(
            columns.segment_index, columns.kind, columns.start_distance, columns.length, columns.speed, columns.duration_s)
            if length >= shortest]
        reference = [(p["piece"], p["kind"], p["s0"], p["s1"], p["v0"], p["t"]) for p in expected if p["s1"] - p["s0"] >= shortest]
        if len(measured) != len(reference):
            return [equal("count of phases", len(measured), len(reference))]
        checks = []
        fastest = max([plan.phases.speed[i] for i in range(len(plan.phases.speed))], default=0.0)
        for i, (a, b) in enumerate(zip(measured, reference)):
            checks.append(equal(f"piece and kind of phase {i}", a[:2], b[:2]))
            for name, j, tolerance in (("start", 2, shortest), ("end", 3, shortest), ("speed", 4, RELATIVE_TOLERANCE * fastest),
                                       ("duration", 5, RELATIVE_TOLERANCE * plan.duration_s)):
                checks.append(near(f"{name} of phase {i}", a[j], b[j], tolerance))
        return checks
