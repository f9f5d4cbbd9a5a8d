# SPDX-License-Identifier: Apache-2.0
"""Points of the reference curves by their definitions, in plain double arithmetic: enough to tell where a curve's parameter speed
nearly vanishes, so that tangents and curvatures are ill-conditioned there. It shares nothing with the service."""
import math

SPEED_SAMPLES = 64
DIFFERENCE_STEP = 1e-5


def _combine(terms):
    return [math.fsum(w * p[axis] for w, p in terms) for axis in range(len(terms[0][1]))]


def _cubic(p, t):
    u = 1.0 - t
    return _combine([(u * u * u, p[0]), (3 * u * u * t, p[1]), (3 * u * t * t, p[2]), (t * t * t, p[3])])


def _hermite(record):
    points, tangents = record["control"], record["tangents"]
    n = len(points)

    def evaluate(i, t):
        j = (i + 1) % n
        h = [(2 * t - 3) * t * t + 1, ((t - 2) * t + 1) * t, (3 - 2 * t) * t * t, (t - 1) * t * t]
        return _combine([(h[0], points[i]), (h[1], tangents[i]), (h[2], points[j]), (h[3], tangents[j])])
    return evaluate


def _catmull_rom(record):
    points, alpha, closed = record["control"], record["alpha"], record["closed"]
    n = len(points)

    def mirrored(a, b):
        return [2 * x - y for x, y in zip(a, b)]

    def evaluate(i, t):
        p1, p2 = points[i], points[(i + 1) % n]
        p0 = points[i - 1] if i > 0 or closed else mirrored(p1, p2)
        p3 = points[(i + 2) % n] if i + 2 < n or closed else mirrored(p2, p1)
        if alpha > 0 and p1 == p2:
            return list(p1)
        if alpha > 0 and p0 == p1:
            p0 = mirrored(p1, p2)
        if alpha > 0 and p2 == p3:
            p3 = mirrored(p2, p1)
        k1, k2, k3 = (math.dist(a, b) ** alpha for a, b in ((p0, p1), (p1, p2), (p2, p3)))
        knots = [0.0, k1, k1 + k2, k1 + k2 + k3]
        x = k1 + t * k2

        def blend(a, b, low, high):
            return _combine([((knots[high] - x) / (knots[high] - knots[low]), a), ((x - knots[low]) / (knots[high] - knots[low]), b)])
        a1, a2, a3 = blend(p0, p1, 0, 1), blend(p1, p2, 1, 2), blend(p2, p3, 2, 3)
        return blend(blend(a1, a2, 0, 2), blend(a2, a3, 1, 3), 1, 2)
    return evaluate


def _b_spline(record):
    points, knots, degree = record["control"], record["knots"], record["degree"]
    weights = record.get("weights") or [1.0] * len(points)
    spans = [k for k in range(degree, len(points)) if knots[k + 1] > knots[k]]

    def evaluate(i, t):
        k = spans[i]
        u = knots[k] + t * (knots[k + 1] - knots[k])
        d = [[w * x for x in p] + [w] for p, w in zip(points[k - degree:k + 1], weights[k - degree:k + 1])]
        for r in range(1, degree + 1):
            for j in range(degree, r - 1, -1):
                low = knots[j + k - degree]
                a = (u - low) / (knots[j + 1 + k - r] - low)
                d[j] = _combine([(1 - a, d[j - 1]), (a, d[j])])
        return [x / d[degree][-1] for x in d[degree][:-1]]
    return evaluate


def evaluator(record):
    """A function (segment, local parameter) -> point."""
    kind = record["kind"]
    if kind == "bezier":
        return lambda i, t: _cubic(record["control"][3 * i:3 * i + 4], t)
    return {"hermite": _hermite, "catmull_rom": _catmull_rom, "bspline": _b_spline, "nurbs": _b_spline}[kind](record)


class ParameterSpeed:
    """|r'| by central differences, and its largest value on each segment."""

    def __init__(self, record):
        self._evaluate = evaluator(record)
        self._largest = {}

    def _speed(self, segment, t):
        low, high = max(0.0, t - DIFFERENCE_STEP), min(1.0, t + DIFFERENCE_STEP)
        return math.dist(self._evaluate(segment, low), self._evaluate(segment, high)) / (high - low)

    def ratio(self, segment, t):
        """|r'(t)| over its largest value on the segment; 0 for a segment without length."""
        if segment not in self._largest:
            self._largest[segment] = max(self._speed(segment, i / SPEED_SAMPLES) for i in range(SPEED_SAMPLES + 1))
        largest = self._largest[segment]
        return self._speed(segment, t) / largest if largest > 0.0 else 0.0
