# SPDX-License-Identifier: Apache-2.0
"""Runs every benchmark of a Release build and reports each figure with its baseline from the same run.

A missed goal is reported, not an error: machines differ. A program that fails, or a run without figures, is an error.
"""
import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "live")]

from goals import evaluate  # noqa: E402  pylint: disable=wrong-import-position
from questions import answers  # noqa: E402  pylint: disable=wrong-import-position
from live_server import LiveServer, ServerError, build_dir, program  # noqa: E402  pylint: disable=wrong-import-position
from stubs import PROJECT_DIR  # noqa: E402  pylint: disable=wrong-import-position

QUICK_MIN_TIME_S, FULL_MIN_TIME_S = 0.02, 0.5
QUICK_REPETITIONS, FULL_REPETITIONS = 1, 3
QUICK_CALLS, FULL_CALLS = 2000, 40000
QUICK_LOAD_S, FULL_LOAD_S = 1, 8
# A ratio to the baseline of its own run that grew by more than this share since the other run is a regression. Two runs of one
# program on a machine that others use differ by up to half of it.
DEFAULT_TOLERANCE = 0.3
# The highest percentiles are the machine's as much as the program's.
LOOSE_TOLERANCE_FACTOR = 3.0
PROGRAM_TIMEOUT_S = 1800


# What the server's process asks of malloc (server/service/process_settings.h), for what is measured without a server: pages that are
# given back after each iteration and zeroed for the next would cost more than what is measured.
MALLOC_SETTINGS = {"MALLOC_TRIM_THRESHOLD_": str(64 << 20), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}

# Counters that programs keep in seconds, and what they are called in nanoseconds.
SECONDS_COUNTERS = {"s_per_portal": "ns_per_portal", "per_item": "ns_per_item"}


class BenchmarkError(Exception):
    """A program failed."""


def read_first(path, pattern):
    """The first group of the first match in a file, or an empty string."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(pattern, file.read(), re.MULTILINE)
            return match.group(1).strip() if match else ""
    except OSError:
        return ""


def output(*command):
    """Standard output of a command, or an empty string when it fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=PROJECT_DIR).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def environment(quick):
    """Machine, compiler, flags and commit."""
    cache = os.path.join(build_dir(), "CMakeCache.txt")
    compiler = read_first(cache, r"^CMAKE_CXX_COMPILER:\w+=(.*)$")
    march = read_first(cache, r"^ARCLANE_MARCH:\w+=(.*)$")
    flags = [read_first(cache, r"^CMAKE_CXX_FLAGS:\w+=(.*)$"), "-O3 -DNDEBUG -ffp-contract=off", f"-march={march}" if march else ""]
    return {
        "machine": {
            "processor": read_first("/proc/cpuinfo", r"^model name\s*:\s*(.*)$") or platform.processor(),
            "threads": os.cpu_count(),
            "memory_kib": int(read_first("/proc/meminfo", r"^MemTotal:\s*(\d+)") or 0),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "load_average_before": os.getloadavg()[0],
        },
        "compiler": output(compiler, "--version").split("\n")[0] if compiler else "",
        "flags": " ".join(flag for flag in flags if flag),
        "build_type": read_first(cache, r"^CMAKE_BUILD_TYPE:\w+=(.*)$"),
        "commit": output("git", "rev-parse", "HEAD") + ("+changes" if output("git", "status", "--porcelain") else ""),
        "quick": quick,
    }


def google_benchmarks(quick, name_filter):
    """Figures of every Google Benchmark program of the build: CPU time of an iteration, and the counters."""
    folder = os.path.join(build_dir(), "tests", "benchmarks")
    names = sorted(name for name in os.listdir(folder) if name.endswith("_benchmark") and os.access(os.path.join(folder, name), os.X_OK))
    figures = []
    for name in names:
        print(f"Running {name} ...", file=sys.stderr)
        with tempfile.TemporaryDirectory() as scratch:
            out = os.path.join(scratch, "out.json")
            repetitions = QUICK_REPETITIONS if quick else FULL_REPETITIONS
            command = [os.path.join(folder, name), f"--benchmark_out={out}", "--benchmark_out_format=json",
                       f"--benchmark_min_time={QUICK_MIN_TIME_S if quick else FULL_MIN_TIME_S}",
                       f"--benchmark_repetitions={repetitions}", "--benchmark_enable_random_interleaving=true",
                       f"--benchmark_filter={name_filter}"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=PROGRAM_TIMEOUT_S, check=False,
                                  env={**os.environ, **MALLOC_SETTINGS})
            if done.returncode != 0:
                raise BenchmarkError(f"{name} ended with code {done.returncode}:\n{done.stderr[-2000:]}")
            try:
                with open(out, encoding="utf-8") as file:
                    entries = json.load(file)["benchmarks"]
            except (OSError, ValueError):
                entries = []  # The filter matched nothing.
        figures += figures_of(name, entries)
    return figures


