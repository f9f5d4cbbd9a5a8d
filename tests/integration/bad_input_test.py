# SPDX-License-Identifier: Apache-2.0
"""Walks the table of inputs and answers in proto/README.md against a live server, which must live on after each."""
import collections
import hashlib
import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "live"))

import grpc  # noqa: E402  pylint: disable=wrong-import-position
from live_server import LiveServer, program  # noqa: E402  pylint: disable=wrong-import-position
from request_changes import apply, expand, fill  # noqa: E402  pylint: disable=wrong-import-position
from stubs import PROJECT_DIR, Stubs, channel, error_details  # noqa: E402  pylint: disable=wrong-import-position

README = os.path.join(PROJECT_DIR, "proto", "README.md")
METHODS = {"PathPlanner": ("PlanCorridor", "PlanWaypoints", "PlanSpeed", "PlanSpline"),
           "NavMeshRegistry": ("ApplyChanges", "CreateWorld", "InvalidateNavMesh")}
FOLLOW = "/arclane.v1.RouteFollower/Follow"
DEADLINE_S = 60.0
SHORT = 160


class Row:
    """One line of a table."""

    def __init__(self, cells):
        self.text, self.base, change, answer, self.expected = cells
        self.change = change.strip("`")
        self.codes = [code.strip() for code in answer.split(",")]
        self.title = f"{self.text} [{self.base}] {self.change}"


class Base:
    """A base request and its method."""

    def __init__(self, method, body):
        self.method, self.request = method, json.loads(body)


def read_tables(text):
    """({name: base request}, rows) of the README."""
    bases = {name: Base(method, body) for name, method, body in
             re.findall(r"Base request `(\w+)` \((\w+)[^)]*\):\n\n```json\n(.*?)```", text, re.DOTALL)}
    rows = []
    for line in text[text.index("## Inputs and their answers"):].splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if len(cells) == 5 and cells[1] in bases:
            rows.append(Row(cells))
    return bases, rows


class BadInputTest(unittest.TestCase):
    """The table, and what it says below."""

    @classmethod
    def setUpClass(cls):
        cls.stubs = Stubs()
        cls.server = LiveServer().__enter__()
        cls.channel = channel(cls.server.target)
        cls.planner = cls.stubs.PathPlannerStub(cls.channel)
        cls.raw = {method: cls.channel.unary_unary(f"/arclane.v1.{service}/{method}")
                   for service, methods in METHODS.items() for method in methods}
        cls.raw["PublishNavMesh"] = cls.publish
        follow = cls.channel.stream_stream(FOLLOW)
        # One message of a stream, and its answer.
        cls.raw["Follow"] = lambda data, timeout: next(follow(iter([data]), timeout=timeout))
        batch = cls.channel.unary_stream("/arclane.v1.PathPlanner/PlanBatch")
        stream = cls.channel.stream_stream("/arclane.v1.PathPlanner/PlanStream")
        # Concatenated messages are one message.
        cls.raw["PlanBatch"] = lambda data, timeout: b"".join(batch(data, timeout=timeout))
        cls.raw["PlanStream"] = lambda data, timeout: b"".join(stream(iter([data]), timeout=timeout))
        limits = cls.planner.GetLimits(cls.stubs.GetLimitsRequest(), timeout=DEADLINE_S)
        cls.limits = {field.name: getattr(limits, field.name) for field in limits.DESCRIPTOR.fields}
        with open(README, encoding="utf-8") as file:
            cls.bases, cls.rows = read_tables(file.read())
        cls.publish(cls.bases["publish"].request)

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()
        cls.server.__exit__(None, None, None)

    @classmethod
    def publish(cls, request, timeout=DEADLINE_S):
        """Publishes the mesh of a request; size, digest and format of its content are filled in where it leaves them out."""
        content = fill(cls.stubs.NeutralNavMesh(), request.get("mesh", {})).SerializeToString(deterministic=True)
        header = {"format": cls.stubs.NAV_MESH_FORMAT_NEUTRAL, "content_bytes": len(content), **request["header"]}
        first = cls.stubs.PublishNavMeshRequest()
        fill(first.header, header)
        first.header.content_sha256 = hashlib.sha256(content).digest()
        pieces = [first] + [cls.stubs.PublishNavMeshRequest(content=content[at:at + 100]) for at in range(0, len(content), 100)]
        stub = cls.stubs.NavMeshRegistryStub(cls.channel)
        return stub.PublishNavMesh(iter(pieces), timeout=timeout).SerializeToString(deterministic=True)

    def encoded(self, method, request):
        """The bytes to send."""
        if isinstance(request, bytes) or method == "PublishNavMesh":
            return request
        return fill(getattr(self.stubs, f"{method}Request")(), request).SerializeToString(deterministic=True)

    def outcome_of(self, method, data):
        """The outcome's name, without its enum's prefix; empty for methods without one."""
        response = getattr(self.stubs, f"{method}Response").FromString(data)
        if method in ("PlanCorridor", "PlanWaypoints"):
            return self.stubs.Outcome.Name(response.route.outcome).removeprefix("OUTCOME_")
        if method == "PlanSpeed":
            return self.stubs.SpeedOutcome.Name(response.plan.outcome).removeprefix("SPEED_OUTCOME_")
        if method in ("PlanBatch", "PlanStream"):
            return self.outcomes_of(getattr(answer, "answer", answer) for answer in response.answers)
        if method == "Follow":
            return self.stubs.FollowStatus.Name(response.motions.status[0]).removeprefix("FOLLOW_STATUS_")
        return ""

    def outcomes_of(self, answers):
        """How many items came to which outcome, or failed with which code: "2 COMPLETE, 1 INVALID_ARGUMENT"."""
        names = {code.value[0]: code.name for code in grpc.StatusCode}
        counts = collections.Counter()
        for answer in answers:
            if answer.HasField("status"):
                counts[names[answer.status.code]] += 1
            elif answer.HasField("corridor"):
                counts[self.stubs.Outcome.Name(answer.corridor.route.outcome).removeprefix("OUTCOME_")] += 1
            else:
                counts["OK"] += 1
        return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))

    def ask(self, method, data):
        """(code name, outcome name or None, violated fields, error text)."""
        try:
            return "OK", self.outcome_of(method, self.raw[method](data, timeout=DEADLINE_S)), [], ""
        except grpc.RpcError as error:
            violations, info, _ = error_details(self.stubs, error)
            if info is None or info.domain != "arclane":
                violations.append(("(no ErrorInfo of the domain arclane)", ""))
            return error.code().name, None, [field for field, _ in violations], error.details()

    def check(self, row, change, answers_before):
        """One request of a row."""
        base = self.bases[row.base]
        code, outcome, fields, text = self.ask(base.method,
                                               self.encoded(base.method, apply(base.request, change, self.limits)))
        described = f"answered {code} {outcome or ''} {fields} {text[:SHORT]}"
        self.assertIn(code, row.codes, described)
        if code == "OK":
            self.assertEqual(outcome, row.expected, described)
        else:
            wanted = [f.strip() for f in row.expected.split(",") if f.strip()]
            if wanted == ["same"]:
                wanted = [path for path, _ in change]
            for field in wanted:
                self.assertIn(field, fields, described)
        self.assertTrue(self.server.alive(), f"the server ended: {self.server.log_text()[-2000:]}")
        self.assertEqual(self.answer(base), answers_before[row.base], "the answer to the base request changed")

    def answer(self, base):
        """The bytes of the answer to a base request, without what belongs to one answer; of calls that change something that
        they were answered."""
        data = self.raw[base.method](self.encoded(base.method, base.request), timeout=DEADLINE_S)
        if base.method not in METHODS["PathPlanner"] + ("PlanBatch",):
            return b""
        response = getattr(self.stubs, f"{base.method}Response").FromString(data)
        if base.method == "PlanBatch":
            response.ClearField("first_index")
            for item in response.answers:
                kind = item.WhichOneof("response")
                if kind not in (None, "status"):
                    getattr(item, kind).ClearField("answer")
        else:
            response.ClearField("answer")
        return response.SerializeToString(deterministic=True)

    def test_every_row_is_answered_as_the_table_says(self):
        """Every row, every variant."""
        self.assertGreater(len(self.rows), 80)
        answers = {name: self.answer(base) for name, base in self.bases.items()}
        count = 0
        for row in self.rows:
            for change in expand(row.change):
                with self.subTest(row=row.title, change=change):
                    count += 1
                    self.check(row, change, answers)
        print(f"{len(self.rows)} rows, {count} requests", file=sys.stderr)

    def test_a_taken_port_is_an_error_that_names_the_address(self):
        """A second server on the first one's port."""
        second = subprocess.run([program("server/arclane-server"), f"--listen={self.server.target}",
                                 "--metrics_listen=127.0.0.1:0"], capture_output=True, text=True, timeout=30, check=False)
        self.assertNotEqual(second.returncode, 0)
        self.assertIn(self.server.target, second.stderr + second.stdout)
        self.assertTrue(self.server.alive())
        self.planner.Ping(self.stubs.PingRequest(response_size=3), timeout=DEADLINE_S)


if __name__ == "__main__":
    unittest.main()
