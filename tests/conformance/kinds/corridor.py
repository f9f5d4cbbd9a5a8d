# SPDX-License-Identifier: Apache-2.0
"""Corridors recorded from Detour navmeshes: float32 coordinates, y up, plane (x, z).

Each record is planned with its portals given, with left and right exchanged, and with its polygons given. Where
the record has a reference optimum, the length is compared with it; where the corridor holds off-mesh links, both ends of every
link must stand on the route, in order, as a link segment. Where the Detour file of the record's mesh lies beside it, the corridor is planned by
reference too: its portals must be those recorded exactly, and the answer that to the portals sent along, bit for bit.
"""
import math

from by_reference import portal_checks, refs_request, same_route
from checks import Case, Kind, equal, near
from corridor_request import Axes, new_request, whole_route
from navmesh import beside
from planar import distance_outside_convex
from records import float32


def length_tolerance(length, stats, polygons_given):
    """Absolute tolerance of a length: 1e-5 + 1e-7 L where portals are exact; 2 mm across tile seams; 2 cm where portals
    are recorded in bytes but the polygons' true overlap is planned through."""
    if polygons_given and stats.get("partial_portals", 0) > 0:
        return 0.02
    seams = stats.get("seam_eps", 0) > 0 or stats.get("partial_portals", 0) > 0
    if seams or (polygons_given and stats.get("tile_borders", 0) > 0):
        return 0.002
    return 1e-5 + 1e-7 * length


class Geometry:
    """The record's coordinates, rounded to float32."""

    def __init__(self, record):
        self.start = float32(record["start"])
        self.goal = float32(record["goal"])
        self.polygons = [[float32(v) for v in polygon] for polygon in record["polygons"]]
        self.left = [float32(p["left"]) for p in record["portals"]]
        self.right = [float32(p["right"]) for p in record["portals"]]
        self.link_entries = [k - 1 for k, polygon in enumerate(self.polygons) if len(polygon) == 2 and k > 0]

    def outside(self):
        """The sum of the distances by which start and goal lie outside their polygons."""
        ends = ((self.start, self.polygons[0]), (self.goal, self.polygons[-1]))
        return sum(distance_outside_convex(plane(p), [plane(v) for v in polygon]) for p, polygon in ends)

    def links(self):
        """(entry, exit) of every off-mesh link, plane coordinates, in the order of travel."""
        pairs = []
        for k, polygon in enumerate(self.polygons):
            if len(polygon) != 2:
                continue
            entry = self.left[k - 1] if k > 0 else self.start
            exit_ = self.left[k] if k < len(self.left) else self.goal
            pairs.append((plane(entry), plane(exit_)))
        return pairs


def plane(p):
    """Plane coordinates of an (x, y, z) point."""
    return p[0], p[2]


def heights(points):
    """The heights of (x, y, z) points."""
    return [p[1] for p in points]


class CorridorKind(Kind):
    """corridors_*: PlanCorridor."""
    name = "corridor"

    def matches(self, record):
        return all(field in record for field in ("start", "goal", "polygons", "portals"))

    def matches_file(self, file_name):
        return file_name.startswith("corridors_")

    def cases(self, record, context):
        stubs = context.stubs
        axes = Axes(stubs, "Y")
        geometry = Geometry(record)
        mesh_file = beside(context.folder, record.get("mesh", ""))
        answers = {}
        for name, left, right in (("portals", geometry.left, geometry.right),
                                  ("portals_mirrored", geometry.right, geometry.left)):
            request = self._request(stubs, axes, record, geometry)
            portals = request.corridor.portals
            portals.SetInParent()
            axes.extend(portals.left, [plane(p) for p in left], heights(left))
            axes.extend(portals.right, [plane(p) for p in right], heights(right))
            portals.link_entry.extend(geometry.link_entries)
            case = self._case(name, stubs, axes, request, record, geometry, polygons_given=False)
            if name == "portals" and mesh_file is not None:
                yield Case(name, case.method, request, _keeping(case.judge, answers))
                yield self._by_reference(context, axes, request, geometry, mesh_file, answers)
            else:
                yield case
        request = self._request(stubs, axes, record, geometry)
        polygons = request.corridor.polygons
        for polygon in geometry.polygons:
            axes.extend(polygons.vertices, [plane(v) for v in polygon], heights(polygon))
            polygons.vertex_count.append(len(polygon))
        yield self._case("polygons", stubs, axes, request, record, geometry, polygons_given=True)

    @staticmethod
    def _by_reference(context, axes, inline, geometry, mesh_file, answers):
        mesh = context.navmeshes.of_file(mesh_file)
        refs = mesh.refs_of(geometry.polygons)
        request = refs_request(context.stubs, inline, mesh.navmesh_id, refs or [])

        def judge(response):
            if "inline" not in answers:
                return [equal("answer to the portals sent along", "none", "one")]
            return (portal_checks(axes, response.route.portals, geometry.left, geometry.right) +
                    same_route(context.stubs, axes, response, answers["inline"]))

        return Case("refs", "PlanCorridor", request, judge)

    @staticmethod
    def _request(stubs, axes, record, geometry):
        request = new_request(stubs, axes, stubs.COORDINATE_SOURCE_FLOAT32)
        axes.set_point(request.start, plane(geometry.start), geometry.start[1])
        axes.set_point(request.goal, plane(geometry.goal), geometry.goal[1])
        request.corridor.is_partial = bool(record.get("partial", False))
        return request

    @staticmethod
    def _case(name, stubs, axes, request, record, geometry, polygons_given):
        outcome = stubs.OUTCOME_PARTIAL if request.corridor.is_partial else stubs.OUTCOME_COMPLETE

        def judge(response):
            checks = []
            route = response.route
            if "shortest_length_xz" in record:
                reference = record["shortest_length_xz"]
                tolerance = length_tolerance(reference, record.get("stats", {}), polygons_given) + 2 * geometry.outside()
                checks.append(near("length", route.length, reference, tolerance))
                checks.append(near("shortest_length", route.shortest_length, reference, tolerance))
            checks += whole_route(stubs, axes, request, response, outcome)
            checks += link_checks(stubs, axes, route, geometry.links())
            return checks

        return Case(name, "PlanCorridor", request, judge)


def _keeping(judge, answers):
    """A judge that also keeps the answer for the case after it."""
    def keep(response):
        answers["inline"] = response
        return judge(response)
    return keep


def link_checks(stubs, axes, route, links):
    """The route's link segments are the corridor's links, in order, from end to end."""
    segments = route.segments
    starts = axes.points(segments.start)
    found = [i for i, kind in enumerate(segments.kind) if kind == stubs.SEGMENT_KIND_LINK]
    checks = [equal("link segments", len(found), len(links))]
    if not checks[0].passed:
        return checks
    for i, (entry, exit_) in zip(found, links):
        heading, length = segments.heading_rad[i], segments.length[i]
        end = (starts[i][0] + length * math.cos(heading), starts[i][1] + length * math.sin(heading))
        size = max(map(abs, (*entry, *exit_)))
        # The ends are sent as float32 and must come back as they are; the end is computed from heading and length.
        checks.append(near("link entry", math.dist(starts[i], entry), 0.0, 1e-9 * size))
        checks.append(near("link exit", math.dist(end, exit_), 0.0, 1e-9 * size))
    return checks
