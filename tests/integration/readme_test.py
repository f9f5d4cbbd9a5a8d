# SPDX-License-Identifier: Apache-2.0
"""What README.md says is so: its Python example runs against a live server, its links lead somewhere, its metrics are served."""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "live"))

from live_server import LiveServer, program  # noqa: E402  pylint: disable=wrong-import-position
from stubs import PROJECT_DIR, Stubs, channel  # noqa: E402  pylint: disable=wrong-import-position

with open(os.path.join(PROJECT_DIR, "README.md"), encoding="utf-8") as readme:
    README = readme.read()


class ReadmeTest(unittest.TestCase):
    """README.md against the tree and a live server."""

    def test_links_lead_to_files(self):
        """Every relative link and picture."""
        prose = re.sub(r"```.*?```", "", README, flags=re.DOTALL)  # Code has brackets of its own.
        targets = [t for t in re.findall(r"\]\(([^)#]+)\)", prose) if "://" not in t]
        self.assertGreater(len(targets), 2)
        for target in targets:
            self.assertTrue(os.path.exists(os.path.join(PROJECT_DIR, target)), target)

    def test_python_example_runs(self):
        """As it stands, with stubs made by the command that it names."""
        code = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
        command = re.search(r"`(protoc -I proto [^`]*)`", README).group(1)
        with tempfile.TemporaryDirectory() as folder, LiveServer() as server:
            subprocess.run(command.replace("--python_out=. --grpc_out=.", f"--python_out={folder} --grpc_out={folder}"), shell=True,
                           check=True, cwd=PROJECT_DIR)
            done = subprocess.run([sys.executable, "-B", "-c", code], cwd=folder, capture_output=True, text=True, check=False,
                                  env={**os.environ, "ARCLANE_SERVER": server.target})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^length \d+\.\d{3}, ")

    def test_requests_of_the_help_can_be_pasted(self):
        """README sends its reader there for one of each kind."""
        with LiveServer() as server, tempfile.TemporaryDirectory() as folder:
            for command in ("plan-corridor", "plan-waypoints", "plan-spline", "plan-speed", "plan-batch", "follow"):
                told = subprocess.run([program("client/cli/arclane"), command, "--help"], capture_output=True, text=True, check=True).stdout
                path = os.path.join(folder, f"{command}.json")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(re.search(r"\n( *\{.*)", told, re.DOTALL).group(1))
                done = subprocess.run([program("client/cli/arclane"), f"--server={server.target}", command, path], capture_output=True,
                                      text=True, check=False)
                self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")

    def test_navmesh_commands_run(self):
        """As they stand, one after the other, up to the watch that only Ctrl-C ends."""
        block = re.search(r"### Navmeshes by reference.*?```sh\n(.*?)```", README, re.DOTALL).group(1)
        told = []
        with LiveServer() as server, tempfile.TemporaryDirectory() as folder:
            for line in block.splitlines():
                words = shlex.split(line, comments=True)
                self.assertEqual(words[0], "arclane")
                if "watch" in words:
                    continue
                words = [os.path.join(folder, word) if word.endswith(".svg") else word for word in words[1:]]
                done = subprocess.run([program("client/cli/arclane"), f"--server={server.target}", *words], capture_output=True, text=True,
                                      check=False, cwd=PROJECT_DIR)
                self.assertEqual(done.returncode, 0, f"{line}: {done.stdout}{done.stderr}")
                told.append(done.stdout)
        self.assertIn("cache MISS", told[1])
        self.assertIn("gate 7", told[3])

    def test_metrics_of_the_table_are_served(self):
        """Every name of the table, after one plan."""
        names = re.findall(r"^\| `(arclane_\w+)` \|", README, re.MULTILINE)
        self.assertGreater(len(names), 5)
        stubs = Stubs()
        with LiveServer() as server:
            with channel(server.target) as connection:
                stubs.PathPlannerStub(connection).Ping(stubs.PingRequest(), timeout=10)
            with urllib.request.urlopen(f"http://{server.metrics}/metrics", timeout=10) as page:
                text = page.read().decode()
        for name in names:
            self.assertRegex(text, rf"(?m)^# TYPE {name} ", name)


if __name__ == "__main__":
    unittest.main()
