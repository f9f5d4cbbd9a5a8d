#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server under steady load; see soak.sh. Exit code 1 when its memory or its open files grew, or a call failed."""
import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time

from local_servers import LocalServer, Load, clean_environment, encode_mesh, free_ports, program, scratch_folder

PERIOD_S = 0.5
# What malloc keeps for each thread comes to its size more slowly than caches fill.
WARM_UP_S = 40
# The last quarter's median over the second's: the first quarter fills caches and threads' buffers.
MOST_GROWTH = 0.02


def resident_bytes(pid):
    """What the process holds in memory."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files(pid):
    """How many descriptors the process has."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def quarter(values, number):
    """The values of quarter 0 to 3."""
    size = len(values) // 4
    return values[number * size:(number + 1) * size]


def soak(seconds):
    """The samples and the load's report."""
    with scratch_folder() as folder, contextlib.ExitStack() as stack:
        encode_mesh(folder)
        (port,) = free_ports(1)
        # A cache that is full within the first quarter.
        server = stack.enter_context(LocalServer(folder, "server", port, f"--navmesh_dir={folder}", "--cache_bytes=64KiB"))
        server.start()
        load = stack.enter_context(Load(folder, "load"))
        load.start(f"127.0.0.1:{port}", "--planners=8", "--pause=0", f"--most_seconds={seconds + WARM_UP_S + 60}")
        time.sleep(WARM_UP_S)
        samples = []
        begin = time.monotonic()
        while (now := time.monotonic() - begin) < seconds:
            # Connections come and go as well.
            subprocess.run([program("client/cli/arclane"), f"--server=127.0.0.1:{port}", "health"], check=True,
                           stdout=subprocess.DEVNULL, env=clean_environment())
            samples.append((now, resident_bytes(server.process.pid), open_files(server.process.pid)))
            time.sleep(max(0.0, begin + len(samples) * PERIOD_S - time.monotonic()))
        report = load.finish()
        server.stop()
    return samples, report


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="10 minutes instead of 2")
    parser.add_argument("--seconds", type=float, help="so long")
    parser.add_argument("--json", help="write the figures here")
    arguments = parser.parse_args()
    seconds = arguments.seconds or (600 if arguments.full else 120)
    samples, report = soak(seconds)
    memory = [statistics.median(quarter([resident for _, resident, _ in samples], i)) for i in range(4)]
    files = [statistics.median(quarter([count for _, _, count in samples], i)) for i in range(4)]
    growth = memory[3] / memory[1] - 1
    failed = sum(report[kind]["failed"] for kind in report)
    print(f"{seconds:g} s, {report['plans']['calls']} plans, {report['follows']['calls']} steps; {len(samples)} samples")
    print("resident MiB by quarter: " + ", ".join(f"{value / 2**20:.2f}" for value in memory) + f" (growth {growth:+.2%})")
    print("open files by quarter: " + ", ".join(f"{value:g}" for value in files))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"seconds": seconds, "resident_bytes": memory, "growth": growth, "open_files": files, **report}, file, indent=1)
    checks = [("memory grew by at most 2 %", growth <= MOST_GROWTH),
              ("no more files are open", files[3] <= files[1]),
              ("no call failed", failed == 0),
              ("there was load", report["plans"]["calls"] > 100 * seconds)]
    for what, holds in checks:
        print(f"{'ok    ' if holds else 'FAILED'}  {what}")
    print(f"{sum(holds for _, holds in checks)} passed, {sum(not holds for _, holds in checks)} failed")
    return 0 if all(holds for _, holds in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
