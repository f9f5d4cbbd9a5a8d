# SPDX-License-Identifier: Apache-2.0
"""Share of the server's CPU time by stage, from sampled call stacks.

A sample belongs to the innermost frame that one of the rules below knows; the memory that a stage asks for is so its own. Samples
in the kernel are told apart where they come from gRPC's sockets.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "live")]

from live_server import LiveServer, ServerError, program  # noqa: E402  pylint: disable=wrong-import-position

SAMPLES_A_SECOND = 997  # A prime: not in step with what the server does at round intervals.
STACK_BYTES = 16384
WARM_UP_S = 1.0
FEW_SAMPLES = 200  # Shares of fewer are off by several per cent.

LOADS = {
    "PlanCorridor, 32 polygons, 100 samples": ["--mix=corridor:32"],
    "PlanCorridor by reference, past the cache": ["--mix=reference:32", "--cache=bypass"],
    "PlanCorridor by reference, cached": ["--mix=reference:32", "--distinct=100"],
    "PlanBatch of 1000 by reference, 16 polygons, 32 samples":
        ["--mix=reference:16", "--samples=32", "--shape=batch", "--distinct=4000", "--cache=bypass", "--concurrency=2"],
}

# (stage, what its frames are called), tried in this order at every frame from the innermost outwards.
RULES = [
    ("network (kernel)", r"^(tcp_|udp_|unix_|inet6?_|sock_|__sys_(send|recv)|sys_(send|recv)|do_epoll|ep_|__napi|net_rx)"),
    ("parse", r"google::protobuf.*(Parse|MergeFrom|ReadPacked|EpsCopyInputStream)|arclane::(v1::\w+::_InternalParse|ParseBytes)"),
    ("encode", r"google::protobuf.*(Serialize|ByteSize|Write\w*ToArray)|arclane::(v1::\w+::(_InternalSerialize|ByteSizeLong)|ToSlice|Encode|AnswerWriter)"),
    ("sample", r"arclane::(WriteSamples|CountSamples|Sample|RouteSampler|SampleRoute|FillSamples|SpeedAt)"),
    ("prove", r"arclane::(Verify|Prove|SmallestDeviation|RouteVerif)"),
    ("build corridor", r"arclane::(CorridorBuilder|CorridorResolver|Resolve|ResolvedCorridor|CleanPolygons|CorridorRefs)"),
    ("read and check", r"arclane::(Read[A-Z]|Check[A-Z]|GlanceAt|Violations)"),
    ("plan", r"arclane::(CorridorPlanner|WaypointPlanner|CurvePlanner|Funnel|PlanSpeed|PlanStop|Round|Fillet|Clearance|SpeedPlan|Heights|ConvexSurfaceHeight)"),
    ("cache and single flight", r"arclane::(RouteCache|KeptAnswer|Flight|CachedPlanCall|Canonicalize|Digest|CanonicalKey)|XXH"),
    ("metrics and logs", r"arclane::(Metrics|PlanRecord|AccessLog|CallAccount|CallTrace|Telemetry)|prometheus::"),
    ("service", r"arclane::(PlanCall|PlanBatchCall|PlanStreamCall|BatchPlan|PlannerPool|Admission|PathPlannerService|Answer|ItemPlanner|\w+Call)"),
    ("gRPC", r"^(grpc|gpr_|tsi_|chttp2|census)|^grpc::|arclane::.*grpc::internal"),
]
COMPILED = [(stage, re.compile(pattern)) for stage, pattern in RULES]
REST = "other"


def stage_of(frames):
    """The stage of a stack; `frames` are (symbol, library), the innermost first."""
    for symbol, library in frames:
        for stage, pattern in COMPILED:
            if pattern.search(symbol):
                return stage
        if "libgrpc" in library or "libgpr" in library:
            return "gRPC"
        if "libprotobuf" in library and symbol == "[unknown]":
            return "parse"
    return REST


def stacks(text):
    """Stacks of `perf script -F ip,sym,dso`: lists of (symbol, library), the innermost frame first."""
    frames = []
    for line in text.splitlines():
        match = re.match(r"\s+[0-9a-f]+ (.*) \((.*)\)$", line)
        if match:
            frames.append(match.groups())
        elif frames:
            yield frames
            frames = []
    if frames:
        yield frames


def shares(text):
    """{stage: share}, the number of samples, and the most common innermost symbols of what no rule knows."""
    counts, unknown = {}, {}
    for frames in stacks(text):
        stage = stage_of(frames)
        counts[stage] = counts.get(stage, 0) + 1
        if stage == REST:
            unknown[frames[0][0]] = unknown.get(frames[0][0], 0) + 1
    total = sum(counts.values())
    return {stage: count / total for stage, count in counts.items()}, total, sorted(unknown, key=unknown.get, reverse=True)[:5]


def profile(flags, seconds, keep):
    """Samples the server while arclane-load runs with these flags; the stacks as text."""
    with tempfile.TemporaryDirectory() as scratch, LiveServer() as server:
        data = os.path.join(keep or scratch, "perf.data")
        load = subprocess.Popen([program("client/loadgen/arclane-load"), f"--server={server.target}", "--warm_up=100ms", "--quiet",
                                 f"--duration={seconds + 3 * WARM_UP_S}s", "--ping_share=0.001", "--slice=1s", *flags],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(WARM_UP_S)
        recorded = subprocess.run(["perf", "record", "-e", "cpu-clock", "-F", str(SAMPLES_A_SECOND), "--call-graph", f"dwarf,{STACK_BYTES}",
                                   "-p", str(server.process.pid), "-o", data, "--", "sleep", str(seconds)],
                                  capture_output=True, text=True, check=False)
        _, errors = load.communicate()
        if load.returncode != 0:
            raise ServerError(f"arclane-load {' '.join(flags)}: {errors}")
        if recorded.returncode != 0:
            raise ServerError(f"perf record: {recorded.stderr}")
        return subprocess.run(["perf", "script", "-i", data, "--no-inline", "-F", "ip,sym,dso"], capture_output=True, text=True,
                              check=True).stdout


def table(results):
    """Stages in rows, loads in columns, as Markdown."""
    stages = [stage for stage, _ in RULES] + [REST]
    lines = ["| Stage | " + " | ".join(result["load"] for result in results) + " |", "|---" * (len(results) + 1) + "|"]
    for stage in stages:
        cells = [f"{100 * result['shares'].get(stage, 0.0):.1f}%" for result in results]
        lines.append(f"| {stage} | " + " | ".join(cells) + " |")
    lines.append("| samples | " + " | ".join(str(result["samples"]) for result in results) + " |")
    return "\n".join(lines)


def main():
    """The program."""
    arguments_end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(prog="tests/benchmarks/cpu_share.sh", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each load is sampled (default %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="also write the shares as JSON")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the last load's samples there, for perf report")
    arguments = parser.parse_args(sys.argv[1:arguments_end])
    flags = sys.argv[arguments_end + 1:]
    loads = {" ".join(flags): flags} if flags else LOADS
    results = []
    try:
        for name, load_flags in loads.items():
            found, samples, unknown = shares(profile(load_flags, arguments.seconds, arguments.keep))
            results.append({"load": name, "flags": load_flags, "samples": samples, "shares": found, "other": unknown})
    except (ServerError, subprocess.CalledProcessError) as error:
        print(f"cpu_share: {error}", file=sys.stderr)
        return 1
    print(table(results))
    for result in results:
        if result["samples"] < FEW_SAMPLES:
            print(f"{result['load']}: only {result['samples']} samples: rough")
        if result["other"]:
            print(f"{result['load']}: other is mostly {', '.join(result['other'])}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
