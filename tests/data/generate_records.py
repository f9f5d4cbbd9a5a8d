#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the project's own reference records: generate_records.py [FOLDER]

Small cases whose right answers follow from the drawing by elementary geometry, in the formats of the larger reference
sets, so that the conformance run has something to do on any machine. Written, byte for byte the same in every run:
  corridors_own.jsonl       corridors as recorded from a Detour navmesh: y up, float32 coordinates
  queries_dev_own.jsonl     map queries, on meshes/rooms.json
  stop_turn_own.jsonl       stop-and-turn plans
  fillet_own.jsonl          corners rounded by inscribed arcs
"""
import json
import math
import os
import sys

# ---------------------------------------------------------------- Corridors (x, y up, z)


def xyz(p, height=0.0):
    """A plane point with its height."""
    return [p[0], height, p[1]]


def corridor(name, start, goal, polygons, portals, path, **fields):
    """A record; `path` is the shortest line, whose length is the reference. Portals are (left, right): left is the side
    towards which heading grows from x towards z."""
    length = math.fsum(math.dist(a, b) for a, b in zip(path, path[1:]))
    record = {"id": name, "mesh": "own", "start": xyz(start), "goal": xyz(goal),
              "polygons": [[xyz(v) for v in polygon] for polygon in polygons],
              "portals": [{"left": xyz(left), "right": xyz(right)} for left, right in portals],
              "shortest_length_xz": length, "shortest_path_xz": [list(p) for p in path], "partial": False,
              "stats": {"polys": len(polygons)}}
    record.update(fields)
    return record


def staircase(steps):
    """Squares of side 1 that turn right and left in turn. Every inner corner lies on the line of slope 1 through the start or on
    that one unit to the right of it, and so does the goal or beside it: the straight line is free."""
    polygons, portals, x, y = [[(0, 0), (1, 0), (1, 1), (0, 1)]], [], 0, 0
    for step in range(steps):
        if step % 2 == 0:
            x += 1
            portals.append(((x, y + 1), (x, y)))
        else:
            y += 1
            portals.append(((x, y), (x + 1, y)))
        polygons.append([(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)])
    start, goal = (0.5, 0.5), (x + 0.5, y + 0.5)
    return start, goal, polygons, portals, [start, goal]


def slalom(gates):
    """Chambers of 2 by 4 joined by passages of length 0.5 that are low and high in turn: the line bends at both ends of every
    passage, round the corners that face the chambers' middle."""
    polygons, portals, path = [], [], [(0.5, 2.0)]
    for i in range(gates + 1):
        x = 2.5 * i
        polygons.append([(x, 0), (x + 2, 0), (x + 2, 4), (x, 4)])
        if i == gates:
            path.append((x + 1.5, 2.0))
            break
        low, high = (0, 1) if i % 2 == 0 else (3, 4)
        polygons.append([(x + 2, low), (x + 2.5, low), (x + 2.5, high), (x + 2, high)])
        portals += [((x + 2, high), (x + 2, low)), ((x + 2.5, high), (x + 2.5, low))]
        inner = high if i % 2 == 0 else low
        path += [(x + 2.0, inner), (x + 2.5, inner)]
    return path[0], path[-1], polygons, portals, path