_STANDARD_KEYS = {"name", "run_name", "run_type", "repetitions", "repetition_index", "threads", "iterations", "real_time", "cpu_time",
                  "time_unit", "family_index", "per_family_instance_index", "aggregate_name", "aggregate_unit", "label",
                  "error_occurred", "error_message", "big_o"}


def figures_of(program_name, entries):
    """One figure a benchmark and counter: the median of the repetitions. CPU time, which other programs on the machine
    disturb least; wall-clock time where a benchmark asks for it, for its work is done by several threads."""
    groups = {}
    for entry in entries:
        if entry.get("run_type", "iteration") != "iteration":
            continue
        if entry.get("error_occurred"):
            raise BenchmarkError(f"{program_name}: {entry['name']}: {entry.get('error_message')}")
        groups.setdefault(entry.get("run_name", entry["name"]), []).append(entry)
    figures = []
    for name, runs in groups.items():
        time = "real_time" if "/real_time" in name else "cpu_time"
        figures.append({"name": name, "value": median([run[time] for run in runs]), "unit": runs[0]["time_unit"],
                        "program": program_name, "repetitions": len(runs)})
        if runs[0].get("items_per_second") and "ns_per_item" not in runs[0] and "per_item" not in runs[0]:
            figures.append({"name": f"{name}/ns_per_item", "value": median([1e9 / run["items_per_second"] for run in runs]), "unit": "ns",
                            "program": program_name, "repetitions": len(runs)})
        for counter in sorted(set(runs[0]) - _STANDARD_KEYS):
            if isinstance(runs[0][counter], (int, float)):
                value = median([run[counter] for run in runs])
                shown, unit = counter, ""
                if counter in SECONDS_COUNTERS:
                    shown, unit, value = SECONDS_COUNTERS[counter], "ns", value * 1e9
                elif counter.startswith("ns_per_"):
                    unit = "ns"
                figures.append({"name": f"{name}/{shown}", "value": value, "unit": unit, "program": program_name,
                                "repetitions": len(runs)})
    return figures


def median(values):
    """The middle value, or the mean of the two in the middle."""
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else 0.5 * (values[middle - 1] + values[middle])


