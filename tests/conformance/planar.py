# SPDX-License-Identifier: Apache-2.0
"""Plane geometry for judging answers; it shares nothing with the service's own."""
import math


def distance_to_segment(p, a, b):
    """Distance of point p from segment ab; a may equal b."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length_squared = dx * dx + dy * dy
    t = 0.0
    if length_squared > 0.0:
        t = min(1.0, max(0.0, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length_squared))
    return math.hypot(p[0] - a[0] - t * dx, p[1] - a[1] - t * dy)


def distance_outside_convex(p, polygon):
    """How far p lies outside a convex polygon of either winding; 0 inside and on the border."""
    left = right = False
    nearest = math.inf
    for i, a in enumerate(polygon):
        b = polygon[(i + 1) % len(polygon)]
        cross = (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
        left = left or cross > 0.0
        right = right or cross < 0.0
        nearest = min(nearest, distance_to_segment(p, a, b))
    inside = not (left and right) and len(polygon) > 2 and (left or right)
    return 0.0 if inside else nearest
