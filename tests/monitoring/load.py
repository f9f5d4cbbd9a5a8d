# SPDX-License-Identifier: Apache-2.0
"""A bounded mixed load on a server: every kind of call that dashboards show, some of it wrong."""
import hashlib
import itertools
import json
import os
import random
import threading
import time

import grpc
from google.protobuf import json_format

HERE = os.path.dirname(os.path.abspath(__file__))
LEVEL = os.path.join(os.path.dirname(os.path.dirname(HERE)), "deploy", "level")

# Twelve squares in a row, with a gate between two of them, and a link.
SQUARES = 12
TOWN = {
    "vertices": {"x": [2 * i for i in range(SQUARES + 1)] * 2, "y": [0] * (SQUARES + 1) + [2] * (SQUARES + 1)},
    "vertex_count": [4] * SQUARES,
    "vertex_index": [v for i in range(SQUARES) for v in (i, i + 1, SQUARES + 2 + i, SQUARES + 1 + i)],
    "links": {"link_ref": ["100"], "start": {"x": [5], "y": [1]}, "end": {"x": [1], "y": [1]},
              "start_polygon": ["2"], "end_polygon": ["0"]},
    "gates": [{"gate_id": "7", "name": "gate", "from_polygon": ["10"], "to_polygon": ["11"]}],
}
# So many calls a second of each kind, at most.
RATES = {"plan": 40, "by_reference": 60, "spline": 10, "waypoints": 10, "speed": 10, "wrong": 5, "ping": 10, "gate": 3, "batch": 4}


def publish_town(stubs, connection, version=1):
    """Publishes the squares as `town`."""
    content = json_format.ParseDict(TOWN, stubs.NeutralNavMesh()).SerializeToString()
    header = stubs.PublishNavMeshHeader(navmesh_id="town", version=version, format=stubs.NAV_MESH_FORMAT_NEUTRAL,
                                        content_bytes=len(content), content_sha256=hashlib.sha256(content).digest())
    parts = [stubs.PublishNavMeshRequest(header=header), stubs.PublishNavMeshRequest(content=content)]
    return stubs.NavMeshRegistryStub(connection).PublishNavMesh(iter(parts), timeout=20)


def _read(message, *path):
    with open(os.path.join(LEVEL, *path), encoding="utf-8") as file:
        return json_format.ParseDict(json.load(file), message)


class Load:
    """Use as a context manager: a thread for each kind of call, until the block ends or `most_s` have passed."""

    def __init__(self, stubs, connection, most_s=300.0, rate_factor=1.0):
        self._stubs, self._connection, self._factor = stubs, connection, rate_factor
        self._planner = stubs.PathPlannerStub(connection)
        self._registry = stubs.NavMeshRegistryStub(connection)
        self._end = time.monotonic() + most_s
        self._ended = threading.Event()
        self._watch = None
        self.calls, self.unexpected = {name: 0 for name in RATES}, []
        limits = stubs.AgentLimits(max_speed=6, max_acceleration=3, max_braking=4)
        self._level = [_read(stubs.PlanCorridorRequest(), "requests", f"{name}.json")
                       for name in ("chapel_to_smithy", "tavern_to_gate", "wall_walk")]
        # Without a turn radius every corner is a stop.
        self._level.append(_read(stubs.PlanCorridorRequest(), "requests", "chapel_to_smithy.json"))
        self._level[-1].agent.body.ClearField("max_turn_radius")
        # Without the navmesh's name they are planned each time.
        for request in self._level[1:]:
            request.ClearField("navmesh")
        self._curve = _read(stubs.PlanSplineRequest(), "curves", "fountain_patrol.json")
        self._waypoints = stubs.PlanWaypointsRequest(
            waypoints=stubs.PointColumns(x=[0, 10, 10, 20], y=[0, 0, 10, 10]), radius=[1, 1])
        self._waypoints.agent.limits.CopyFrom(limits)
        self._waypoints.agent.body.max_turn_radius = 2
        self._speed = stubs.PlanSpeedRequest()
        self._speed.pieces.length.extend([10, 3, 10])
        self._speed.pieces.radius.extend([float("inf"), 2, float("inf")])
        self._speed.limits.CopyFrom(limits)
        self._limits = limits
        self._batch = stubs.PlanBatchRequest(items=[stubs.PlanItem(corridor=request) for request in self._level]
                                             + [stubs.PlanItem(waypoints=self._waypoints), stubs.PlanItem(speed=self._speed)])

    def __enter__(self):
        self._watch = self._registry.WatchNavMesh(self._stubs.WatchNavMeshRequest(navmesh_id="town"), timeout=600)
        self._threads = [threading.Thread(target=self._run, args=(name, RATES[name] * self._factor)) for name in RATES]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self._watch.cancel()

    def _run(self, name, rate):
        call = getattr(self, f"_{name}_call")
        chance = random.Random(name)
        start = time.monotonic()
        for i in itertools.count():
            wait = start + i / rate - time.monotonic()
            if self._ended.wait(max(0.0, wait)) or time.monotonic() > self._end:
                return
            if wait < -1:  # Late: the rate is a bound, not a debt.
                start = time.monotonic() - i / rate
            try:
                call(i, chance)
                self.calls[name] += 1
            except grpc.RpcError as error:
                if name != "wrong" or error.code() not in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND):
                    self.unexpected.append(f"{name}: {error.code()}: {error.details()}")
                else:
                    self.calls[name] += 1

    def _plan_call(self, i, _):
        self._planner.PlanCorridor(self._level[i % len(self._level)], timeout=10)

    def _by_reference_call(self, _, chance):
        request = self._stubs.PlanCorridorRequest()
        request.navmesh.navmesh_id = "town"
        squares = chance.randint(2, SQUARES)
        request.corridor.refs.ref.extend(range(squares))
        # Some requests are equal, some like no other.
        request.start.x, request.start.y = 0.1 * chance.randrange(10) if chance.random() < 0.7 else chance.random(), 1
        request.goal.x, request.goal.y = 2 * squares - 1, 1
        request.agent.limits.CopyFrom(self._limits)
        self._planner.PlanCorridor(request, timeout=10)

    def _spline_call(self, *_):
        self._planner.PlanSpline(self._curve, timeout=10)

    def _waypoints_call(self, *_):
        self._planner.PlanWaypoints(self._waypoints, timeout=10)

    def _speed_call(self, *_):
        self._planner.PlanSpeed(self._speed, timeout=10)

    def _batch_call(self, *_):
        for _ in self._planner.PlanBatch(self._batch, timeout=10):
            pass

    def _wrong_call(self, i, _):
        if i % 2 == 0:
            self._planner.PlanCorridor(self._stubs.PlanCorridorRequest(), timeout=10)
        else:
            self._registry.GetNavMesh(self._stubs.GetNavMeshRequest(navmesh_id="nowhere"), timeout=10)

    def _ping_call(self, *_):
        self._planner.Ping(self._stubs.PingRequest(), timeout=10)

    def _gate_call(self, i, _):
        changes = self._stubs.StateChanges()
        (changes.closed_gates if i % 2 else changes.open_gates).append(7)
        self._registry.ApplyChanges(self._stubs.ApplyChangesRequest(navmesh_id="town", changes=changes), timeout=10)
