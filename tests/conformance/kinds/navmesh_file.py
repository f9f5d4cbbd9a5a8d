# SPDX-License-Identifier: Apache-2.0
"""Detour files: published, read back, checked, and planned on by reference.

Every polygon, border link and off-mesh connection is looked at: polygons are convex, links answer one another, portals lie on the
borders of both polygons. Where the file's content was recorded beside it, all of it is compared. Then random reachable corridors are
planned by reference and sent along: the answers must be equal.
"""
import math
import os
import random

from by_reference import portal_checks, refs_request, same_route
from checks import Case, at_most, equal
from corridor_request import Axes, new_request
from navmesh import NO_SIDE, description_beside
from records import float32

CORRIDORS = 200
# An edge's part is kept in 255ths of it, rounded; the border itself may be off by this much (Detour's matching).
BORDER_SLACK = 0.01
# A few roundings of float32 relative to the largest coordinate.
FLOAT32 = 8.0 * 2.0 ** -24


def mesh_checks(mesh, description):
    """Checks of the mesh as the server tells it."""
    polygons = mesh.polygons
    largest = max((abs(c) for p in polygons.values() for v in p.vertices for c in v), default=0.0)
    checks = [
        equal("polygons told", len(polygons), mesh.overview.polygon_count),
        equal("polygons published", mesh.published.polygon_count, mesh.overview.polygon_count),
        equal("links told", sum(len(p.links) for p in polygons.values()), mesh.overview.link_count),
        at_most("reflex corner", max((_reflex(p) for p in polygons.values() if not p.is_link), default=0.0), 0.0,
                FLOAT32 * largest),
        equal("links that lead nowhere", [l for p in polygons.values() for l in p.links if l.to not in polygons], []),
        equal("links without answer", _one_sided(polygons), []),
    ]
    checks += _portals_on_borders(polygons, FLOAT32 * largest)
    if description is not None:
        checks += _as_recorded(mesh, description)
    return checks


def _plane(v):
    return v[0], v[2]


def _reflex(polygon):
    """How far a vertex lies inside the line through its neighbours' sides; 0 for convex polygons."""
    points = [_plane(v) for v in polygon.vertices]
    area = sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(points, points[1:] + points[:1]))
    sign = 1.0 if area >= 0.0 else -1.0
    worst = 0.0
    for a, b, c in zip(points, points[1:] + points[:1], points[2:] + points[:2]):
        cross = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
        worst = max(worst, -sign * cross / max(math.dist(a, b), math.dist(b, c), 1e-30))
    return worst


def _one_sided(polygons):
    """Links between ground polygons that no link answers."""
    pairs = {(p.ref, link.to) for p in polygons.values() for link in p.links}
    return [(a, b) for a, b in sorted(pairs)
            if not polygons[a].is_link and not polygons[b].is_link and (b, a) not in pairs]


def _distance_to_edges(point, vertices):
    """The distance in the plane from a point to the nearest edge."""
    points = [_plane(v) for v in vertices]
    best = math.inf
    for a, b in zip(points, points[1:] + points[:1]):
        d = (b[0] - a[0], b[1] - a[1])
        length2 = d[0] ** 2 + d[1] ** 2
        t = 0.0 if length2 == 0.0 else ((point[0] - a[0]) * d[0] + (point[1] - a[1]) * d[1]) / length2
        t = min(1.0, max(0.0, t))
        best = min(best, math.dist(point, (a[0] + t * d[0], a[1] + t * d[1])))
    return best


def _portals_on_borders(polygons, rounding):
    own = other = 0.0
    excess = -math.inf
    for polygon in polygons.values():
        for link in polygon.links:
            target = polygons[link.to]
            if polygon.is_link or target.is_link:
                continue
            edge = math.dist(*(_plane(polygon.vertices[(link.edge + k) % len(polygon.vertices)]) for k in (0, 1)))
            # Half a step of the bytes along the edge, on a border between tiles.
            step = BORDER_SLACK + edge / 510.0 if link.side != NO_SIDE else 0.0
            for end in (link.left, link.right):
                own = max(own, _distance_to_edges(_plane(end), polygon.vertices))
                distance = _distance_to_edges(_plane(end), target.vertices)
                if distance - step > excess:
                    other, excess = distance, distance - step
    return [at_most("portal off its own border", own, 0.0, rounding),
            at_most("portal off the other's border, beyond the bytes' step", max(excess, 0.0) if other else 0.0, 0.0, rounding)]