def corridor_records():
    """All corridor records."""
    yield corridor("one_polygon", (1, 1), (3, 2), [[(0, 0), (4, 0), (4, 3), (0, 3)]], [], [(1, 1), (3, 2)])
    yield corridor("start_is_goal", (1, 1), (1, 1), [[(0, 0), (4, 0), (4, 3), (0, 3)]], [], [(1, 1), (1, 1)])
    # The only feasible slope is 1: (1,1) and (2,2) are touched and neither is a corner.
    touching = [[(0, 0), (1, -1), (1, 1)], [(1, -1), (2, 2), (2, 3), (1, 1)], [(2, 2), (4, 2), (4, 5), (2, 3)]]
    yield corridor("slope_exactly_one", (0, 0), (3, 3), touching, [((1, 1), (1, -1)), ((2, 3), (2, 2))], [(0, 0), (3, 3)])
    # Slopes between 1.5 and 2 are open at the second portal: the line turns at (1,1).
    turning = [[(0, 0), (1, -1), (1, 1)], [(1, -1), (2, 3), (2, 4), (1, 1)], [(2, 3), (4, 6), (2, 4)]]
    yield corridor("turns_at_the_left_end", (0, 0), (3, 5), turning, [((1, 1), (1, -1)), ((2, 4), (2, 3))],
                   [(0, 0), (1, 1), (3, 5)])
    # Round the end of a thin wall: both portals end at the wall's tip.
    u_turn = [[(0, 0), (10, 0), (10, 4), (0, 4)], [(10, 0), (12, 0), (10, 4)], [(12, 0), (12, 8), (10, 4)],
              [(12, 8), (10, 8), (10, 4)], [(10, 4), (10, 8), (0, 8), (0, 4)]]
    tip = (10, 4)
    yield corridor("u_turn_round_a_wall", (1, 3), (1, 5), u_turn,
                   [(tip, (10, 0)), (tip, (12, 0)), (tip, (12, 8)), (tip, (10, 8))], [(1, 3), tip, (1, 5)])
    for steps in (2, 7, 30):
        yield corridor(f"staircase_{steps}", *staircase(steps))
    for gates in (1, 4, 25):
        yield corridor(f"slalom_{gates}", *slalom(gates))
    # A corridor of collinear portals: straight on.
    squares = [[(i, 0), (i + 1, 0), (i + 1, 1), (i, 1)] for i in range(20)]
    gates = [((i, 1), (i, 0)) for i in range(1, 20)]
    yield corridor("collinear_walls", (0.5, 0), (19.5, 0), squares, gates, [(0.5, 0), (19.5, 0)])
    # A search that gave up: the goal is the end of the corridor.
    yield corridor("partial", (0.5, 0.5), (5, 0.5), squares[:5], gates[:4], [(0.5, 0.5), (5, 0.5)], partial=True,
                   requested_goal=xyz((9, 0.5)))
    # An off-mesh link over a gap: walk to its entry, along it, and on from its exit.
    link = [[(0, 0), (4, 0), (4, 4), (0, 4)], [(3, 1), (8, 1)], [(7, 0), (11, 0), (11, 4), (7, 4)]]
    yield corridor("link_over_a_gap", (1, 3), (10, 3), link, [((3, 1), (3, 1)), ((8, 1), (8, 1))],
                   [(1, 3), (3, 1), (8, 1), (10, 3)])


# ---------------------------------------------------------------- Map queries (x, y)

# Two rooms and a passage; the passage's upper wall holds the corner (4, 2), its lower one (6, 1).
ROOMS = {"id": "rooms",
         "vertices": [[0, 0], [4, 0], [4, 1], [4, 2], [0, 4], [6, 1], [6, 2], [6, -2], [10, -2], [10, 4], [6, 4], [4, 4]],
         "polygons": [[0, 1, 2, 3, 11, 4], [2, 5, 6, 3], [7, 8, 9, 10, 6, 5]],
         "neighbours": [[-1, -1, 1, -1, -1, -1], [-1, 2, -1, 0], [-1, -1, -1, -1, 1, -1]]}


def query(number, start, goal, polygons, path):
    """A record whose three corridors are one and the same."""
    length = math.fsum(math.dist(a, b) for a, b in zip(path, path[1:]))
    corridor_entry = {"polygons": polygons, "length": length}
    return {"map": "rooms", "id": f"rooms/{number}", "class": "scen_lattice_point", "tags": [], "start": start, "goal": goal,
            "status": "ok", "length": length, "path": [list(p) for p in path],
            "corridor_optimal": corridor_entry, "corridor_astar_centroid": corridor_entry,
            "corridor_astar_edgemid": corridor_entry}


def query_records():
    """All map queries."""
    yield query(0, [1, 1], [3, 3], [0], [(1, 1), (3, 3)])
    yield query(1, [2, 1], [8, 2], [0, 1, 2], [(2, 1), (8, 2)])
    yield query(2, [3, 4], [9, 3], [0, 1, 2], [(3, 4), (4, 2), (6, 2), (9, 3)])
    yield query(3, [1, 0], [7, -2], [0, 1, 2], [(1, 0), (4, 1), (6, 1), (7, -2)])
    yield query(4, [4, 4], [6, -2], [0, 1, 2], [(4, 4), (4, 2), (6, 1), (6, -2)])
    yield query(5, [5, 1], [5, 1], [1], [(5, 1), (5, 1)])


# ---------------------------------------------------------------- Stop and turn


def drive_time(distance, limits):
    """Rest to rest: a triangle or a trapezium of speed."""
    v, a, b = limits["v_max"], limits["a_accel"], limits["a_brake"]
    ramps = v * v / (2 * a) + v * v / (2 * b)
    if distance >= ramps:
        return v / a + v / b + (distance - ramps) / v
    peak = math.sqrt(2 * distance * a * b / (a + b))
    return peak / a + peak / b


def stop_turn(name, waypoints, turns, lengths, heading, **limits):
    """A record; `turns` and `lengths` are those of the drawing."""
    limits = {"v_max": 3.0, "a_accel": 2.0, "a_brake": 4.0, "omega_max": 2.0, "heading_tol": 0.0, **limits}
    turn_time = [max(0.0, abs(t) - limits["heading_tol"]) / limits["omega_max"] for t in turns]
    drives = [drive_time(length, limits) for length in lengths]
    return {"id": name, "cat": "stop_turn", "waypoints": waypoints, "heading0": heading, "limits": limits,
            "expect": {"status": "OK", "time": math.fsum(turn_time + drives), "turn_angle": turns, "turn_time": turn_time,
                       "drive_time": drives}}


