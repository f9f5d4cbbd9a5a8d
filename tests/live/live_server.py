# SPDX-License-Identifier: Apache-2.0
"""A server of this build as a child process on free loopback ports, stopped when the block ends."""
import json
import os
import signal
import subprocess
import tempfile
import time

from stubs import PROJECT_DIR


class ServerError(Exception):
    """The server cannot be started; the text says what to do."""


def build_dir():
    """The build folder: ARCLANE_BUILD_DIR, or build/release."""
    return os.environ.get("ARCLANE_BUILD_DIR") or os.path.join(PROJECT_DIR, "build", "release")


def program(path):
    """The path of a built program, such as "server/arclane-server"; says how to build it when it is absent."""
    full = os.path.join(build_dir(), path)
    if not os.access(full, os.X_OK):
        name = os.path.basename(path)
        raise ServerError(f"{full} is not built.\nBuild it with: cmake --preset release && "
                          f"cmake --build --preset release --target {name}\n(or name a build folder in ARCLANE_BUILD_DIR)")
    return full


def _first(addresses):
    """A server may listen on several addresses."""
    return addresses[0] if isinstance(addresses, list) else addresses


class LiveServer:
    """Use as a context manager; `target` is the gRPC address, `metrics` the address of the metrics page."""

    def __init__(self, *flags, start_timeout_s=30.0):
        self.command = [program("server/arclane-server"), "--listen=127.0.0.1:0", "--metrics_listen=127.0.0.1:0", *flags]
        self.start_timeout_s = start_timeout_s
        self.process = None
        self.target = None
        self.metrics = None
        self.log = None
        self.folder = None  # Of its log and its ready file, ready.json.

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="arclane-server-")
        self.folder = self._folder.name
        ready_file = os.path.join(self.folder, "ready.json")
        self.log = os.path.join(self._folder.name, "log")
        # The settings of the shell that runs the tests are not those of the server under test.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ARCLANE_")}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command + [f"--ready_file={ready_file}"], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, env=environment)
        deadline = time.monotonic() + self.start_timeout_s
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                text = self.log_text()
                self._folder.cleanup()
                raise ServerError(f"the server ended with code {self.process.returncode} while starting:\n{text}")
            try:
                with open(ready_file, encoding="utf-8") as file:
                    ready = json.load(file)
                self.target, self.metrics = (_first(ready[name]) for name in ("grpc", "metrics"))
                return self
            except (OSError, ValueError, KeyError):
                time.sleep(0.02)
        text = self.log_text()
        self.__exit__(None, None, None)
        raise ServerError(f"the server was not ready after {self.start_timeout_s} s:\n{text}")

    def __exit__(self, *_):
        self.stop()
        self._folder.cleanup()

    def alive(self):
        """Whether the process still runs."""
        return self.process.poll() is None

    def log_text(self):
        """What the server has written so far."""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self, timeout_s=20.0):
        """Asks the server to stop, waits, and returns its exit code; kills it when it does not stop in time."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode
