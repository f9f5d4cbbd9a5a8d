# SPDX-License-Identifier: Apache-2.0
"""What operators do with a running server: health checks, signals, passwords, captures, settings read again."""
import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "live"))

from live_server import LiveServer, program  # noqa: E402  pylint: disable=wrong-import-position

REQUEST = {
    "start": {"x": 0, "y": 0}, "goal": {"x": 6, "y": 5},
    "corridor": {"portals": {"left": {"x": [1, 4], "y": [1, 4]}, "right": {"x": [1, 4], "y": [-1, 3]}}},
    "agent": {"limits": {"max_speed": 4, "max_acceleration": 3, "max_braking": 3}},
    "sampling": {"spacing": 0.5},
}


def cli(server, *arguments, **environment):
    """`arclane` against `server`; the settings of this shell are not those of the test."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ARCLANE_")}
    return subprocess.run([program("client/cli/arclane"), "--server", server, *arguments], capture_output=True, text=True,
                          env={**clean, **environment}, check=False, timeout=60)


def openssl(*arguments):
    """Runs openssl, quietly."""
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def make_certificates(folder):
    """An authority, and a certificate for 127.0.0.1 that serves server and client; (ca, certificate, key)."""
    paths = [os.path.join(folder, name) for name in ("ca.pem", "ca.key", "own.pem", "own.key", "own.csr", "own.ext")]
    ca, ca_key, own, own_key, request, extensions = paths
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *curve, "-days", "1", "-subj", "/CN=authority", "-keyout", ca_key, "-out", ca)
    openssl("req", *curve, "-subj", "/CN=own", "-keyout", own_key, "-out", request)
    with open(extensions, "w", encoding="utf-8") as file:
        file.write("subjectAltName=IP:127.0.0.1,DNS:localhost,URI:spiffe://game/test\n")
    openssl("x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "1", "-extfile", extensions,
            "-out", own)
    return ca, own, own_key


def scrape(address, user=None, password=None):
    """(status, text) of the metrics page."""
    request = urllib.request.Request(f"http://{address}/metrics")
    if user is not None:
        request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
    try:
        with urllib.request.urlopen(request, timeout=10) as page:
            return page.status, page.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


class ServerOperationsTest(unittest.TestCase):
    """A server as a process."""

    def await_log(self, server, text, timeout_s=20.0):
        """Waits until the server's log holds `text`."""
        deadline = time.monotonic() + timeout_s
        while text not in server.log_text():
            self.assertLess(time.monotonic(), deadline, f"{text!r} is not in the log:\n{server.log_text()}")
            time.sleep(0.02)

    def test_health_by_exit_code(self):
        """0 when serving, 4 when not, 2 for a wrong command line."""
        with tempfile.TemporaryDirectory() as folder:
            socket = "unix:" + os.path.join(folder, "socket")
            with LiveServer() as plain:
                target = plain.target
                self.assertEqual(cli(target, "health").stdout, "SERVING\n")
                for service in ("arclane.v1.PathPlanner", "arclane.v1.NavMeshRegistry", "liveness"):
                    self.assertEqual(cli(target, "health", "--service", service, "--timeout", "2s").returncode, 0, service)
                unknown = cli(target, "health", "--service", "nothing")
                self.assertEqual(unknown.returncode, 4)
                self.assertEqual(unknown.stdout, "UNKNOWN\n")
                self.assertEqual(cli(target, "health", "--timeout", "never").returncode, 2)
            self.assertEqual(cli(target, "health", "--timeout", "500ms").returncode, 4)
            with LiveServer(f"--listen=127.0.0.1:0,{socket}"):
                # Sockets stay clear text, whatever the environment says about TLS.
                self.assertEqual(cli(socket, "health", ARCLANE_TLS="1").returncode, 0)

    def test_health_and_plans_with_certificates(self):
        """The flags on TLS, and the address for probes that have no certificate."""
        with tempfile.TemporaryDirectory() as folder:
            ca, own, key = make_certificates(folder)
            request = os.path.join(folder, "request.json")
            with open(request, "w", encoding="utf-8") as file:
                json.dump(REQUEST, file)
            with LiveServer(f"--tls-certificate={own}", f"--tls-key={key}", f"--tls-client-ca={ca}", "--health-listen=127.0.0.1:0",
                            "--authorize=planner=spiffe://game/*") as server:
                self.assertEqual(cli(server.target, "health").returncode, 4)
                self.assertEqual(cli(server.target, "--tls-ca", ca, "health").returncode, 4)
                tls = ("--tls-ca", ca, "--tls-certificate", own, "--tls-key", key)
                self.assertEqual(cli(server.target, *tls, "health").returncode, 0)
                done = cli(server.target, "plan-corridor", request, "--json", ARCLANE_TLS_CA=ca, ARCLANE_TLS_CERTIFICATE=own,
                           ARCLANE_TLS_KEY=key)
                self.assertEqual(done.returncode, 0, done.stderr)
                denied = cli(server.target, *tls, "navmesh", "delete", "town", "1")
                self.assertEqual(denied.returncode, 1)
                self.assertIn("spiffe://game/test", denied.stderr)
                self.assertEqual(cli(server.target, "--tls-ca", ca, "--tls-certificate", own, "health").returncode, 2)
                self.assertIn("call denied", server.log_text())
                self.assertNotIn("PRIVATE KEY", server.log_text())
                with open(os.path.join(server.folder, "ready.json"), encoding="utf-8") as file:
                    probe = json.load(file)["health"][0]
                self.assertEqual(cli(probe, "health").returncode, 0)
                self.assertEqual(cli(probe, "limits").returncode, 1)

    def test_clear_text_beyond_this_machine_is_warned_of(self):
        """At the start, for calls and for metrics; not on loopback."""
        with LiveServer() as quiet:
            self.assertNotIn("everybody in reach", quiet.log_text())
        with LiveServer("--listen=0.0.0.0:0", "--metrics-listen=0.0.0.0:0") as loud:
            self.assertIn("can call and read along: no TLS listen=0.0.0.0:0", loud.log_text())
            self.assertIn("can read the metrics metrics_listen=0.0.0.0:0", loud.log_text())

    def test_metrics_behind_a_password(self):
        """Basic authentication; the password may change, and is never told."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "password")
            with open(path, "w", encoding="utf-8") as file:
                file.write("sesame-7\n")
            flags = ("--metrics-user=prometheus", f"--metrics-password-file={path}")
            with LiveServer(*flags) as server:
                self.assertEqual(scrape(server.metrics)[0], 401)
                self.assertEqual(scrape(server.metrics, "prometheus", "sesame-8")[0], 401)
                self.assertEqual(scrape(server.metrics, "other", "sesame-7")[0], 401)
                status, text = scrape(server.metrics, "prometheus", "sesame-7")
                self.assertEqual(status, 200)
                self.assertIn("arclane_serving 1", text)
                with open(path, "w", encoding="utf-8") as file:
                    file.write("changed")
                self.assertEqual(scrape(server.metrics, "prometheus", "sesame-7")[0], 401)
                self.assertEqual(scrape(server.metrics, "prometheus", "changed")[0], 200)
                self.assertNotIn("sesame", server.log_text())
            printed = subprocess.run([program("server/arclane-server"), "--print-config", *flags], capture_output=True, text=True,
                                     check=True)
            self.assertNotIn("changed", printed.stdout)

    def test_a_captured_request_is_planned_again(self):
        """What was slow is kept; the command line sends it again and gets the same route."""
        with tempfile.TemporaryDirectory() as folder:
            request = os.path.join(folder, "request.json")
            with open(request, "w", encoding="utf-8") as file:
                json.dump(REQUEST, file)
            captures = os.path.join(folder, "captures")
            with LiveServer(f"--capture-dir={captures}", "--slow-request-ms=0.001", "--capture-max-files=3") as server:
                first = cli(server.target, "plan-corridor", request, "--json")
                self.assertEqual(first.returncode, 0, first.stderr)
                self.await_log(server, "request captured")
                kept = [os.path.join(captures, name) for name in os.listdir(captures)]
                self.assertEqual(len(kept), 1)
                again = cli(server.target, "plan-corridor", kept[0], "--json")
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertEqual(again.stdout, first.stdout)

    def test_log_level_changes_without_a_restart(self):
        """SIGUSR2 turns debug on and off; SIGHUP applies the file, and names what waits for a restart."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "settings.json")

            def settings(**values):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(values, file)

            settings(log_level="info")
            with LiveServer(f"--config={path}") as server:
                server.process.send_signal(signal.SIGUSR2)
                self.await_log(server, "log level changed log_level=debug")
                server.process.send_signal(signal.SIGUSR2)
                self.await_log(server, "log level changed log_level=info")
                settings(log_level="info", log_success_sample=1, max_portals=7)
                server.process.send_signal(signal.SIGHUP)
                self.await_log(server, "changed_but_need_a_restart=max_portals")
                self.assertEqual(cli(server.target, "limits").returncode, 0)
                self.await_log(server, "info call method=GetLimits code=OK")
                settings(log_level="loud")
                server.process.send_signal(signal.SIGHUP)
                self.await_log(server, "the settings are wrong; those before stay")
                self.assertEqual(cli(server.target, "health").returncode, 0)
                self.assertEqual(server.stop(), 0)

    def test_a_cpu_profile_on_request(self):
        """SIGUSR1 starts and ends one; without a directory it says so."""
        with LiveServer() as server:
            server.process.send_signal(signal.SIGUSR1)
            self.await_log(server, "no profile is taken: profile_dir is unset")
        with tempfile.TemporaryDirectory() as folder, LiveServer(f"--profile-dir={folder}", "--profile-max-s=1") as server:
            server.process.send_signal(signal.SIGUSR1)
            self.await_log(server, "a CPU profile is being taken" if self.has_profiler() else "no profile is taken")
            if not self.has_profiler():
                self.skipTest("built without gperftools")
            cli(server.target, "ping", "--count", "2000", "--stream")
            server.process.send_signal(signal.SIGUSR1)
            self.await_log(server, "the CPU profile is complete")
            files = os.listdir(folder)
            self.assertEqual(len(files), 1)
            self.assertGreater(os.path.getsize(os.path.join(folder, files[0])), 100)
            server.process.send_signal(signal.SIGUSR1)  # Ends by itself.
            deadline = time.monotonic() + 20
            while server.log_text().count("the CPU profile is complete") < 2 and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertEqual(server.log_text().count("the CPU profile is complete"), 2)

    @staticmethod
    def has_profiler():
        """Whether the server was built with gperftools."""
        libraries = subprocess.run(["ldd", program("server/arclane-server")], capture_output=True, text=True, check=True).stdout
        return "libprofiler" in libraries

    def test_help_names_every_setting(self):
        """--help has a default for each, and no empty one."""
        server = program("server/arclane-server")
        text = subprocess.run([server, "--help"], capture_output=True, text=True, check=True).stdout
        printed = json.loads(subprocess.run([server, "--print-config"], capture_output=True, text=True, check=True).stdout)
        for name in printed:
            self.assertIn(f"  --{name}\n", text)
        self.assertEqual(text.count("Default:"), len(printed))
        self.assertNotIn("default: ;", text)
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 110)

    def test_a_session_of_wrong_security_settings(self):
        """All of them at once, before anything listens."""
        done = subprocess.run([program("server/arclane-server"), "--tls-certificate=a", "--authorize=king=b", "--metrics-user=c",
                               "--health-listen=here"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        for text in ("tls_certificate: needs tls_key", "authorize: must be ROLE=PATTERN", "authorize: needs tls_client_ca",
                     "metrics_user: needs metrics_password_file", "health_listen: must be host:port"):
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
