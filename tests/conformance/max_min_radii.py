# SPDX-License-Identifier: Apache-2.0
"""Lexicographic max-min radii of a polyline's fillets, by plain progressive filling: the judge of corner rounding.

Corner i of radius r takes r * tan_half[i] from line i before it and line i + 1 behind it. Every combination of allowed intervals is
filled for itself, so only short polylines are within reach; that is what references hold.
"""
import itertools
import math

SAME = 1e-9  # Radii that agree to this part are equal.


def _fill(low, high, tan_half, length):
    """Raises all radii together from their lows until each meets its high or a line that is used up; None when the lows do not fit."""
    count = len(low)
    active = [i for i in range(count) if high[i] > 0.0]
    radius = list(low)
    trims = [[(i, tan_half[i]) for i in (line - 1, line) if 0 <= i < count and high[i] > 0.0] for line in range(count + 1)]

    def used(line):
        return math.fsum(radius[i] * k for i, k in trims[line])

    if any(used(line) > length[line] * (1.0 + 1e-12) for line in range(count + 1)):
        return None
    level = min((low[i] for i in active), default=0.0)
    free = set(active)
    while free:
        # The next level at which a radius starts to rise, meets its bound, or a line is used up by those that rise.
        rising = [i for i in free if low[i] <= level]
        steps = [low[i] for i in free if low[i] > level] + [high[i] for i in rising]
        full = {}
        for line in range(count + 1):
            slope = math.fsum(k for i, k in trims[line] if i in rising)
            if slope > 0.0:
                full[line] = level + max(0.0, length[line] - used(line)) / slope
        level = min(steps + list(full.values()))
        for i in rising:
            radius[i] = min(level, high[i])
        stuck = {i for line, at in full.items() if at <= level * (1.0 + 1e-15) for i, _ in trims[line] if i in rising}
        free -= stuck | {i for i in rising if high[i] <= level}
    return radius


def larger(a, b):
    """Whether the ascending radii of `a` are lexicographically larger than those of `b` by more than rounding."""
    for x, y in zip(sorted(a), sorted(b)):
        if abs(x - y) > SAME * max(1.0, abs(y)):
            return x > y
    return False


def max_min_radii(intervals, stops, tan_half, length):
    """The radii, 0 at `stops`; None when not all others can be driven. `intervals[i]` holds the allowed [low, high] of corner i."""
    choices = [[(0.0, 0.0)] if i in stops else [(low, high) for low, high in allowed if high > 0.0]
               for i, allowed in enumerate(intervals)]
    best = None
    for choice in itertools.product(*choices):
        # A low of 0 stands for any radius above it: the fill of a corner that stays at 0 is a stop in disguise.
        radius = _fill([c[0] for c in choice], [c[1] for c in choice], tan_half, length)
        if radius is None or any(r == 0.0 for i, r in enumerate(radius) if i not in stops):
            continue
        if best is None or larger(radius, best):
            best = radius
    return best
