# SPDX-License-Identifier: Apache-2.0
"""The server is killed at random instants while a client publishes and changes navmeshes. After each restart every change that was
acknowledged is there, and of the one under way all or nothing. 20 rounds, 200 with ARCLANE_FULL_TESTS=1;
ARCLANE_KILL_ROUNDS sets another number."""
import hashlib
import os
import random
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "live"))

import grpc  # noqa: E402  pylint: disable=wrong-import-position
from live_server import LiveServer  # noqa: E402  pylint: disable=wrong-import-position
from stubs import Stubs, channel  # noqa: E402  pylint: disable=wrong-import-position

ROUNDS = int(os.environ.get("ARCLANE_KILL_ROUNDS", "200" if os.environ.get("ARCLANE_FULL_TESTS") == "1" else "20"))
SEED = int(os.environ.get("ARCLANE_PROPERTY_SEED", "1"))
GATES = (1, 2, 3)
AREA = 5
PUBLISH_EVERY = 8


def mesh_content(stubs, version):
    """Four squares in a row with three gates between them; versions differ in their baked radius."""
    mesh = stubs.NeutralNavMesh(baked_radius=float(version))
    for y in (0.0, 1.0):
        mesh.vertices.x.extend(range(5))
        mesh.vertices.y.extend([y] * 5)
    for i in range(4):
        mesh.vertex_count.append(4)
        mesh.vertex_index.extend([i, i + 1, i + 6, i + 5])
    for gate in GATES:
        mesh.gates.add(gate_id=gate, from_polygon=[gate - 1], to_polygon=[gate])
    return mesh.SerializeToString()


class Writer:
    """Numbered operations on one navmesh, one after the other; `acknowledged` is the last that was answered."""

    def __init__(self, stubs, first):
        self.stubs, self.acknowledged, self.error = stubs, first, None

    def run(self, target):
        """Operates until a call fails."""
        with channel(target) as connection:
            registry = self.stubs.NavMeshRegistryStub(connection)
            try:
                while True:
                    self.operate(registry, self.acknowledged + 1)
                    self.acknowledged += 1
            except grpc.RpcError as error:
                self.error = error

    def operate(self, registry, number):
        """Publishes, or changes everything at once: the number can be told from the state."""
        if number % PUBLISH_EVERY == 1:
            publish(self.stubs, registry, number)
            return
        changes = self.stubs.StateChanges(areas=[AREA], area_costs=[float(number)])
        (changes.open_gates if number % 2 else changes.closed_gates).extend(GATES)
        registry.ApplyChanges(self.stubs.ApplyChangesRequest(navmesh_id="map", changes=changes, request_id=f"operation {number}"))


def publish(stubs, registry, version):
    """Publishes a version and makes it the active one."""
    content = mesh_content(stubs, version)
    header = stubs.PublishNavMeshHeader(navmesh_id="map", version=version, format=stubs.NAV_MESH_FORMAT_NEUTRAL,
                                        content_bytes=len(content), content_sha256=hashlib.sha256(content).digest())
    registry.PublishNavMesh(iter([stubs.PublishNavMeshRequest(header=header), stubs.PublishNavMeshRequest(content=content)]))


class ServerKillTest(unittest.TestCase):
    """Rounds of operating, killing, starting again and looking."""

    def number_told(self, stubs, target):
        """The last operation that the state shows; 0 for none. Fails when it shows half of one."""
        with channel(target) as connection:
            registry = stubs.NavMeshRegistryStub(connection)
            try:
                navmesh = registry.GetNavMesh(stubs.GetNavMeshRequest(navmesh_id="map")).navmesh
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.NOT_FOUND)
                return 0
        active = [v for v in navmesh.versions if v.active]
        self.assertEqual([v.version for v in active], [navmesh.active_version])
        self.assertEqual([v.version for v in navmesh.versions if v.damage], [])
        states = active[0].states
        if not states.areas:
            self.assertEqual((list(states.open_gates), list(states.closed_gates)), ([], []))
            return active[0].version
        self.assertEqual(list(states.areas), [AREA])
        number = int(states.area_costs[0])
        changed = states.open_gates if number % 2 else states.closed_gates
        self.assertEqual(tuple(changed), GATES, f"half of operation {number}")
        self.assertEqual(active[0].version, (number - 1) // PUBLISH_EVERY * PUBLISH_EVERY + 1)
        return number

    def test_what_was_acknowledged_survives(self):
        """All rounds on one data directory."""
        stubs = Stubs()
        chance = random.Random(SEED)
        acknowledged = operations = 0
        with tempfile.TemporaryDirectory(prefix="arclane-kill-") as data:
            for number in range(ROUNDS + 1):
                with LiveServer(f"--data-dir={data}") as server:
                    told = self.number_told(stubs, server.target)
                    self.assertIn(told, (acknowledged, acknowledged + 1), f"seed {SEED}, round {number}")
                    if number == ROUNDS:
                        break
                    writer = Writer(stubs, told)
                    thread = threading.Thread(target=writer.run, args=(server.target,))
                    thread.start()
                    time.sleep(chance.uniform(0.005, 0.15))
                    server.process.kill()
                    server.process.wait()
                    thread.join()
                    self.assertIn(writer.error.code(), (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED))
                    operations += writer.acknowledged - told
                    acknowledged = writer.acknowledged
        print(f"{ROUNDS} rounds, {operations} operations acknowledged", file=sys.stderr)
        self.assertGreater(operations, ROUNDS)


if __name__ == "__main__":
    unittest.main()