def stop_turn_records():
    """All stop-and-turn records."""
    quarter = math.pi / 2
    yield stop_turn("one_line", [[0, 0], [12, 0]], [0.0], [12.0], None)
    yield stop_turn("short_line", [[0, 0], [0, 0.5]], [0.0], [0.5], None)
    yield stop_turn("square", [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]], [quarter, quarter, quarter, quarter], [4.0] * 4, -quarter)
    yield stop_turn("right_turn_within_tolerance", [[0, 0], [3, 0], [3, -4]], [0.0, -quarter], [3.0, 4.0], 0.0, heading_tol=0.25)
    yield stop_turn("equal_neighbours", [[0, 0], [0, 0], [5, 0], [5, 0], [5, 5]], [0.0, quarter], [5.0, 5.0], None)


def fillet(name, waypoints, request, cap, radii, **fields):
    """A record of right-angled corners; `radii` are those of the drawing, 0 at stops, which are the only best ones."""
    lengths = [math.dist(a, b) for a, b in zip(waypoints, waypoints[1:])]
    headings = [math.atan2(b[1] - a[1], b[0] - a[0]) for a, b in zip(waypoints, waypoints[1:])]
    stops = [i for i, radius in enumerate(radii) if radius == 0.0]
    expect = {"turn_angle": [math.remainder(b - a, 2 * math.pi) for a, b in zip(headings, headings[1:])],
              "tan_half": [1.0] * len(radii), "segment_length": lengths, "radius_cap": cap, "min_stops": len(stops),
              "stop_sets": [stops], "status": "OK", "stop_corners_used": stops, "radius_maxmin": radii,
              **fields.pop("expect", {})}
    return {"id": name, "waypoints": waypoints, "radius_request": request, "radius_min": 0.0, "can_turn_in_place": True,
            "polygons": None, **fields, "expect": expect}


def fillet_records():
    """All polylines with radii."""
    step = [[-5, 0], [0, 0], [0, 1], [5, 1]]
    yield fillet("equal_shares_of_a_line", step, [0.7, 0.7], [0.7, 0.7], [0.5, 0.5])
    yield fillet("the_small_wish_is_kept", step, [0.9, 0.25], [0.9, 0.25], [0.75, 0.25])
    stairs = [[-4, 0], [0, 0], [0, 0.75], [0.75, 0.75], [0.75, 4]]
    yield fillet("one_stop_for_two_conflicts", stairs, [1.0] * 3, [0.75] * 3, [0.75, 0.0, 0.75], radius_min=0.5)
    yield fillet("no_stop_without_turning_in_place", stairs, [1.0] * 3, [0.75] * 3, [0.75, 0.0, 0.75], radius_min=0.5,
                 can_turn_in_place=False, expect={"status": "NEEDS_MOTION_PLANNING"})
    # A room of 10 by 10 round a pillar [6, 7] x [3, 4]. The arc of radius r at the corner (9, 1) has its centre at (9 - r, 1 + r) and
    # meets the pillar's corner (7, 3) when sqrt(2) (r - 2) = r.
    room = [[[0, 0], [10, 0], [10, 3], [0, 3]], [[0, 3], [6, 3], [6, 4], [0, 4]], [[7, 3], [10, 3], [10, 4], [7, 4]],
            [[0, 4], [10, 4], [10, 10], [0, 10]]]
    meets = 4 + 2 * math.sqrt(2)
    rows = [{"corner": 0, "radius": r, "contained": r < meets} for r in (0.5, 2.0, 5.0, 6.8, 6.9, 7.0, 8.0)]
    yield fillet("the_arc_stays_off_the_pillar", [[0, 1], [9, 1], [9, 10]], [8.0], [8.0], [meets], polygons=room,
                 expect={"radius_feasible_intervals": [[[0.0, meets]]], "containment": rows})


def write(path, records):
    """One record a line."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")


def main():
    """Writes all files."""
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    os.makedirs(os.path.join(folder, "meshes"), exist_ok=True)
    write(os.path.join(folder, "corridors_own.jsonl"), corridor_records())
    write(os.path.join(folder, "queries_dev_own.jsonl"), query_records())
    write(os.path.join(folder, "meshes", "rooms.json"), [ROOMS])
    write(os.path.join(folder, "stop_turn_own.jsonl"), stop_turn_records())
    write(os.path.join(folder, "fillet_own.jsonl"), fillet_records())


if __name__ == "__main__":
    main()
