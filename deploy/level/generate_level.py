#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the demonstration level and requests on it: generate_level.py [FOLDER]

The level is a small walled town, drawn below in metres: an octagonal plaza round a fountain, two main streets, alleys, a walk
along the town wall, a market hall with pillars, and houses of several rooms. It has no source but this file. Written, byte for
byte the same in every run:
  town.json               the navmesh with its gates, a NeutralNavMesh as protobuf JSON: what `arclane navmesh publish` takes; a polygon's
                          ref is its index
  requests/NAME.json      PlanCorridor requests (protobuf JSON) along corridors found by a plain A* on that mesh
  by_reference/NAME.json  the same corridor by the refs of its polygons, for a server that has the navmesh
"""
import heapq
import json
import math
import os
import sys

# ---------------------------------------------------------------- The drawing


def rectangle(x0, y0, x1, y1):
    """Counter-clockwise corners."""
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def plaza():
    """Eight trapezoids between the fountain and the plaza's rim."""
    cx, cy = 40.0, 28.0
    rim = [(9, -4), (9, 4), (4, 9), (-4, 9), (-9, 4), (-9, -4), (-4, -9), (4, -9)]
    basin = [(0.3 * x, 0.3 * y) for x, y in rim]
    return [[(cx + basin[i][0], cy + basin[i][1]), (cx + rim[i][0], cy + rim[i][1]),
             (cx + rim[(i + 1) % 8][0], cy + rim[(i + 1) % 8][1]),
             (cx + basin[(i + 1) % 8][0], cy + basin[(i + 1) % 8][1])] for i in range(8)]


def streets():
    """Main streets that narrow away from the plaza, the lanes along the north and south, and two alleys."""
    return [
        [(49, 24), (62, 25.5), (62, 30.5), (49, 32)], rectangle(62, 25.5, 76, 30.5),
        [(31, 32), (18, 30.5), (18, 25.5), (31, 24)], rectangle(4, 25.5, 18, 30.5),
        [(36, 19), (37.5, 8), (42.5, 8), (44, 19)], [(44, 37), (42.5, 48), (37.5, 48), (36, 37)],
        rectangle(6, 4, 37.5, 8), rectangle(37.5, 4, 42.5, 8), rectangle(42.5, 4, 74, 8),
        rectangle(6, 48, 37.5, 52), rectangle(37.5, 48, 42.5, 52), rectangle(42.5, 48, 74, 52),
        [(44, 19), (56, 8), (60, 8), (49, 24)], [(36, 37), (24, 48), (20, 48), (31, 32)],
        rectangle(76, 25.5, 80, 30.5), rectangle(0, 25.5, 4, 30.5),
    ]


def wall_walk(cx, cy, sx, sy, pieces=8):
    """A quarter of an elliptic ring: the walk behind the town wall; sx, sy = +-1 choose the quarter."""
    def point(i, radius_x, radius_y):
        # The ends lie exactly on the axes, so that the neighbours' corners are met.
        c = [1.0, 0.0][i == pieces] if i in (0, pieces) else math.cos(0.5 * math.pi * i / pieces)
        s = [0.0, 1.0][i == pieces] if i in (0, pieces) else math.sin(0.5 * math.pi * i / pieces)
        return (round(cx + sx * radius_x * c, 6), round(cy + sy * radius_y * s, 6))
    ring = []
    for i in range(pieces):
        quad = [point(i, 2.0, 17.5), point(i, 6.0, 21.5), point(i + 1, 6.0, 21.5), point(i + 1, 2.0, 17.5)]
        ring.append(quad if sx * sy > 0 else quad[::-1])
    return ring


def market_hall():
    """A hall of 15 m by 11.5 m in the north-east with four pillars of 1 m, cut along the pillars' sides."""
    xs, ys = [47.0, 51.0, 52.0, 57.0, 58.0, 62.0], [35.5, 38.5, 39.5, 43.0, 44.0, 47.0]
    return [rectangle(xs[i], ys[j], xs[i + 1], ys[j + 1]) for j in range(5) for i in range(5)
            if not (i in (1, 3) and j in (1, 3))]


