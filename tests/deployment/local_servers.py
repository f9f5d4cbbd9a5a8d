# SPDX-License-Identifier: Apache-2.0
"""Servers, proxies and loads of the deployment tests: child processes on loopback ports that stay the same over restarts."""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "live"))

from live_server import ServerError, await_ready, clean_environment, program  # noqa: E402  pylint: disable=wrong-import-position
from stubs import PROJECT_DIR  # noqa: E402  pylint: disable=wrong-import-position

# Below the range from which kernels take ports for outgoing connections, so that nobody takes one between two lives.
FIRST_PORT, LAST_PORT = 20500, 20599


_given_ports = set()
_given_ports_lock = threading.Lock()


def free_ports(count):
    """Ports of the range that nobody listens on, and that were given to nobody else in this process."""
    with _given_ports_lock:
        found = _look_for_ports(count)
        _given_ports.update(found)
    return found


def _look_for_ports(count):
    found = []
    for port in sorted(set(range(FIRST_PORT, LAST_PORT + 1)) - _given_ports):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                found.append(port)
            except OSError:
                continue
        if len(found) == count:
            return found
    raise ServerError(f"fewer than {count} free ports from {FIRST_PORT} to {LAST_PORT}")


def encode_mesh(folder, name="yard"):
    """Writes tests/deployment/NAME.txtpb as FOLDER/NAME.navmesh, for --navmesh_dir."""
    path = os.path.join(folder, name + ".navmesh")
    with open(os.path.join(HERE, name + ".txtpb"), "rb") as text, open(path, "wb") as encoded:
        subprocess.run(["protoc", "-I", os.path.join(PROJECT_DIR, "proto"), "--encode=arclane.v1.NeutralNavMesh",
                        "arclane/v1/navmesh.proto"], stdin=text, stdout=encoded, check=True)
    return path


def await_port(port, timeout_s=10.0):
    """Waits until somebody listens."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise ServerError(f"nobody listens on port {port} after {timeout_s} s")


class Child:
    """A process with a log file, killed when the block ends."""

    def __init__(self, folder, name):
        self.name = name
        self.log_path = os.path.join(folder, name + ".log")
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def spawn(self, command, stdout=None, env=None):
        """Starts the process; its log is appended to."""
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout or log, stderr=log,
                                            env=env or clean_environment())

    def log(self):
        """The end of the log."""
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-30:])

    def end(self, timeout_s=60.0):
        """SIGTERM; the exit code and the seconds that it took."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            self.process.kill()
            raise ServerError(f"{self.name} did not end within {timeout_s} s of SIGTERM:\n{self.log()}") from error
        return self.process.returncode, time.monotonic() - begin


class LocalServer(Child):
    """An arclane-server that can be stopped and started again on the same ports."""

    def __init__(self, folder, name, port, *flags, metrics_port=None, env=None):
        super().__init__(folder, name)
        self.port = port
        self.metrics_port = metrics_port
        self.env = env
        self.ready_file = os.path.join(folder, name + ".ready")
        metrics = f"127.0.0.1:{metrics_port}" if metrics_port else "none"
        self.command = [program("server/arclane-server"), f"--listen=127.0.0.1:{port}", f"--metrics_listen={metrics}",
                        f"--ready_file={self.ready_file}", *flags]

    def start(self, timeout_s=30.0):
        """Returns the seconds until it is ready."""
        begin = time.monotonic()
        self.spawn(self.command, env=clean_environment(**(self.env or {})))
        await_ready(self.process, self.ready_file, self.log, timeout_s)
        return time.monotonic() - begin

    def stop(self):
        """SIGTERM must give 0 and take the ready file away; returns the seconds until the exit."""
        code, took = self.end()
        if code != 0 or os.path.exists(self.ready_file):
            raise ServerError(f"{self.name} ended with {code} after SIGTERM, or left its ready file:\n{self.log()}")
        return took


class Load(Child):
    """restart_load, until `finish` asks for its report."""

    def start(self, target, *flags):
        """Returns at once."""
        self.spawn([program("tests/deployment/restart_load"), f"--target={target}", *flags], stdout=subprocess.PIPE)

    def finish(self):
        """The report."""
        self.process.send_signal(signal.SIGTERM)
        try:
            text, _ = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired as error:
            self.process.kill()
            raise ServerError(f"the load did not end:\n{self.log()}") from error
        try:
            return json.loads(text)
        except ValueError as error:
            raise ServerError(f"the load ended with {self.process.returncode} and no report:\n{self.log()}") from error


def scratch_folder():
    """A folder that is deleted at the end of its block."""
    return tempfile.TemporaryDirectory(prefix="arclane-deployment-")
