#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A game server's loop: in every tick one PlanBatch call plans for all agents that need a route. Agents share a profile; one agent
of the last tick is wrong, and its error names the field.

    tick_loop_example.py [HOST:PORT] < request.json

Needs what plan_corridor_example.py needs.
"""
import os
import subprocess
import sys
import tempfile
import time

import grpc
from google.protobuf import json_format

PROTO_DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "proto")
TICKS = 20
AGENTS = 50
TICK_S = 0.05
DEADLINE_S = 0.5    # Of a call.
PATIENCE_S = 20.0   # Until a server must answer.
WORTH_A_RETRY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)
INVALID_ARGUMENT = 3


def load_messages():
    """Generates the Python messages into a temporary folder and imports them."""
    with tempfile.TemporaryDirectory() as folder:
        protos = [os.path.join(root, name) for root, _, names in os.walk(PROTO_DIR)
                  for name in names if name.endswith(".proto")]
        subprocess.run(["protoc", "-I", PROTO_DIR, f"--python_out={folder}", *protos], check=True)
        # protobuf has a package `google` too: let it find google.rpc here.
        import google  # pylint: disable=import-outside-toplevel
        google.__path__.append(os.path.join(folder, "google"))
        sys.path.insert(0, folder)
        from arclane.v1 import planner_pb2  # pylint: disable=import-outside-toplevel,import-error
        from google.rpc import error_details_pb2, status_pb2  # pylint: disable=import-outside-toplevel,import-error
        return planner_pb2, error_details_pb2, status_pb2


def batch_of(planner_pb2, request, tick):
    """The routes that agents ask for in one tick, from slightly different places."""
    batch = planner_pb2.PlanBatchRequest()
    batch.shared.agents.append(request.agent)
    for agent in range(AGENTS):
        item = batch.items.add(agent_index=0)
        item.corridor.CopyFrom(request)
        item.corridor.ClearField("agent")
        item.corridor.start.x += 0.001 * agent + 0.0001 * tick
    if tick == TICKS - 1:
        wrong = batch.items.add().corridor
        wrong.CopyFrom(request)
        wrong.agent.limits.max_speed = -1
    return batch


def details_of(status, kind):
    """The error details of one kind."""
    for detail in status.details:
        message = kind()
        if detail.Unpack(message):
            yield message


def retry_delay_s(error, error_details_pb2, status_pb2):
    """How long the server asks to wait before a retry; a tick when it does not say."""
    trailers = dict(error.trailing_metadata() or ())
    status = status_pb2.Status.FromString(trailers.get("grpc-status-details-bin", b""))
    for info in details_of(status, error_details_pb2.RetryInfo):
        return info.retry_delay.seconds + 1e-9 * info.retry_delay.nanos
    return TICK_S


def plan_patiently(plan_batch, batch, error_details_pb2, status_pb2):
    """All answers of a batch, tried again where a retry can help."""
    give_up = time.monotonic() + PATIENCE_S
    while True:
        try:
            return [answer for message in plan_batch(batch, timeout=DEADLINE_S) for answer in message.answers]
        except grpc.RpcError as error:
            wait = retry_delay_s(error, error_details_pb2, status_pb2)
            if error.code() not in WORTH_A_RETRY or time.monotonic() + wait > give_up:
                raise
            print(f"again in {wait:g} s: {error.details()}", file=sys.stderr)
            time.sleep(wait)


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "localhost:50051"
    planner_pb2, error_details_pb2, status_pb2 = load_messages()
    request = json_format.Parse(sys.stdin.read(), planner_pb2.PlanCorridorRequest())
    planned = failed = 0
    # A server that restarts is found again soon.
    options = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.min_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 1000)]
    with grpc.insecure_channel(target, options) as channel:
        plan_batch = channel.unary_stream(
            "/arclane.v1.PathPlanner/PlanBatch",
            request_serializer=planner_pb2.PlanBatchRequest.SerializeToString,
            response_deserializer=planner_pb2.PlanBatchResponse.FromString)
        for tick in range(TICKS):
            next_tick = time.monotonic() + TICK_S
            try:
                answers = plan_patiently(plan_batch, batch_of(planner_pb2, request, tick), error_details_pb2, status_pb2)
            except grpc.RpcError as error:
                print(error.code().name, error.details(), file=sys.stderr)
                return 1
            for answer in answers:
                if not answer.HasField("status"):
                    planned += 1  # answer.corridor.route goes to the agent.
                    continue
                failed += 1
                print("INVALID_ARGUMENT" if answer.status.code == INVALID_ARGUMENT else answer.status.code)
                for bad_request in details_of(answer.status, error_details_pb2.BadRequest):
                    for violation in bad_request.field_violations:
                        print(f"  {violation.field}: {violation.description}")
            time.sleep(max(0.0, next_tick - time.monotonic()))
    print(f"{TICKS} ticks, {planned} plans, {failed} failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
