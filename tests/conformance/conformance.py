# SPDX-License-Identifier: Apache-2.0
"""Runs reference records through a live server and the planning code and judges every answer.

Exit codes: 0 all passed, 1 a record failed or a served kind ran none, 2 nothing could be run.
"""
import argparse
import collections
import json
import math
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "live")]

from checks import equal  # noqa: E402  pylint: disable=wrong-import-position
from kinds import KINDS  # noqa: E402  pylint: disable=wrong-import-position
from kinds.navmesh_file import navmesh_file_checks  # noqa: E402  pylint: disable=wrong-import-position
from float_columns import widen_columns  # noqa: E402  pylint: disable=wrong-import-position
from live_server import LiveServer, ServerError, program  # noqa: E402  pylint: disable=wrong-import-position
from navmesh import NavMeshes  # noqa: E402  pylint: disable=wrong-import-position
from records import RecordError, read_records  # noqa: E402  pylint: disable=wrong-import-position
from stubs import StubError, Stubs, channel, error_details  # noqa: E402  pylint: disable=wrong-import-position

CALL_DEADLINE_S = 60.0
WORST_SHOWN = 3
FAILURES_SHOWN = 5


class Context:
    """What a kind needs to make cases: the stubs, the navmeshes published in this run, the folder of the file being read, and
    whether the run is a full one."""

    def __init__(self, stubs, navmeshes, full):
        self.stubs, self.navmeshes, self.full, self.folder = stubs, navmeshes, full, "."


class RecordResult:
    """The checks of one record over all its cases."""

    def __init__(self, record_id, file, kind):
        self.record_id, self.file, self.kind = record_id, file, kind
        self.cases = []  # (case name, checks)
        self.pending = 0

    def add(self, case_name, checks):
        """Adds a judged case."""
        self.cases.append((case_name, checks))
        self.pending -= 1

    @property
    def passed(self):
        """Whether every check of every case passed."""
        return bool(self.cases) and all(check.passed for _, checks in self.cases for check in checks)

    def worst(self):
        """(case name, check) of the largest error over tolerance; the first failure wins over any pass."""
        pairs = [(name, check) for name, checks in self.cases for check in checks]
        return max(pairs, key=lambda pair: (not pair[1].passed, pair[1].excess))

    def report_line(self):
        """The record as one JSON object."""
        case, check = self.worst()
        return {"id": self.record_id, "file": self.file, "kind": self.kind,
                "status": "passed" if self.passed else "failed",
                "case": case, "quantity": check.quantity, "measured": check.measured, "reference": check.reference,
                "error": check.error, "tolerance": check.tolerance,
                "cases": [{"case": name, "checks": [vars(c) for c in checks]} for name, checks in self.cases]}


class RpcRunner:
    """Keeps a bounded number of calls in flight on one channel and judges each answer as it is drained."""

    def __init__(self, stubs, target, window):
        self._stubs, self._window = stubs, window
        self._channel = channel(target)
        self._planner = stubs.PathPlannerStub(self._channel)
        self.registry = stubs.NavMeshRegistryStub(self._channel)
        self._in_flight = collections.deque()
        self.calls = 0

    def submit(self, case, result):
        """Starts a call; waits for the oldest when the window is full."""
        if len(self._in_flight) >= self._window:
            self._drain_one()
        future = getattr(self._planner, case.method).future(case.request, timeout=CALL_DEADLINE_S)
        self._in_flight.append((future, case, result))
        self.calls += 1

    def finish(self):
        """Waits for every call."""
        while self._in_flight:
            self._drain_one()

    def _drain_one(self):
        import grpc  # pylint: disable=import-outside-toplevel
        future, case, result = self._in_flight.popleft()
        try:
            checks = case.judge(widen_columns(future.result()))
        except grpc.RpcError as error:
            violations, _, _ = error_details(self._stubs, error)
            text = "; ".join(f"{field}: {why}" for field, why in violations) or error.details()
            checks = (case.judge_error(error.code().name) if case.judge_error
                      else [equal("status", f"{error.code().name}: {text}", "OK")])
        result.add(case.name, checks)