def _as_recorded(mesh, description):
    """Polygons, links and connections are those recorded."""
    told = list(mesh.polygons.values())
    recorded = description["polygons"]
    vertices = [tuple(float32(v)) for v in description["vertices"]]
    checks = [
        equal("polygons recorded", len(told), len(recorded)),
        equal("tiles recorded", mesh.overview.tile_count, len({tuple(p["tile"]) for p in recorded})),
        equal("links recorded", mesh.overview.link_count, sum(len(p["links"]) for p in recorded)),
        equal("connections recorded", sum(p.is_link for p in told), len(description.get("offmesh", []))),
    ]
    if len(told) != len(recorded):
        return checks
    index = {p.ref: k for k, p in enumerate(told)}

    def told_links(p):
        return sorted((index[l.to], l.edge, -1 if l.side == NO_SIDE else l.side, l.low, l.high, l.left, l.right) for l in p.links)

    def recorded_links(p):
        return sorted((l["to"], l["edge"], l["tile_side"], l["bmin"], l["bmax"], tuple(float32(l["left"])),
                       tuple(float32(l["right"]))) for l in p["links"])

    ground = [(a, b) for a, b in zip(told, recorded) if not a.is_link]
    checks.append(equal("polygons unlike the recorded",
                        [a.ref for a, b in ground if (a.vertices, a.area, a.flags) !=
                         ([vertices[v] for v in b["verts"]], b["area"], b["flags"])], []))
    checks.append(equal("links unlike the recorded", [a.ref for a, b in zip(told, recorded)
                                                      if told_links(a) != recorded_links(b)], []))
    return checks


class CorridorPicker:
    """Random corridors along links, shortest in the number of polygons."""

    def __init__(self, mesh, seed):
        self._polygons = mesh.polygons
        self._ground = [p.ref for p in mesh.polygons.values() if not p.is_link]
        self._random = random.Random(seed)

    def corridor(self):
        """(refs, portals as (left, right), link entries)."""
        start = self._random.choice(self._ground)
        came = {start: None}
        queue = [start]
        for ref in queue:
            for link in self._ways(ref):
                if link.to not in came:
                    came[link.to] = (ref, link)
                    queue.append(link.to)
        goal = self._random.choice([ref for ref in queue if not self._polygons[ref].is_link])
        refs, links = [goal], []
        while came[refs[-1]] is not None:
            before, link = came[refs[-1]]
            refs.append(before)
            links.append(link)
        refs.reverse()
        links.reverse()
        entries = [k for k, link in enumerate(links) if self._polygons[link.to].is_link]
        return refs, [(link.left, link.right) for link in links], entries

    def _ways(self, ref):
        """Links that may be travelled, one for each neighbour, in random order."""
        polygon = self._polygons[ref]
        ways = {}
        for link in polygon.links:
            # Detour links a one-way connection's polygon back to where it starts as well.
            if polygon.is_link and link.edge == 0 and not self._both_ways(polygon):
                continue
            ways.setdefault(link.to, link)
        ways = list(ways.values())
        self._random.shuffle(ways)
        return ways

    def _both_ways(self, connection):
        ends = [link.to for link in connection.links if link.edge == 1]
        return any(link.to == connection.ref for end in ends for link in self._polygons[end].links)

    def point_in(self, ref):
        """A point inside a polygon, with a height on it."""
        vertices = self._polygons[ref].vertices
        weights = [self._random.uniform(0.1, 1.0) for _ in vertices]
        total = sum(weights)
        return float32([sum(w * v[axis] for w, v in zip(weights, vertices)) / total for axis in range(3)])


def corridor_cases(stubs, mesh, seed):
    """200 corridors, each sent along and by reference."""
    axes = Axes(stubs, "Y")
    picker = CorridorPicker(mesh, seed)
    for number in range(CORRIDORS):
        refs, portals, entries = picker.corridor()
        inline = new_request(stubs, axes, stubs.COORDINATE_SOURCE_FLOAT32)
        for point, p in ((inline.start, picker.point_in(refs[0])), (inline.goal, picker.point_in(refs[-1]))):
            axes.set_point(point, _plane(p), p[1])
        sent = inline.corridor.portals
        sent.SetInParent()
        for columns, ends in ((sent.left, [p[0] for p in portals]), (sent.right, [p[1] for p in portals])):
            axes.extend(columns, [_plane(p) for p in ends], [p[1] for p in ends])
        sent.link_entry.extend(entries)
        answers = {}

        def keep(response, answers=answers):
            answers["inline"] = response
            return [equal("outcome", stubs.Outcome.Name(response.route.outcome), "OUTCOME_COMPLETE")]

        def compare(response, answers=answers, refs=refs, portals=portals):
            if "inline" not in answers:
                return [equal("answer to the corridor sent along", "none", "one")]
            tiles = sorted({mesh.polygons[ref].tile for ref in refs})
            return (same_route(stubs, axes, response, answers["inline"]) +
                    portal_checks(axes, response.route.portals, [p[0] for p in portals], [p[1] for p in portals]) +
                    [equal("tiles read", list(response.read_set.tile), tiles)])

        yield Case(f"corridor_{number}/inline", "PlanCorridor", inline, keep)
        yield Case(f"corridor_{number}/refs", "PlanCorridor", refs_request(stubs, inline, mesh.navmesh_id, refs), compare)


def navmesh_file_checks(path, context):
    """(checks of the mesh, cases on it) of a Detour file."""
    mesh = context.navmeshes.of_file(path)
    return (mesh_checks(mesh, description_beside(path)),
            corridor_cases(context.stubs, mesh, os.path.basename(path)))