def rooms():
    """Rooms, and the doorways (1.2 m wide, as long as the wall is thick) that join them to each other and to the streets."""
    return [
        # The guild house, north-east, between the market hall and the wall walk.
        rectangle(62.5, 31.0, 72, 36.5), rectangle(62.5, 37.0, 67, 47.0), rectangle(67.5, 37.0, 72, 41.5),
        rectangle(67.5, 42.0, 72, 47.0),
        rectangle(66, 30.5, 67.2, 31.0), rectangle(64, 36.5, 65.2, 37.0), rectangle(67, 39, 67.5, 40.2),
        rectangle(69, 41.5, 70.2, 42.0), rectangle(62.0, 41, 62.5, 42.2), rectangle(53.9, 47.0, 55.1, 48),
        # The tavern, south-west.
        rectangle(8, 9, 20, 16), rectangle(20.5, 9, 28, 13), rectangle(28.5, 9, 35, 13), rectangle(8, 16.5, 13, 24.5),
        rectangle(13.5, 16.5, 20, 24.5), rectangle(20.5, 13.5, 28, 23.0), rectangle(28.5, 13.5, 34.5, 17.5),
        rectangle(14, 8, 15.2, 9), rectangle(20, 10, 20.5, 11.2), rectangle(28, 10.5, 28.5, 11.7),
        rectangle(10, 16, 11.2, 16.5), rectangle(13, 20, 13.5, 21.2), rectangle(20, 18, 20.5, 19.2),
        rectangle(28, 15, 28.5, 16.2), rectangle(15.5, 24.5, 16.7, 25.5), rectangle(24, 13, 25.2, 13.5),
        # The smithy, south-east, reached from the south lane and from the east street.
        rectangle(62, 9, 73, 15), rectangle(62, 15.5, 66.5, 24.5), rectangle(67, 15.5, 73, 24.5),
        rectangle(67, 8, 68.2, 9), rectangle(64, 15, 65.2, 15.5), rectangle(66.5, 21, 67, 22.2), rectangle(70, 24.5, 71.2, 25.5),
        # The chapel, north-west: a nave, two side rooms and an apse of six sides.
        rectangle(6, 33, 17, 39), rectangle(6, 39.5, 11, 47), rectangle(11.5, 39.5, 17, 47),
        [(3, 34), (6, 33), (6, 39), (3, 38), (2, 36)],
        rectangle(10, 30.5, 11.2, 33), rectangle(8, 39, 9.2, 39.5), rectangle(11, 43, 11.5, 44.2),
        rectangle(13.5, 47, 14.7, 48),
    ]


def height(x, y):
    """The town rises gently to the north."""
    return round(max(0.0, 0.08 * (y - 32.0)) + 0.01 * x, 6)


def drawing():
    """Every polygon of the level."""
    return (plaza() + streets() + wall_walk(74, 30.5, 1, 1) + wall_walk(6, 25.5, -1, -1) + market_hall() + rooms())


# ---------------------------------------------------------------- The navmesh


def cross(o, a, b):
    """Twice the signed area of triangle oab."""
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def on_edge(p, a, b):
    """Whether p lies inside edge ab. The drawing's edges that meet in a T are parallel to an axis, so that this is exact."""
    return (cross(a, b, p) == 0.0 and p not in (a, b) and min(a[0], b[0]) <= p[0] <= max(a[0], b[0])
            and min(a[1], b[1]) <= p[1] <= max(a[1], b[1]))


def build_mesh(polygons):
    """Splits edges where another polygon's corner lies on them, numbers the vertices and finds the neighbours."""
    polygons = [[(float(x), float(y)) for x, y in polygon] for polygon in polygons]
    corners = sorted({corner for polygon in polygons for corner in polygon})
    for number, polygon in enumerate(polygons):
        n = len(polygon)
        if any(cross(polygon[i], polygon[(i + 1) % n], polygon[(i + 2) % n]) <= 0.0 for i in range(n)):
            raise SystemExit(f"polygon {number} is not convex and counter-clockwise: {polygon}")
    split = []
    for polygon in polygons:
        ring = []
        for i, a in enumerate(polygon):
            b = polygon[(i + 1) % len(polygon)]
            inner = sorted((p for p in corners if on_edge(p, a, b)), key=lambda p: math.dist(a, p))
            ring += [a] + inner
        split.append(ring)
    index = {corner: i for i, corner in enumerate(corners)}
    rings = [[index[corner] for corner in ring] for ring in split]
    owner = {}
    for k, ring in enumerate(rings):
        for i, a in enumerate(ring):
            edge = (a, ring[(i + 1) % len(ring)])
            if edge in owner:
                raise SystemExit(f"polygons {owner[edge]} and {k} overlap")
            owner[edge] = k
    neighbours = [[owner.get((ring[(i + 1) % len(ring)], a), -1) for i, a in enumerate(ring)] for ring in rings]
    return {"vertices": [[x, y, height(x, y)] for x, y in corners], "polygons": rings, "neighbours": neighbours}


