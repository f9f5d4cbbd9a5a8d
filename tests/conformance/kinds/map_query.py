# SPDX-License-Identifier: Apache-2.0
"""Queries on game and street maps: the polygons of a corridor come from the map's mesh, in `meshes/` beside the file.

Each of a query's corridors is planned with both plane up axes; a part of the queries also under transformations that are exact
in doubles, which must keep the length, or scale it exactly. The map's mesh is published too, and each corridor planned by reference.
"""
import json
import os
import zlib

from by_reference import refs_request
from checks import Case, Kind, near
from corridor_request import Axes, new_request, whole_route
from planar import distance_outside_convex
from records import read_text

CORRIDORS = ("corridor_optimal", "corridor_astar_centroid", "corridor_astar_edgemid")
RELATIVE_TOLERANCE = 1e-9
OFFSET = float(2 ** 30)
SCALE_EXPONENTS = (-10, 10)
# Coordinates of these classes are dyadic numbers with few digits, so that every transformation below is exact.
EXACT_CLASSES = ("scen_cell_centre", "scen_lattice_point", "both_on_corner_vertex")
# Its vertices are decimal numbers: adding an offset would round them.
NOT_DYADIC_MAPS = ("ih_mp2p01",)
# Without --full, one query in this many is transformed.
SAMPLE_PERIOD = 8


class Transformation:
    """An exact map of the plane with its factor of lengths; `origin` is sent along when it is not None."""

    def __init__(self, name, point, scale=1.0, origin=None):
        self.name, self.point, self.scale, self.origin = name, point, scale, origin


IDENTITY = Transformation("as_is", lambda p: p)
RIGID = [
    Transformation("mirrored", lambda p: (-p[0], p[1])),
    Transformation("quarter_turn", lambda p: (-p[1], p[0])),
] + [Transformation(f"scaled_2^{k}", lambda p, f=2.0 ** k: (p[0] * f, p[1] * f), 2.0 ** k) for k in SCALE_EXPONENTS]
OFFSETS = [
    Transformation("offset", lambda p: (p[0] + OFFSET, p[1] - OFFSET)),
    Transformation("offset_with_origin", lambda p: (p[0] + OFFSET, p[1] - OFFSET), origin=(OFFSET, -OFFSET)),
]


class MapQueryKind(Kind):
    """queries_*: PlanCorridor."""
    name = "map query"

    def __init__(self):
        self._meshes = {}

    def matches(self, record):
        return "map" in record and any(name in record for name in CORRIDORS)

    def matches_file(self, file_name):
        return file_name.startswith("queries_dev")

    def cases(self, record, context):
        mesh = self._mesh(record["map"], context.folder)
        for corridor_name in CORRIDORS:
            if corridor_name not in record:
                continue
            for transformation in self._transformations(record, context.full):
                for up in ("Z", "Y"):
                    yield self._case(record, context.stubs, mesh, corridor_name, transformation, up)
            yield self._by_reference(record, context, mesh, corridor_name)

    @staticmethod
    def _transformations(record, full):
        yield IDENTITY
        sampled = full or zlib.crc32(str(record["id"]).encode()) % SAMPLE_PERIOD == 0
        if not sampled or record.get("class") not in EXACT_CLASSES:
            return
        yield from RIGID
        if record["map"] not in NOT_DYADIC_MAPS:
            yield from OFFSETS

    def _mesh(self, name, folder):
        if name not in self._meshes:
            path = os.path.join(folder, "meshes", f"{name}.json")
            self._meshes[name] = json.loads(read_text(path if os.path.exists(path) else path + ".gz"))
        return self._meshes[name]

    def _by_reference(self, record, context, mesh, corridor_name):
        navmesh_id = context.navmeshes.of_map(record["map"], mesh)
        case = self._case(record, context.stubs, mesh, corridor_name, IDENTITY, "Z")
        request = refs_request(context.stubs, case.request, navmesh_id, record[corridor_name]["polygons"])
        request.include_corridor = False
        return Case(f"{corridor_name.removeprefix('corridor_')}/refs", case.method, request, case.judge)

    @staticmethod
    def _case(record, stubs, mesh, corridor_name, transformation, up):
        axes = Axes(stubs, up)
        corridor = record[corridor_name]
        vertices = mesh["vertices"]
        cells = [[vertices[v] for v in mesh["polygons"][k]] for k in corridor["polygons"]]
        request = new_request(stubs, axes, stubs.COORDINATE_SOURCE_FLOAT64)
        axes.set_point(request.start, transformation.point(record["start"]))
        axes.set_point(request.goal, transformation.point(record["goal"]))
        if transformation.origin is not None:
            axes.set_point(request.frame.origin, transformation.origin)
        polygons = request.corridor.polygons
        polygons.vertex_count.extend(map(len, cells))
        axes.extend(polygons.vertices, [transformation.point(v) for cell in cells for v in cell])
        reference = corridor["length"] * transformation.scale
        outside = (distance_outside_convex(record["start"], cells[0]) +
                   distance_outside_convex(record["goal"], cells[-1])) * transformation.scale

        def judge(response):
            checks = [near("length", response.route.length, reference, RELATIVE_TOLERANCE * reference + 2.0 * outside)]
            return checks + whole_route(stubs, axes, request, response, stubs.OUTCOME_COMPLETE)

        name = f"{corridor_name.removeprefix('corridor_')}/{transformation.name}/{up}_up"
        return Case(name, "PlanCorridor", request, judge)


class UnreachableMapQueryKind(Kind):
    """Queries that have no corridor, so that there is nothing to plan in."""
    name = "map query without path"
    skip_reason = "no corridor leads from start to goal; a search, not this service, answers these"

    def matches(self, record):
        return "map" in record and "status" in record and not any(name in record for name in CORRIDORS)
