# SPDX-License-Identifier: Apache-2.0
"""`arclane navmesh` against a live server: a mesh from publishing to drawing, and a corridor planned on it by reference; and a server that
starts from a directory of navmeshes."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "live"))

from live_server import LiveServer, ServerError, program  # noqa: E402  pylint: disable=wrong-import-position

# Three squares in a row with a gate between the last two, and a link back.
MESH = {
    "vertices": {"x": [0, 2, 4, 6, 0, 2, 4, 6], "y": [0, 0, 0, 0, 2, 2, 2, 2]},
    "vertex_count": [4, 4, 4],
    "vertex_index": [0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6],
    "links": {"link_ref": ["100"], "start": {"x": [5], "y": [1]}, "end": {"x": [1], "y": [1]},
              "start_polygon": ["2"], "end_polygon": ["0"]},
    "gates": [{"gate_id": "7", "name": "gate", "from_polygon": ["1"], "to_polygon": ["2"]}],
}
REQUEST = {
    "navmesh": {"navmesh_id": "town"},
    "start": {"x": 1, "y": 1}, "goal": {"x": 5, "y": 1},
    "corridor": {"refs": {"ref": ["0", "1", "2"]}},
    "agent": {"limits": {"max_speed": 6, "max_acceleration": 3, "max_braking": 4}},
}


class NavMeshCliTest(unittest.TestCase):
    """One server for all."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="arclane-cli-")
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        """A file in the test's folder."""
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def arclane(self, server, *arguments, code=0):
        """What the command line writes."""
        done = subprocess.run([program("client/cli/arclane"), f"--server={server.target}", *arguments], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_a_mesh_from_publishing_to_drawing(self):
        """Every command of the group."""
        mesh = self.write("town.json", json.dumps(MESH))
        request = self.write("request.json", json.dumps(REQUEST))
        with LiveServer() as server:
            self.assertIn("1 tiles, 4 polygons", self.arclane(server, "navmesh", "publish", "town", mesh))
            self.assertIn("was there already", self.arclane(server, "navmesh", "publish", "town", mesh))
            self.assertIn("UNKNOWN_NAVMESH", self.arclane(server, "navmesh", "get", "nowhere", code=1))
            self.assertRegex(self.arclane(server, "navmesh", "list"), r"town\s+1\s+active")
            answer = json.loads(self.arclane(server, "plan-corridor", request, "--json"))
            self.assertEqual(answer["route"]["outcome"], "OUTCOME_COMPLETE")
            self.assertEqual(answer["answer"]["cache"], "CACHE_OUTCOME_MISS")
            self.assertIn("epoch", self.arclane(server, "navmesh", "apply", "town", "--close", "7", "--disable", "100", "--cost", "0=2"))
            answer = json.loads(self.arclane(server, "plan-corridor", request, "--json"))
            self.assertEqual(answer["route"]["outcome"], "OUTCOME_GATE_CLOSED")
            events = [json.loads(line) for line in
                      self.arclane(server, "navmesh", "watch", "town", "--known-epoch", "2", "--count", "2").splitlines()]
            self.assertEqual(events[0]["changes"]["changes"][0]["changes"]["closed_gates"], ["7"])
            self.assertIn("synced", events[1])
            picture = self.arclane(server, "navmesh", "draw", "town")
            xml.etree.ElementTree.fromstring(picture)
            self.assertEqual(picture.count('class="ground"'), 4)  # Three polygons and the legend's.
            self.assertIn('class="closed"', picture)
            self.assertIn('class="link disabled"', picture)
            self.arclane(server, "navmesh", "create-world", "town", "match")
            self.arclane(server, "navmesh", "apply", "town", "--world", "match", "--open", "7")
            self.assertIn('class="open"', self.arclane(server, "navmesh", "draw", "town", "--world", "match"))
            self.assertIn("match", self.arclane(server, "navmesh", "worlds", "town"))
            self.arclane(server, "navmesh", "delete-world", "town", "match")
            other = dict(MESH, baked_radius=0.5)
            self.arclane(server, "navmesh", "publish", "town", self.write("other.json", json.dumps(other)), "--version", "2")
            self.arclane(server, "navmesh", "activate", "town", "1")
            self.arclane(server, "navmesh", "retire", "town", "2")
            self.assertRegex(self.arclane(server, "navmesh", "get", "town"), r"town\s+2\s+retired")
            self.arclane(server, "navmesh", "delete", "town", "2")
            self.assertIn("ACTIVE_VERSION", self.arclane(server, "navmesh", "delete", "town", "1", code=1))

    def test_a_server_publishes_the_files_of_a_directory_before_it_is_ready(self):
        """Neutral meshes encoded by the command line's own server would do as well; here the stubs encode them."""
        from stubs import Stubs, channel  # pylint: disable=import-outside-toplevel
        from request_changes import fill  # pylint: disable=import-outside-toplevel
        stubs = Stubs()
        numbers = json.loads(json.dumps(MESH), object_hook=lambda o: {
            key: [int(v) for v in value] if isinstance(value, list) and value and isinstance(value[0], str)
            else int(value) if key == "gate_id" else value for key, value in o.items()})
        for version in (1, 3):
            mesh = fill(stubs.NeutralNavMesh(baked_radius=float(version)), numbers)
            with open(os.path.join(self.folder.name, f"town@{version}.navmesh"), "wb") as file:
                file.write(mesh.SerializeToString())
        with LiveServer(f"--navmesh-dir={self.folder.name}") as server, channel(server.target) as connection:
            got = stubs.NavMeshRegistryStub(connection).GetNavMesh(stubs.GetNavMeshRequest(navmesh_id="town"))
            self.assertEqual([v.version for v in got.navmesh.versions], [1, 3])
            self.assertEqual(got.navmesh.active_version, 3)
        self.write("broken.bin", "no navmesh")
        with self.assertRaises(ServerError) as raised:
            LiveServer(f"--navmesh-dir={self.folder.name}").__enter__()
        self.assertIn("broken.bin", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
