#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rolling restarts under load; see rolling.sh. Exit code 1 when a call failed or a check did not hold."""
import argparse
import concurrent.futures
import contextlib
import json
import os
import sys
import time

from local_servers import (PROJECT_DIR, Child, LocalServer, Load, ServerError, await_port, clean_environment, encode_mesh, free_ports,
                           scratch_folder)

# As a deployment has it, only shorter: between NOT_SERVING and the end of the ports.
DRAIN = "--drain_delay_s=0.4"
PROXY_DIR = os.path.join(PROJECT_DIR, "deploy", "proxy")
# For clients to come back to a server before the next one goes.
SETTLE_S = 0.5
# gRPC without a second try, to show what the server alone holds.
PLAIN_CONFIG = '{"loadBalancingConfig": [{"round_robin": {}}]}'

NGINX = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.errors warn;
events {{ worker_connections 1000; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  include {folder}/planners.conf;
}}
"""


def start_proxy(folder, kind, ports, stack):
    """The proxy of deploy/proxy in front of two servers."""
    port, *servers = (f"127.0.0.1:{number}" for number in ports)
    proxy = stack.enter_context(Child(folder, kind))
    if kind == "haproxy":
        proxy.spawn(["haproxy", "-db", "-f", f"{PROXY_DIR}/haproxy.cfg"],
                    env=clean_environment(ARCLANE_BIND=port, ARCLANE_FIRST=servers[0], ARCLANE_SECOND=servers[1]))
    else:
        with open(f"{PROXY_DIR}/nginx.conf", encoding="utf-8") as file:
            text = file.read()
        for example, actual in (("listen 50050", f"listen {port}"), ("arclane-0:50051", servers[0]), ("arclane-1:50051", servers[1])):
            if example not in text:
                raise ServerError(f"deploy/proxy/nginx.conf has no {example}")
            text = text.replace(example, actual)
        for name, content in (("planners.conf", text), ("nginx.conf", NGINX.format(folder=folder))):
            with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
                file.write(content)
        proxy.spawn(["nginx", "-p", folder, "-c", f"{folder}/nginx.conf"])
    await_port(ports[0])


class Checks:
    """What did not hold."""

    def __init__(self):
        self.failures = []

    def expect(self, holds, text):
        """Notes and says it."""
        if not holds:
            self.failures.append(text)
            print(f"  FAILED: {text}")


KINDS = ("plans", "batches", "streams", "follows", "watches")


def row(name, rounds, report, extra=""):
    """One line of the table."""
    plans = report["plans"]
    tries = f"{plans['attempts'] / max(plans['calls'], 1):.5f}"
    cells = [f"{report[kind]['calls']}/{report[kind]['failed']}" for kind in KINDS[:-1]] + [str(report["watches"]["failed"])]
    reopened = "/".join(str(report[kind]["reopened"]) for kind in KINDS[2:])
    return (f"{name:<12} {rounds:>6} " + " ".join(f"{cell:>11}" for cell in cells)
            + f" {reopened:>11} {tries:>9} {plans['longest_s'] * 1e3:>8.0f} ms  {extra}")


HEADER = (f"{'':<12} {'':>6} " + " ".join(f"{kind:>11}" for kind in ("plans", "batches", "stream", "follow", "watches"))
          + f" {'reopened':>11} {'attempts':>9} {'longest':>11}\n"
          f"{'scenario':<12} {'rounds':>6} " + " ".join(f"{cell:>11}" for cell in 4 * ("all/failed",) + ("failed", "s/f/w"))
          + f" {'a plan':>9} {'plan':>11}")


def expect_no_failure(name, report, rounds, checks):
    """Every call was answered, and there were calls enough to say so."""
    for kind in KINDS:
        checks.expect(report[kind]["failed"] == 0, f"{name}: {kind} failed: {report[kind]['failures']}")
    checks.expect(report["plans"]["calls"] > 100 * rounds, f"{name}: only {report['plans']['calls']} plans")
    checks.expect(report["plans"]["attempts"] >= report["plans"]["calls"], f"{name}: fewer attempts than calls were seen")
    # Without a proxy every stream hears from the server itself that it ends.
    checks.expect(name in ("haproxy", "nginx") or report["follows"]["reset"] == 0,
                  f"{name}: {report['follows']['reset']} streams were reset")
    for kind in ("streams", "follows", "watches"):
        checks.expect(report[kind]["reopened"] >= rounds, f"{name}: {kind} were reopened {report[kind]['reopened']} times only")


def two_servers(name, rounds, checks, results):
    """Each of two servers is restarted in every round."""
    with scratch_folder() as folder, contextlib.ExitStack() as stack:
        encode_mesh(folder)
        port, first, second = free_ports(3)
        servers = [stack.enter_context(LocalServer(folder, f"server_{p}", p, f"--navmesh_dir={folder}", DRAIN))
                   for p in (first, second)]
        for server in servers:
            server.start()
        target, flags = f"ipv4:127.0.0.1:{first},127.0.0.1:{second}", []
        if name in ("haproxy", "nginx"):
            start_proxy(folder, name, (port, first, second), stack)
            target = f"127.0.0.1:{port}"
        if name == "plain":
            flags = [f"--service_config={PLAIN_CONFIG}"]
        load = stack.enter_context(Load(folder, "load"))
        load.start(target, *flags)
        time.sleep(2 * SETTLE_S)
        for _ in range(rounds):
            for server in servers:
                server.stop()
                server.start()
                time.sleep(SETTLE_S)
        report = load.finish()
    if name == "plain":
        # What is sent while the GOAWAY is on its way is reset by gRPC with CANCELLED: never more than a call a connection.
        failures = report["plans"]["failures"]
        known = sum(count for how, count in failures.items() if how.startswith(("CANCELLED", "UNAVAILABLE")))
        checks.expect(report["plans"]["failed"] == known, f"plain: other failures than CANCELLED and UNAVAILABLE: {failures}")
        extra = json.dumps(failures)
    else:
        expect_no_failure(name, report, rounds, checks)
        extra = ""
    results[name] = {"rounds": rounds, **report}
    return row(name, rounds, report, extra)


def single_server(rounds, checks, results):
    """One server with a volume: it is away between two lives, and its navmesh is there again."""
    with scratch_folder() as folder, contextlib.ExitStack() as stack:
        mesh_folder = f"{folder}/meshes"
        data_folder = f"{folder}/data"
        os.mkdir(mesh_folder)
        encode_mesh(mesh_folder)
        (port,) = free_ports(1)
        first = stack.enter_context(LocalServer(folder, "first", port, f"--data_dir={data_folder}",
                                                f"--navmesh_dir={mesh_folder}"))
        first.start()
        first.stop()
        server = stack.enter_context(LocalServer(folder, "single", port, f"--data_dir={data_folder}"))
        server.start()
        load = stack.enter_context(Load(folder, "load"))
        load.start(f"ipv4:127.0.0.1:{port}", "--service_config=waiting")
        time.sleep(2 * SETTLE_S)
        gaps = []
        for _ in range(rounds):
            begin = time.monotonic()
            server.stop()
            server.start()
            gaps.append(time.monotonic() - begin)
            time.sleep(SETTLE_S)
        report = load.finish()
    expect_no_failure("single", report, rounds, checks)
    gap = sorted(gaps)[len(gaps) // 2]
    silence = report["plans"]["longest_silence_s"]
    results["single"] = {"rounds": rounds, "gap_s": gap, **report}
    return row("single", rounds, report, f"away {gap * 1e3:.0f} ms (median), longest without an answer {silence * 1e3:.0f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="50 rounds instead of 10")
    parser.add_argument("--rounds", type=int, help="so many rounds")
    parser.add_argument("--beside", type=int, help="so many scenarios at a time (default 3; with --full, which is measured, 1)")
    parser.add_argument("--json", help="write the figures here")
    names = ["round_robin", "haproxy", "nginx", "single", "plain"]
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(names))
    arguments = parser.parse_args()
    unknown = set(arguments.scenarios) - set(names)
    if unknown:
        parser.error(f"unknown scenarios: {', '.join(sorted(unknown))}")
    arguments.beside = arguments.beside or (1 if arguments.full else 3)
    rounds = arguments.rounds or (50 if arguments.full else 10)
    checks, results = Checks(), {}

    def run(name):
        print(f"{name}: {rounds} rounds", flush=True)
        try:
            return single_server(rounds, checks, results) if name == "single" else two_servers(name, rounds, checks, results)
        except ServerError as error:
            checks.expect(False, f"{name}: {error}")
            return f"{name:<12} did not run to its end"

    # A scenario waits most of its time: for drains, and for clients to come back.
    with concurrent.futures.ThreadPoolExecutor(arguments.beside) as pool:
        rows = list(pool.map(run, arguments.scenarios or names))
    print(HEADER)
    print("\n".join(rows))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    print(f"{len(arguments.scenarios or names) - len({f.split(':')[0] for f in checks.failures})} passed, "
          f"{len({f.split(':')[0] for f in checks.failures})} failed")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