def run_local(cases):
    """Runs (case, result) pairs through the local program in one go."""
    if not cases:
        return
    lines = "".join(json.dumps(case.request) + "\n" for case, _ in cases)
    try:
        path = program("tests/conformance/arclane_conformance")
    except ServerError as error:
        print(f"FAILED {error}")
        for case, result in cases:
            result.add(case.name, [equal("answer", "the local program is not built", "one line")])
        return
    done = subprocess.run([path], input=lines, capture_output=True, text=True, check=False)
    answers = done.stdout.splitlines()
    for i, (case, result) in enumerate(cases):
        if i < len(answers):
            answer = json.loads(answers[i])
            result.add(case.name, [equal("status", answer["error"], "OK")] if "error" in answer else case.judge(answer))
        else:
            result.add(case.name, [equal("answer", f"none (exit code {done.returncode}) {done.stderr.strip()}", "one line")])


def kind_of(record):
    """The first kind that the record's fields fit, or None."""
    return next((kind for kind in KINDS if kind.matches(record)), None)


class Skipped:
    """A record that is recognised, or not, and not run."""

    def __init__(self, record, file, kind_name, reason):
        self.record_id, self.file = str(record.get("id", "?")), file
        self.kind, self.reason = kind_name, reason

    def report_line(self):
        """The record as one JSON object."""
        return {"id": self.record_id, "file": self.file, "kind": self.kind, "status": "skipped", "reason": self.reason}


def run_file(path, context, runner):
    """(results, skipped records, problems) of one file."""
    results, skipped, local, problems = [], [], [], []
    name = os.path.basename(path)
    context.folder = os.path.dirname(path) or "."
    ran = collections.Counter()
    for record in read_records(path):
        kind = kind_of(record)
        if kind is None:
            skipped.append(Skipped(record, name, "unknown", "its fields fit no kind"))
            continue
        if kind.skip_reason is not None:
            skipped.append(Skipped(record, name, kind.name, kind.skip_reason))
            continue
        result = RecordResult(kind.record_id(record), name, kind.name)
        results.append(result)
        ran[kind.name] += 1
        for case in kind.cases(record, context):
            result.pending += 1
            if case.method is None:
                local.append((case, result))
            else:
                runner.submit(case, result)
    runner.finish()
    run_local(local)
    for kind in KINDS:
        problems += [f"{name}: {problem}" for problem in kind.end_file()]
        if kind.skip_reason is None and kind.matches_file(name) and not ran[kind.name]:
            problems.append(f"{name}: holds no record of kind '{kind.name}', which is served")
    return results, skipped, problems


def run_navmesh_file(path, context, runner):
    """(results, skipped records, problems) of one Detour file: the mesh is one record."""
    import grpc  # pylint: disable=import-outside-toplevel
    name = os.path.basename(path)
    result = RecordResult(name.removesuffix(".bin"), name, "navmesh file")
    try:
        checks, cases = navmesh_file_checks(path, context)
    except grpc.RpcError as error:
        result.add("mesh", [equal("status", f"{error.code().name}: {error.details()}", "OK")])
        return [result], [], []
    result.add("mesh", checks)
    for case in cases:
        runner.submit(case, result)
    runner.finish()
    return [result], [], []


def describe(check):
    """One check as text."""
    if isinstance(check.measured, (int, float)) and not isinstance(check.measured, bool) and check.tolerance > 0.0:
        return f"{check.quantity} {check.measured!r}, reference {check.reference!r}, off by {check.error:.3g} " \
               f"of {check.tolerance:.3g} allowed"
    return f"{check.quantity} {check.measured!r}, reference {check.reference!r}"


def print_file(name, results, skipped, elapsed_s, calls):
    """The summary of one file."""
    for (kind, reason), count in sorted(collections.Counter((s.kind, s.reason) for s in skipped).items()):
        print(f"{name}: {count} skipped ({kind}: {reason})")
    if not results:
        return
    failed = [r for r in results if not r.passed]
    print(f"{name}: {len(results) - len(failed)} passed, {len(failed)} failed "
          f"({', '.join(sorted({r.kind for r in results}))}; {sum(len(r.cases) for r in results)} cases, "
          f"{calls} calls, {elapsed_s:.1f} s)")
    for result in failed[:FAILURES_SHOWN]:
        case, check = result.worst()
        print(f"  FAILED {result.record_id} {case}: {describe(check)}")
    if len(failed) > FAILURES_SHOWN:
        print(f"  ... and {len(failed) - FAILURES_SHOWN} more (see --report)")
    measured = [(r, *r.worst()) for r in results if r.passed]
    for result, case, check in sorted(measured, key=lambda m: -m[2].excess)[:WORST_SHOWN]:
        print(f"  worst  {result.record_id} {case}: {describe(check)}")


