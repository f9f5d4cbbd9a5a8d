#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory of the server under a steady load: heap_growth.py [--seconds N] [--rate PLANS_A_SECOND] [--heaptrack FILE] [-- FLAGS]

The anonymous memory of the server is read four times a second. The first third of the run fills caches, buffers and the allocator's
arenas; from then on a load that does not change must not need more. Ends with 1 when the median of the last third exceeds that of the
second by more than the tolerance. FLAGS go to arclane-load. --heaptrack also records every allocation (Debian: heaptrack) and prints
how many there are a plan and where most come from; the server is then several times slower.
"""
import argparse
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "live")]

from live_server import LiveServer, ServerError, program  # noqa: E402  pylint: disable=wrong-import-position

MIX = ["--mix=corridor:32@4,reference:32@4,waypoints:16@2,spline:8@1", "--cache=bypass", "--concurrency=16", "--connections=2"]
INTERVAL_S = 0.25
# The allocator gives back and takes whole arenas; less is no growth.
TOLERANCE_SHARE, TOLERANCE_KIB = 0.02, 1024
PRELOADED = "/usr/lib/heaptrack/libheaptrack_preload.so"


def anonymous_kib(pid):
    """The process's anonymous resident memory, KiB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"RssAnon:\s+(\d+)", file.read()).group(1))


def run_load(server, seconds, rate, flags):
    """Runs the load; (arclane-load's report, anonymous KiB by time)."""
    pace = ["--loop=open", f"--rate={rate}"] if rate else []
    load = subprocess.Popen([program("client/loadgen/arclane-load"), f"--server={server.target}", f"--duration={seconds}s", "--quiet",
                             "--ping_share=0.05", "--json=-", *(flags or MIX), *pace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sizes = []
    while load.poll() is None:
        sizes.append(anonymous_kib(server.process.pid))
        time.sleep(INTERVAL_S)
    text, errors = load.communicate()
    if load.returncode != 0:
        raise ServerError(f"arclane-load: {errors}")
    return json.loads(text), sizes


def heaptrack_summary(raw, plans):
    """Prints allocations a plan and the places that allocate most."""
    done = subprocess.run(f"/usr/lib/heaptrack/libexec/heaptrack_interpret < '{raw}' | gzip > '{raw}.gz' && heaptrack_print '{raw}.gz' "
                          "--print-leaks 0 --print-temporary 0 --print-peaks 0", shell=True, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ServerError(f"heaptrack: {done.stderr}")
    calls = re.search(r"calls to allocation functions: (\d+)", done.stdout)
    if calls:
        print(f"allocations a plan, start of the server and network included: {int(calls.group(1)) / plans:.1f}")
    print(f"Everything: heaptrack_print {raw}.gz")


def main():
    """The program."""
    arguments_end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=0.0, help="calls a second; 0: as many as 16 in flight make")
    parser.add_argument("--heaptrack", metavar="FILE", help="record allocations into FILE")
    parser.add_argument("--json", metavar="FILE", help="also write the series as JSON")
    arguments = parser.parse_args(sys.argv[1:arguments_end])
    try:
        if arguments.heaptrack:
            if not glob.glob(PRELOADED):
                raise ServerError(f"{PRELOADED} is not there (Debian: heaptrack)")
            os.environ["DUMP_HEAPTRACK_OUTPUT"] = os.path.abspath(arguments.heaptrack)
            os.environ["LD_PRELOAD"] = PRELOADED
        server = LiveServer()
        with server:
            os.environ.pop("LD_PRELOAD", None)
            report, sizes = run_load(server, arguments.seconds, arguments.rate, sys.argv[arguments_end + 1:])
    except ServerError as error:
        print(f"heap_growth: {error}", file=sys.stderr)
        return 1
    plans = report["series"][-2]["ok"]
    third = len(sizes) // 3
    if third < 3:
        print("heap_growth: too short to tell", file=sys.stderr)
        return 1
    parts = [statistics.median(sizes[i * third:(i + 1) * third]) for i in range(3)]
    growth = parts[2] - parts[1]
    allowed = max(TOLERANCE_KIB, TOLERANCE_SHARE * parts[1])
    print(f"{plans} plans in {arguments.seconds:g} s; anonymous memory, KiB: first third {parts[0]:.0f}, second {parts[1]:.0f}, last {parts[2]:.0f}; "
          f"growth {growth:.0f} KiB (at most {allowed:.0f}), {1024 * growth / max(1, plans / 3):.1f} bytes a plan")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"plans": plans, "seconds": arguments.seconds, "thirds_kib": parts, "series_kib": sizes}, file)
            file.write("\n")
    if arguments.heaptrack:
        heaptrack_summary(os.path.abspath(arguments.heaptrack), plans)
    return 0 if growth <= allowed else 1


if __name__ == "__main__":
    sys.exit(main())
