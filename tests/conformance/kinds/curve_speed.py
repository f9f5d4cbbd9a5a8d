# SPDX-License-Identifier: Apache-2.0
"""Speed plans along a curvature profile: PlanSpeed with a profile. The time lies within the reference's bracket, the speeds agree to
1e-3, and no limit is exceeded where a phase begins."""
import bisect
import math

from checks import Case, Kind, at_most, equal
from kinds.speed_plan import fill_limits

TIME_ABOVE = 1e-3
TIME_BELOW = 1e-9
SPEED_TOLERANCE = 1e-3
LIMIT_TOLERANCE = 1e-6


def limit_excess(profile, limits, phases):
    """The largest relative excess of a limit at the start of any phase."""
    worst = -1.0
    nodes = profile.distance
    for s, v, a in zip(phases.start_distance, phases.speed, phases.acceleration):
        i = min(max(bisect.bisect_right(nodes, s) - 1, 0), len(nodes) - 2)
        share = (s - nodes[i]) / (nodes[i + 1] - nodes[i])
        lateral = v * v * abs(profile.curvature[i] * (1.0 - share) + profile.curvature[i + 1] * share)
        worst = max(worst, v / limits.max_speed - 1.0, a / limits.max_acceleration - 1.0, -a / limits.max_braking - 1.0)
        if limits.HasField("max_lateral_acceleration"):
            worst = max(worst, lateral / limits.max_lateral_acceleration - 1.0)
        if limits.HasField("max_total_acceleration"):
            worst = max(worst, math.hypot(a, lateral) / limits.max_total_acceleration - 1.0)
    return worst


class CurveSpeedKind(Kind):
    """curves_*: PlanSpeed."""
    name = "speed plan along a curve"

    def matches(self, record):
        return "kappa" in record and "cases" in record

    def matches_file(self, file_name):
        return file_name.startswith("curves_")

    def cases(self, record, context):
        stubs = context.stubs
        for item in record["cases"]:
            request = stubs.PlanSpeedRequest()
            request.profile.distance.extend(record["s"])
            request.profile.curvature.extend(record["kappa"])
            request.profile.closed = bool(record["closed"])
            request.profile.flying = item["mode"] == "flying"
            fill_limits(stubs, request.limits, item["limits"])
            yield Case(f"{item['model']}/{item['mode']}", "PlanSpeed", request, self._judge(stubs, request, item["expect"]))

    @staticmethod
    def _judge(stubs, request, expect):
        def judge(response):
            plan = response.plan
            checks = [equal("outcome", stubs.SpeedOutcome.Name(plan.outcome), f"SPEED_OUTCOME_{expect['status']}")]
            if not checks[0].passed:
                return checks
            checks.append(at_most("time", plan.duration_s, expect["time"], TIME_ABOVE * expect["time"]))
            # The claimed time may not be below what is possible: -time at most -time_lo.
            checks.append(at_most("time below the bracket", -plan.duration_s, -expect["time_lo"], TIME_BELOW * expect["time_lo"]))
            error = max(abs(plan.boundary_speed[i] - v) / max(v, 1e-9) for i, v in zip(expect["v_index"], expect["v"]))
            checks.append(at_most("relative error of speeds", error, 0.0, SPEED_TOLERANCE))
            checks.append(at_most("excess of a limit", limit_excess(request.profile, request.limits, plan.phases), 0.0,
                                  LIMIT_TOLERANCE))
            return checks
        return judge
