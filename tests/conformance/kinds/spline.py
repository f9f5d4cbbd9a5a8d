# SPDX-License-Identifier: Apache-2.0
"""Curves: PlanSpline with explicit distances. Lengths and points within the error bound that is asked for; tangents and curvatures
where the parameter speed does not nearly vanish."""
import math

from checks import Case, Check, Kind, at_most, equal, near
from curve_evaluation import ParameterSpeed

BOUNDS = (1e-9, 1e-3, 1e-6, 1e-12)
# Tangents and curvatures are judged where the parameter speed is above this fraction of its largest value on the segment. Differences
# know it to a few percent: twice the fraction keeps clear of the edge.
SPEED_RATIO = 2e-3
CATEGORY_WITHOUT_BOUND = "extreme_scale"


class SplineKind(Kind):
    """splines_*, icons, issues: PlanSpline."""
    name = "spline"

    def matches(self, record):
        return "control" in record and "kind" in record and "inverse" in record

    def matches_file(self, file_name):
        return file_name.startswith(("splines_", "icons", "issues"))

    def cases(self, record, context):
        stubs = context.stubs
        for bound in BOUNDS if context.full or record["kind"] != "bezier" else BOUNDS[:1]:
            request = self._request(stubs, record, bound)
            tight = bound == BOUNDS[0]
            yield Case(f"bound_{bound:g}", "PlanSpline", request, self._judge(record, bound, tight),
                       self._judge_error(record) if record["category"] == CATEGORY_WITHOUT_BOUND else None)

    @staticmethod
    def _request(stubs, record, bound):
        request = stubs.PlanSplineRequest()
        spline = request.spline

        def extend(columns, points):
            for axis, values in zip("xyz", zip(*points)):
                getattr(columns, axis).extend(values)
        extend(spline.control, record["control"])
        spline.closed = bool(record["closed"])
        kind = record["kind"]
        if kind == "bezier":
            spline.bezier.SetInParent()
        elif kind == "hermite":
            extend(spline.hermite.tangents, record["tangents"])
        elif kind == "catmull_rom":
            spline.catmull_rom.alpha = record["alpha"]
        else:
            spline.b_spline.degree = record["degree"]
            spline.b_spline.knots.extend(record["knots"])
            spline.b_spline.weights.extend(record.get("weights") or [])
        request.length_error_bound = bound
        # The reference's last distance is the length itself, to the last digit.
        request.clamp_distances = True
        request.sampling.distances.distance.extend(float(sample["s"]) for sample in record["inverse"])
        return request

    @staticmethod
    def _judge_error(record):
        del record
        return lambda code: [Check("status", code, "OK or INVALID_ARGUMENT", 0.0, code == "INVALID_ARGUMENT")]

    @staticmethod
    def _judge(record, bound, tight):
        def judge(response):
            plan = response.plan
            points = rows(plan.samples.position)
            finite = all(map(math.isfinite, [plan.length, *(x for p in points for x in p)]))
            checks = [equal("all lengths and points are finite", finite, True)]
            if record["category"] == CATEGORY_WITHOUT_BOUND or not finite:
                return checks
            length = float(record["length"])
            # A double cannot say more than its last place, at the coordinates as sent.
            largest = max(abs(x) for p in record["control"] for x in p)
            ulp = math.ulp(largest)
            tolerance = bound * length + ulp
            checks.append(near("length", plan.length, length, tolerance))
            if length == 0.0:
                return checks
            checks.append(equal("count of samples", len(points), len(record["inverse"])))
            if checks[-1].passed:
                checks += point_checks(record, points, tolerance)
                if tight:
                    checks += direction_checks(record, plan.samples, length)
            checks.append(at_most("reported error bound", plan.length_error_bound, bound * length, ulp))
            return checks
        return judge


def rows(columns):
    """The points of PointColumns; those of a planar curve have no third column."""
    return list(zip(columns.x, columns.y, columns.z)) if columns.z else list(zip(columns.x, columns.y))


def point_checks(record, points, tolerance):
    """The worst point. A point moves along the curve by the error of its distance, so the bound is that of distances."""
    worst = 0.0
    for point, sample in zip(points, record["inverse"]):
        worst = max(worst, math.dist(point[:len(sample["point"])], [float(x) for x in sample["point"]]))
    return [at_most("distance of points", worst, 0.0, tolerance)]


def direction_checks(record, samples, length):
    """The worst tangent and curvature among the samples where they are well-conditioned."""
    speed = ParameterSpeed(record)
    planar = len(record["control"][0]) == 2
    tangents = rows(samples.tangent)
    worst = {}
    for i, sample in enumerate(record["inverse"]):
        if sample["tangent"] is None or sample["curvature"] is None:
            continue
        if speed.ratio(sample["segment"], float(sample["t"])) < SPEED_RATIO:
            continue
        curvature = float(sample["curvature"])
        reference = [float(x) for x in sample["tangent"]]
        found = samples.curvature[i] if planar else abs(samples.curvature[i])
        for check in (near("tangent", math.dist(tangents[i][:len(reference)], reference), 0.0, 1e-8 + abs(curvature) * 1e-9 * length),
                      near("curvature", found, curvature if planar else abs(curvature), 1e-6 * abs(curvature) + 1e-6 / length)):
            kept = worst.get(check.quantity)
            if kept is None or (not check.passed, check.excess) > (not kept.passed, kept.excess):
                worst[check.quantity] = check
    return list(worst.values())