def centre(mesh, k):
    """The mean of a polygon's vertices."""
    ring = mesh["polygons"][k]
    return tuple(sum(mesh["vertices"][v][axis] for v in ring) / len(ring) for axis in (0, 1))


def polygon_at(mesh, p):
    """The polygon that contains p."""
    for k, ring in enumerate(mesh["polygons"]):
        points = [mesh["vertices"][v] for v in ring]
        if all(cross(points[i], points[(i + 1) % len(points)], p) >= 0.0 for i in range(len(points))):
            return k
    raise SystemExit(f"{p} is not on the level")


def find_corridor(mesh, start, goal):
    """The chain of polygons of an A* over edge mid-points."""
    first, last = polygon_at(mesh, start), polygon_at(mesh, goal)
    queue = [(math.dist(start, goal), 0.0, first, start, None)]
    came_from, done = {}, set()
    while queue:
        _, cost, k, position, parent = heapq.heappop(queue)
        if k in done:
            continue
        done.add(k)
        came_from[k] = parent
        if k == last:
            break
        ring = mesh["polygons"][k]
        for i, neighbour in enumerate(mesh["neighbours"][k]):
            if neighbour < 0 or neighbour in done:
                continue
            a, b = (mesh["vertices"][ring[j % len(ring)]] for j in (i, i + 1))
            middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
            next_cost = cost + math.dist(position, middle)
            heapq.heappush(queue, (next_cost + math.dist(middle, goal), next_cost, neighbour, middle, k))
    if last not in came_from:
        raise SystemExit(f"no way from {start} to {goal}")
    chain, k = [], last
    while k is not None:
        chain.append(k)
        k = came_from[k]
    return chain[::-1]


# ---------------------------------------------------------------- The requests

WALKER = {"limits": {"maxSpeed": 3.0, "maxAcceleration": 4.0, "maxBraking": 5.0, "maxLateralAcceleration": 4.0,
                     "maxAngularSpeed": 6.0},
          "body": {"radius": 0.4, "bakedRadius": 0.4},
          "manners": {"turnBeforeMove": True, "headingToleranceRad": 0.02}}
RUNNER = {"limits": {"maxSpeed": 5.0, "maxAcceleration": 4.0, "maxBraking": 5.0, "maxLateralAcceleration": 4.0},
          "body": {"radius": 0.4, "bakedRadius": 0.4, "maxTurnRadius": 3.0, "minTurnRadius": 0.2}}
CART = {"limits": {"maxSpeed": 5.0, "maxAcceleration": 2.0, "maxBraking": 3.0, "maxLateralAcceleration": 3.0},
        "body": {"radius": 0.5, "bakedRadius": 0.4, "clearance": 0.2, "maxTurnRadius": 4.0, "minTurnRadius": 0.5},
        "manners": {"reactionTimeS": 0.1}}

# name, start, goal, agent, further fields
REQUESTS = [
    ("chapel_to_smithy", (7.0, 45.5), (71.0, 17.0), RUNNER, {}),
    ("tavern_to_gate", (31.0, 16.5), (79.0, 28.0), WALKER, {}),
    ("wall_walk", (78.0, 27.0), (66.0, 50.0), CART, {}),
    ("market_round", (48.0, 36.0), (70.0, 46.0), CART, {"motion": {"velocity": {"x": 1.5, "y": 0.4}, "goalSpeed": 1.0},
                                                        "agent": {"manners": {"headingToleranceRad": 1.6}}}),
]