def end_to_end(quick):
    """Latencies of the live server beside those of a bare echo server."""
    print("Running the end-to-end comparison ...", file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch, LiveServer() as server:
        ready = os.path.join(scratch, "echo")
        with subprocess.Popen([program("tests/benchmarks/echo_server"), ready], stdin=subprocess.PIPE) as echo:
            try:
                while not (os.path.exists(ready) and os.path.getsize(ready)):
                    if echo.poll() is not None:
                        raise BenchmarkError("echo_server ended while starting")
                with open(ready, encoding="utf-8") as file:
                    echo_target = file.read().strip()
                done = subprocess.run([program("tests/benchmarks/latency_client"), server.target, echo_target,
                                       str(QUICK_CALLS if quick else FULL_CALLS)], capture_output=True, text=True, check=False,
                                      timeout=PROGRAM_TIMEOUT_S)
            finally:
                echo.stdin.close()
        if done.returncode != 0:
            raise BenchmarkError(f"latency_client: {done.stderr}\n{server.log_text()[-2000:]}")
        cached = subprocess.run([program("tests/benchmarks/latency_client"), "--cache", server.target,
                                 str(QUICK_CALLS if quick else FULL_CALLS)], capture_output=True, text=True, check=False,
                                timeout=PROGRAM_TIMEOUT_S)
        if cached.returncode != 0:
            raise BenchmarkError(f"latency_client --cache: {cached.stderr}\n{server.log_text()[-2000:]}")
    figures = []
    for series in json.loads(done.stdout) + json.loads(cached.stdout):
        for quantity in ("p50", "p99"):
            figures.append({"name": f"{series['series']}/in_flight:{series['in_flight']}/{quantity}", "value": series[f"{quantity}_us"],
                            "unit": "us", "program": "latency_client", "calls": series["calls"],
                            "request_bytes": series["request_bytes"], "response_bytes": series["response_bytes"]})
    return figures


# Loads by name, each with the flags of arclane-load. Plans and Pings of the same bytes take turns in all of them.
LOADS = {
    "OpenLoop/rate:1000": ["--mix=corridor:32", "--loop=open", "--rate=1000"],
    **{f"Stream/in_flight:{n}": ["--mix=corridor:32", "--shape=stream", f"--concurrency={n}"] for n in (1, 8, 64)},
    "Waypoints/in_flight:8": ["--mix=waypoints:32"],
    "Spline/in_flight:8": ["--mix=spline:8"],
    "Mixed/in_flight:64": ["--mix=corridor:32@4,reference:32@8,waypoints:16@2,spline:8@1", "--concurrency=64", "--connections=2"],
    **{f"Batch_{name}/samples:{samples}": [f"--mix={part}:16", f"--samples={samples}", "--shape=batch", "--batch_size=1000",
                                           "--distinct=4000", "--cache=bypass", "--concurrency=2"]
       for name, part in (("Refs", "reference"), ("Polygons", "corridor")) for samples in (0, 32)},
}


def load_figures(name, report):
    """Figures of one load: percentiles of plans and Pings, plans a second, the server's CPU time a plan."""
    plans, pings = report["series"][-2:]
    figures = []

    def add(figure, value, unit):
        figures.append({"name": f"Load_{name}/{figure}", "value": value, "unit": unit, "program": "arclane-load", "calls": plans["ok"],
                        "request_bytes": plans["request_bytes"], "response_bytes": plans["response_bytes"]})

    for quantity in ("p50", "p99", "p99.9"):
        add(quantity, plans["latency_us"][quantity], "us")
        add(f"ping_{quantity}", pings["latency_us"][quantity], "us")
    add("plans_per_s", plans.get("items_ok_per_s", plans["ok_per_s"]), "/s")
    add("pings_per_s", pings["ok_per_s"], "/s")
    if "items_ok" in plans:
        add("server_cpu_a_plan", plans["server_cpu_us_per_item"], "us")
    else:
        add("server_cpu_a_plan", plans["server_cpu_us_per_call"], "us")
        add("server_cpu_a_ping", pings["server_cpu_us_per_call"], "us")
    return figures


def loads(quick, name_filter):
    """Figures of every load, each with a server of its own."""
    figures = []
    for name, flags in LOADS.items():
        if not re.search(name_filter, f"Load_{name}"):
            continue
        print(f"Running arclane-load {' '.join(flags)} ...", file=sys.stderr)
        with LiveServer() as server:
            done = subprocess.run([program("client/loadgen/arclane-load"), f"--server={server.target}", f"--server_pid={server.process.pid}",
                                   f"--duration={QUICK_LOAD_S if quick else FULL_LOAD_S}s", "--warm_up=500ms", "--quiet", "--json=-",
                                   "--ping_share=0.4", *flags],
                                  capture_output=True, text=True, check=False, timeout=PROGRAM_TIMEOUT_S)
            if done.returncode != 0:
                raise BenchmarkError(f"arclane-load {' '.join(flags)}: {done.stderr}\n{server.log_text()[-2000:]}")
        report = json.loads(done.stdout)
        failed = {code: count for code, count in report["series"][-2]["codes"].items() if code != "OK"}
        if failed:
            raise BenchmarkError(f"arclane-load {' '.join(flags)}: calls failed: {failed}")
        figures += load_figures(name, report)
    return figures


def print_table(figures):
    """The figures as a table."""
    width = max(len(figure["name"]) for figure in figures)
    print(f"{'figure':<{width}}  {'value':>12} {'unit':<6} {'baseline':>12} {'ratio':>8}  goal")
    for figure in figures:
        baseline = f"{figure['baseline']['value']:.4g}" if figure["baseline"] else ""
        ratio = f"{figure['ratio']:.3f}" if figure["ratio"] is not None else ""
        met = "" if figure["met"] is None else ("  met" if figure["met"] else "  MISSED")
        print(f"{figure['name']:<{width}}  {figure['value']:>12.5g} {figure['unit'][:6]:<6} {baseline:>12} {ratio:>8}  {figure['goal'] or ''}{met}")
    judged = [figure for figure in figures if figure["met"] is not None]
    print(f"{len(figures)} figures; {sum(f['met'] for f in judged)} of {len(judged)} goals met")


def key_of(figure):
    """What one ratio is about: a figure, its baseline and its rule."""
    return figure["name"], figure["baseline"]["name"] if figure["baseline"] else None, figure["goal"]


def regressions(figures, other, tolerance):
    """(figure, ratio of the other run) for every ratio that grew beyond the tolerance, and how many were compared."""
    before = {key_of(figure): figure["ratio"] for figure in other["figures"] if figure["ratio"]}
    compared, worse = 0, []
    for figure in figures:
        old = before.get(key_of(figure))
        if old is None or figure["ratio"] is None:
            continue
        compared += 1
        allowed = tolerance * (LOOSE_TOLERANCE_FACTOR if re.search(r"/p99", figure["name"]) else 1.0)
        if figure["ratio"] > old * (1.0 + allowed):
            worse.append((figure, old))
    return worse, compared


def compare(figures, path, tolerance):
    """Tells regressions against an earlier run; True when there is none."""
    with open(path, encoding="utf-8") as file:
        other = json.load(file)
    worse, compared = regressions(figures, other, tolerance)
    for figure, old in worse:
        print(f"REGRESSION {figure['name']}: {figure['ratio']:.3f} times its baseline"
              f"{' ' + figure['baseline']['name'] if figure['baseline'] else ''}, {old:.3f} before")
    print(f"{compared} ratios compared with {path} (commit {other['commit'][:12]}): {len(worse)} grew by more than {tolerance:.0%}"
          f" ({tolerance * LOOSE_TOLERANCE_FACTOR:.0%} for p99 and above)")
    if compared == 0:
        raise BenchmarkError(f"{path} has no ratio in common with this run")
    return not worse


def main():
    """The program."""
    parser = argparse.ArgumentParser(prog="tests/benchmarks/run.sh", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short runs, for a look and for continuous integration")
    parser.add_argument("--json", metavar="FILE", help="also write everything as JSON")
    parser.add_argument("--filter", default=".", metavar="REGEX",
                        help="only these benchmarks (the latencies of single calls: PlanCorridor; loads: Load_NAME)")
    parser.add_argument("--against", metavar="FILE", help="compare with an earlier run's JSON; ratios that grew end it with code 1")
    parser.add_argument("--tolerance", type=float, default=DEFAULT_TOLERANCE, metavar="SHARE",
                        help="how much a ratio may grow (default %(default)s; three times that for p99 and above)")
    arguments = parser.parse_args()
    try:
        where = environment(arguments.quick)
        if where["build_type"] != "Release":
            raise BenchmarkError(f"{build_dir()} is a build of type {where['build_type'] or 'unknown'}, not Release")
        figures = google_benchmarks(arguments.quick, arguments.filter)
        if re.search(arguments.filter, "PlanCorridor"):
            figures += end_to_end(arguments.quick)
        figures += loads(arguments.quick, arguments.filter)
    except (BenchmarkError, ServerError, subprocess.TimeoutExpired) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    if not figures:
        print("benchmarks: no figure was measured", file=sys.stderr)
        return 1
    figures = evaluate(figures)
    print(f"{where['machine']['processor']}, {where['machine']['threads']} threads; {where['compiler']}; {where['flags']}; "
          f"commit {where['commit'][:12]}")
    print_table(figures)
    answered = answers(figures)
    if arguments.filter == ".":
        for answer in answered:
            for pattern in answer["lacking"]:
                print(f"LACKING {answer['topic']}: {answer['question']}: no figure is named {pattern}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({**where, "questions": answered, "figures": figures}, file, indent=1)
            file.write("\n")
    if arguments.against:
        try:
            return 0 if compare(figures, arguments.against, arguments.tolerance) else 1
        except (BenchmarkError, OSError, ValueError, KeyError) as error:
            print(f"benchmarks: --against: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
