# SPDX-License-Identifier: Apache-2.0
"""Navmeshes published to the server under test, and what it tells of them."""
import collections
import dataclasses
import hashlib
import json
import os

from records import read_text

CALL_DEADLINE_S = 60.0
PIECE_BYTES = 64 << 10
NO_SIDE = 255


@dataclasses.dataclass(frozen=True)
class Link:
    """A directed link of a polygon: where it leads, and its portal as one who leaves sees it."""
    to: int
    edge: int
    side: int
    low: int
    high: int
    left: tuple
    right: tuple


@dataclasses.dataclass
class Polygon:
    """A polygon of the mesh; an off-mesh link has two vertices."""
    ref: int
    tile: int
    vertices: list
    is_link: bool
    area: int
    flags: int
    links: list


class Mesh:
    """A published version: its polygons by ref, in the server's order."""

    def __init__(self, navmesh_id, published, overview, polygons, link_ends):
        self.navmesh_id, self.published, self.overview = navmesh_id, published, overview
        self.polygons, self.link_ends = polygons, link_ends
        self._by_geometry = collections.defaultdict(list)
        for polygon in polygons.values():
            self._by_geometry[tuple(polygon.vertices)].append(polygon.ref)

    def refs_of(self, corridor):
        """The refs of a corridor's polygons by their geometry, successive ones linked; None when there are none. Link polygons
        are found by where their neighbours lead, since their ends were put on the ground."""
        paths = [[]]
        for k, vertices in enumerate(corridor):
            if len(vertices) == 2:
                paths = [path + [link.to] for path in paths for link in self._onto_links(path, vertices)]
            else:
                candidates = self._by_geometry.get(tuple(map(tuple, vertices)), [])
                paths = [path + [ref] for path in paths for ref in candidates
                         if k == 0 or any(link.to == ref for link in self.polygons[path[-1]].links)]
            if not paths:
                return None
        return paths[0]

    def _onto_links(self, path, vertices):
        if not path:
            return []
        ends = {tuple(v) for v in vertices}
        return [link for link in self.polygons[path[-1]].links
                if self.polygons[link.to].is_link and set(self.link_ends[link.to]) & ends]


def _points(columns):
    return list(zip(columns.x, columns.y, columns.z))


def _digest(content):
    return hashlib.sha256(content).digest()


def publish(stubs, registry, name, content, neutral=False):
    """Publishes content under a name of its own; returns (navmesh id, response)."""
    digest = _digest(content)
    navmesh_id = f"conformance-{name}-{digest.hex()[:12]}"

    def pieces():
        request = stubs.PublishNavMeshRequest()
        header = request.header
        header.navmesh_id, header.version = navmesh_id, 1
        header.format = stubs.NAV_MESH_FORMAT_NEUTRAL if neutral else stubs.NAV_MESH_FORMAT_DETOUR_MSET
        header.content_bytes, header.content_sha256 = len(content), digest
        yield request
        for at in range(0, len(content), PIECE_BYTES):
            yield stubs.PublishNavMeshRequest(content=content[at:at + PIECE_BYTES])

    return navmesh_id, registry.PublishNavMesh(pieces(), timeout=CALL_DEADLINE_S)


def read(stubs, registry, navmesh_id, published):
    """Reads a published version back as a Mesh."""
    parts = registry.ReadNavMesh(stubs.ReadNavMeshRequest(navmesh_id=navmesh_id), timeout=CALL_DEADLINE_S)
    overview, polygons, link_ends = None, {}, {}
    for part in parts:
        if part.WhichOneof("part") == "overview":
            overview = part.overview
            continue
        tile = part.tile
        vertices = _points(tile.vertices)
        begin = 0
        refs = list(tile.polygon_ref)
        for k, (ref, count) in enumerate(zip(refs, tile.vertex_count)):
            indices = tile.vertex_index[begin:begin + count]
            begin += count
            polygons[ref] = Polygon(ref, tile.tile_ref, [vertices[v] for v in indices], k >= tile.ground_count,
                                    tile.area[k], tile.flags[k], [])
        links = tile.links
        for row in zip(links.from_polygon, links.to_ref, links.edge, links.tile_side, links.low, links.high,
                       _points(links.left), _points(links.right)):
            polygons[refs[row[0]]].links.append(Link(*row[1:]))
        for ref, start, end in zip(refs[tile.ground_count:], _points(tile.link_start), _points(tile.link_end)):
            link_ends[ref] = (start, end)
    return Mesh(navmesh_id, published, overview, polygons, link_ends)


class NavMeshes:
    """The navmeshes of one run, each published once."""

    def __init__(self, stubs, registry):
        self._stubs, self._registry, self._meshes = stubs, registry, {}

    def of_file(self, path):
        """The mesh of a Detour file."""
        if path not in self._meshes:
            with open(path, "rb") as file:
                content = file.read()
            name = os.path.basename(path).removesuffix(".bin")
            navmesh_id, published = publish(self._stubs, self._registry, name, content)
            self._meshes[path] = read(self._stubs, self._registry, navmesh_id, published)
        return self._meshes[path]

    def of_map(self, name, mesh):
        """The id under which a map's mesh (vertices, polygons, neighbours) is published; polygon refs are its indices."""
        key = ("map", name)
        if key not in self._meshes:
            message = self._stubs.NeutralNavMesh()
            message.vertices.x.extend(v[0] for v in mesh["vertices"])
            message.vertices.y.extend(v[1] for v in mesh["vertices"])
            for polygon, neighbours in zip(mesh["polygons"], mesh["neighbours"]):
                message.vertex_count.append(len(polygon))
                message.vertex_index.extend(polygon)
                message.neighbour.extend(n if n >= 0 else 2 ** 64 - 1 for n in neighbours)
            content = message.SerializeToString()
            self._meshes[key] = publish(self._stubs, self._registry, name, content, neutral=True)[0]
        return self._meshes[key]


def beside(folder, mesh_name):
    """The Detour file of a mesh that a record names, in its folder or in ../detour; None where there is none."""
    for candidate in (folder, os.path.join(folder, "..", "detour")):
        path = os.path.join(candidate, f"{mesh_name}.bin")
        if os.path.exists(path):
            return os.path.normpath(path)
    return None


def description_beside(path):
    """The recorded content of a Detour file, mesh_<name>.json(.gz) in its folder, or None."""
    folder, name = os.path.split(path)
    for suffix in (".json.gz", ".json"):
        description = os.path.join(folder, "mesh_" + name.removesuffix(".bin") + suffix)
        if os.path.exists(description):
            return json.loads(read_text(description))
    return None