# id, name, a point on either side.
GATES = [(7, "east gate", (75.0, 28.0), (77.0, 28.0)), (8, "west gate", (5.0, 28.0), (3.0, 28.0))]


def as_point(x, y):
    """A Point with its height."""
    return {"x": x, "y": y, "z": height(x, y)}


def polygon_corridor(mesh, chain):
    """The polygons of a chain."""
    vertices = [mesh["vertices"][v] for k in chain for v in mesh["polygons"][k]]
    columns = {axis: [v[i] for v in vertices] for i, axis in enumerate("xyz")}
    return {"polygons": {"vertices": columns, "vertexCount": [len(mesh["polygons"][k]) for k in chain]}}


def request(mesh, start, goal, agent, fields):
    """One PlanCorridor request as protobuf JSON."""
    chain = find_corridor(mesh, start, goal)
    message = {"frame": {"upAxis": "UP_AXIS_Z", "source": "COORDINATE_SOURCE_FLOAT64"},
               "navmesh": {"navmeshId": "town", "version": "1"},
               "start": as_point(*start), "goal": as_point(*goal), "corridor": polygon_corridor(mesh, chain),
               "agent": json.loads(json.dumps(agent)), "sampling": {"spacing": 0.5}, "includeCorridor": True}
    for key, value in fields.items():
        if key == "agent":
            for block, entries in value.items():
                message["agent"].setdefault(block, {}).update(entries)
        else:
            message[key] = value
    return message


def request_by_reference(mesh, start, goal, agent):
    """The same by refs."""
    message = request(mesh, start, goal, agent, {})
    message["navmesh"] = {"navmeshId": "town"}
    message["corridor"] = {"refs": {"ref": [str(k) for k in find_corridor(mesh, start, goal)]}}
    return message


def navmesh(mesh):
    """The mesh as a NeutralNavMesh."""
    wall = str(2 ** 64 - 1)
    gates = []
    for number, name, inside, outside in GATES:
        first, second = polygon_at(mesh, inside), polygon_at(mesh, outside)
        if second not in mesh["neighbours"][first]:
            raise SystemExit(f"gate {number} does not stand between neighbours")
        gates.append({"gateId": str(number), "name": name, "fromPolygon": [str(first)], "toPolygon": [str(second)]})
    return {"upAxis": "UP_AXIS_Z", "bakedRadius": 0.4,
            "vertices": {axis: [v[i] for v in mesh["vertices"]] for i, axis in enumerate("xyz")},
            "vertexCount": [len(ring) for ring in mesh["polygons"]],
            "vertexIndex": [v for ring in mesh["polygons"] for v in ring],
            "neighbour": [wall if n < 0 else str(n) for ring in mesh["neighbours"] for n in ring],
            "gates": gates}


def write(path, value):
    """JSON with one line for each field of the outer object."""
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(entry, separators=(',', ':'))}" for key, entry in value.items())
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("{\n" + lines + "\n}\n")


def main():
    """Writes all files."""
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    mesh = build_mesh(drawing())
    reached, front = {0}, [0]
    while front:
        front = [n for k in front for n in mesh["neighbours"][k] if n >= 0 and n not in reached and not reached.add(n)]
    if len(reached) != len(mesh["polygons"]):
        raise SystemExit(f"not reachable: {[mesh['polygons'][k] for k in range(len(mesh['polygons'])) if k not in reached]}")
    for part in ("requests", "by_reference"):
        os.makedirs(os.path.join(folder, part), exist_ok=True)
    write(os.path.join(folder, "town.json"), navmesh(mesh))
    for name, start, goal, agent, fields in REQUESTS:
        message = request(mesh, start, goal, agent, fields)
        write(os.path.join(folder, "requests", f"{name}.json"), message)
        print(f"{name}: {len(message['corridor']['polygons']['vertexCount'])} polygons")
    name, start, goal, agent, _ = REQUESTS[1]  # Through the east gate.
    write(os.path.join(folder, "by_reference", f"{name}.json"), request_by_reference(mesh, start, goal, agent))
    print(f"town: {len(mesh['polygons'])} polygons, {len(mesh['vertices'])} vertices")


if __name__ == "__main__":
    main()
