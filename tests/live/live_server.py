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


def clean_environment(**extra):
    """The settings of the shell that runs the tests are not those of the servers under test."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith("ARCLANE_")}, **extra}


def await_ready(process, ready_file, log_text, timeout_s=30.0):
    """What a server that was just started writes when it is ready: its addresses. `log_text()` is its log, for the error."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ServerError(f"the server ended with code {process.returncode} while starting:\n{log_text()}")
        try:
            with open(ready_file, encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            time.sleep(0.005)
    raise ServerError(f"the server was not ready after {timeout_s} s:\n{log_text()}")


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
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command + [f"--ready_file={ready_file}"], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, env=clean_environment())
        try:
            ready = await_ready(self.process, ready_file, self.log_text, self.start_timeout_s)
        except ServerError:
            self.__exit__(None, None, None)
            raise
        self.target, self.metrics = (_first(ready[name]) for name in ("grpc", "metrics"))
        return self

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