def find_files(paths):
    """Every record file under the paths, in order; other files with the reason why they are left out."""
    files, left_out = [], []
    for path in paths:
        if not os.path.exists(path):
            raise RecordError(f"{path}: no such file or folder")
        found = [path]
        if os.path.isdir(path):
            found = sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
        for file in found:
            name = os.path.basename(file)
            stem = name.removesuffix(".gz")
            if stem.endswith((".jsonl", ".bin")):
                files.append(file)
            elif stem.endswith(".json"):
                left_out.append((name, "mesh that records refer to, no record itself"))
            elif not os.path.isdir(path):
                files.append(file)
    return files, left_out


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(prog="tests/conformance/run.sh", description=__doc__)
    parser.add_argument("paths", nargs="+", metavar="PATH",
                        help="record files (.jsonl, plain or .gz), Detour files (.bin) or folders of them")
    parser.add_argument("--server", metavar="HOST:PORT", help="a running server (default: one of this build is started)")
    parser.add_argument("--report", metavar="FILE", help="write one JSON line for each record")
    parser.add_argument("--full", action="store_true", help="every transformation of every record, not a sample")
    parser.add_argument("--in-flight", type=int, default=32, metavar="N", help="calls in flight (default 32)")
    return parser.parse_args()


def json_safe(value):
    """The value with numbers that JSON lacks written as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {k: json_safe(v) for k, v in value.items()}
    if isinstance(value, list):
        return [json_safe(v) for v in value]
    return value


def run(arguments, target, stubs):
    """Runs all files; returns the exit code."""
    import grpc  # pylint: disable=import-outside-toplevel
    files, left_out = find_files(arguments.paths)
    for reason, count in collections.Counter(reason for _, reason in left_out).items():
        print(f"{count} files skipped ({reason})")
    runner = RpcRunner(stubs, target, arguments.in_flight)
    context = Context(stubs, NavMeshes(stubs, runner.registry), arguments.full)
    passed = failed = 0
    problems = []
    report = open(arguments.report, "w", encoding="utf-8") if arguments.report else None
    for file in files:
        begin, calls = time.monotonic(), runner.calls
        try:
            run_one = run_navmesh_file if file.endswith(".bin") else run_file
            results, skipped, file_problems = run_one(file, context, runner)
        except RecordError as error:
            problems.append(str(error))
            continue
        except grpc.RpcError as error:
            problems.append(f"{os.path.basename(file)}: a navmesh was not published: {error.details()}")
            continue
        problems += file_problems
        print_file(os.path.basename(file), results, skipped, time.monotonic() - begin, runner.calls - calls)
        sys.stdout.flush()
        passed += sum(r.passed for r in results)
        failed += sum(not r.passed for r in results)
        if report:
            for result in [*results, *skipped]:
                report.write(json.dumps(json_safe(result.report_line())) + "\n")
    if report:
        report.close()
    for problem in problems:
        print(f"FAILED {problem}")
    if passed + failed == 0 and not problems:
        problems.append("no record of a served kind was run")
        print(f"FAILED {problems[0]}")
    print(f"{passed} passed, {failed + len(problems)} failed")
    return 1 if failed or problems else 0


def main():
    """The program."""
    arguments = parse_arguments()
    try:
        stubs = Stubs()
        if arguments.server:
            return run(arguments, arguments.server, stubs)
        with LiveServer() as server:
            code = run(arguments, server.target, stubs)
            if not server.alive():
                print(f"FAILED the server ended during the run:\n{server.log_text()}")
                code = 1
            return code
    except (StubError, ServerError, RecordError) as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
