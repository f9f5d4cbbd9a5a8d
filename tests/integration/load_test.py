# SPDX-License-Identifier: Apache-2.0
"""`arclane-load` against a live server, in every shape: all calls succeed, items are counted, and Pings have the plans' bytes."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "live"))

from live_server import LiveServer, ServerError, program  # noqa: E402  pylint: disable=wrong-import-position

# Ends by its count, long before its time.
BOUNDS = ["--warm_up=0s", "--duration=60s", "--slice=20ms", "--deadline=30s", "--quiet"]


class LoadTest(unittest.TestCase):
    """One server for all."""

    @classmethod
    def setUpClass(cls):
        cls.server = LiveServer()
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)

    def load(self, *flags, code=0):
        """The standard output of a run."""
        done = subprocess.run([program("client/loadgen/arclane-load"), f"--server={self.server.target}", *BOUNDS, *flags],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def report(self, *flags):
        """A run's report; every call must have succeeded."""
        report = json.loads(self.load("--json=-", *flags))
        for series in report["series"]:
            self.assertEqual(series["failed"], 0, series)
        return report

    def test_help_is_no_failure(self):
        """Exit code 0, with every flag and its default."""
        done = subprocess.run([program("client/loadgen/arclane-load"), "--help"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"(?s)Examples:.*--concurrency\n +Calls in flight .* Default: 8\.\n.*--version")

    def test_unary_calls_of_every_kind(self):
        """Closed and open."""
        mix = "--mix=corridor:32@2,reference:16@2,spline:6,waypoints:8"
        for loop in (["--concurrency=8"], ["--loop=open", "--rate=5000", "--arrivals=poisson"]):
            report = self.report(mix, "--count=600", *loop)
            calls = {series["name"]: series["calls"] for series in report["series"]}
            self.assertEqual(calls["PlanCorridor corridor:32"], 200)
            self.assertEqual(calls["PlanWaypoints waypoints:8"], 100)
            self.assertEqual(calls["all plans"], 600)
            self.assertGreater(report["ratios"]["p50"], 0.0)

    def test_pings_have_the_bytes_of_the_plans(self):
        """For each shape; a length prefix may cost a byte."""
        for flags in ("--mix=corridor:32", "--mix=corridor:8 --shape=stream", "--mix=corridor:8 --shape=batch --batch_size=20"):
            plans, pings = self.report("--count=100", *flags.split())["series"][:2]
            for size in ("request_bytes", "response_bytes"):
                self.assertLessEqual(abs(plans[size] - pings[size]), 2.0, (flags, size, plans, pings))

    def test_batches(self):
        """Every item is answered, by reference and inline."""
        for mix in ("reference:16", "corridor:16@2,spline:5"):
            series = self.report(f"--mix={mix}", "--shape=batch", "--batch_size=300", "--samples=32", "--count=20", "--distinct=700",
                                 "--cache=bypass", "--concurrency=2")["series"][0]
            self.assertEqual(series["calls"], 20)
            self.assertEqual(series["items_ok"], 20 * 300)
            self.assertEqual(series["items_failed"], 0)

    def test_streams(self):
        """Of plans and of Pings, over several connections."""
        for mix in ("reference:16,corridor:8", "ping:100"):
            report = self.report(f"--mix={mix}", "--shape=stream", "--count=2000", "--connections=2", "--threads=2", "--concurrency=64")
            self.assertEqual(sum(s["calls"] for s in report["series"] if s["name"].startswith("Pl") or s["name"] == "Ping ping:100"), 2000)

    def test_items_that_fail_are_counted(self):
        """In a batch they do not fail the call, in a stream each is a call."""
        path = os.path.join(HERE, "..", "..", "client", "examples", "request.json")
        with open(path, encoding="utf-8") as file:
            bad = json.load(file)
        bad["agent"]["limits"]["max_speed"] = -1
        for shape, expected in (("batch", ("items_failed", 50)), ("stream", ("failed", 10)), ("unary", ("failed", 10))):
            done = subprocess.run(
                [program("client/loadgen/arclane-load"), f"--server={self.server.target}", *BOUNDS, "--mix=plan-corridor=-",
                 f"--shape={shape}", "--batch_size=5", "--count=10", "--json=-"],
                input=json.dumps(bad), capture_output=True, text=True, timeout=120, check=False)
            series = json.loads(done.stdout)["series"][0]
            self.assertEqual(series[expected[0]], expected[1], series)
            self.assertEqual(done.returncode, 0 if shape == "batch" else 1)

    def test_report_forms(self):
        """CSV has a line a series; the picture is well-formed."""
        rows = list(csv.DictReader(io.StringIO(self.load("--count=200", "--csv=-"))))
        self.assertEqual([row["ok"] for row in rows][0], "200")
        self.assertTrue(all(None not in row.values() for row in rows))
        svg = self.load("--count=200", "--svg=-")
        self.assertTrue(xml.etree.ElementTree.fromstring(svg).tag.endswith("svg"))

    def test_all_wrong_flags_are_told(self):
        """At once."""
        told = self.load("--rate=many", "--mix=house", "--threads=7", "--deadline=soon", "--durations=1s", "word", "--count", code=2)
        for flag in ("--rate", "--mix", "--threads", "--deadline", "--durations: there is no such flag", '"word"', "--count: needs a value"):
            self.assertIn(flag, told)

    def test_files_that_cannot_be_written_are_told_before_the_load(self):
        """All of them, in less than the time of a run, and without harm to the others."""
        with tempfile.TemporaryDirectory() as folder:
            kept, new = os.path.join(folder, "kept.json"), os.path.join(folder, "new.json")
            with open(kept, "w", encoding="utf-8") as file:
                file.write("before")
            started = time.monotonic()
            told = self.load(f"--json={kept}", f"--csv={folder}", "--svg=/nowhere/at/all.svg", "--count=1000000000", code=2)
            self.assertLess(time.monotonic() - started, 30)
            self.assertIn(f"cannot write {folder}: Is a directory", told)
            self.assertIn("cannot write /nowhere/at/all.svg: No such file or directory", told)
            self.load(f"--json={new}", f"--csv={folder}", code=2)
            self.assertFalse(os.path.exists(new))
            with open(kept, encoding="utf-8") as file:
                self.assertEqual(file.read(), "before")
            self.load(f"--json={kept}", "--count=100")
            with open(kept, encoding="utf-8") as file:
                self.assertIn("series", json.load(file))


if __name__ == "__main__":
    try:
        unittest.main()
    except ServerError as error:
        sys.exit(str(error))
