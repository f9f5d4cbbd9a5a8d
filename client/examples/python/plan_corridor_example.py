#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans one corridor and prints its length and first samples; then sends a wrong request and prints what is wrong with it.

    plan_corridor_example.py [HOST:PORT] < request.json

Needs grpcio and protobuf (Debian: python3-grpcio python3-protobuf) and protoc (protobuf-compiler). The messages are generated
when the program starts, so that there is nothing to install; a game would generate them once, when it is built.
"""
import os
import subprocess
import sys
import tempfile

import grpc
from google.protobuf import json_format

PROTO_DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "proto")
DEADLINE_S = 5.0


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
        from arclane.v1 import planner_pb2, route_pb2  # pylint: disable=import-outside-toplevel,import-error
        from google.rpc import error_details_pb2, status_pb2  # pylint: disable=import-outside-toplevel,import-error
        return planner_pb2, route_pb2, error_details_pb2, status_pb2


def violations_of(error, error_details_pb2, status_pb2):
    """The violated fields of a failed call."""
    trailers = dict(error.trailing_metadata() or ())
    status = status_pb2.Status.FromString(trailers.get("grpc-status-details-bin", b""))
    for detail in status.details:
        bad_request = error_details_pb2.BadRequest()
        if detail.Unpack(bad_request):
            yield from bad_request.field_violations


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "localhost:50051"
    planner_pb2, route_pb2, error_details_pb2, status_pb2 = load_messages()
    request = json_format.Parse(sys.stdin.read(), planner_pb2.PlanCorridorRequest())
    with grpc.insecure_channel(target) as channel:
        plan_corridor = channel.unary_unary(
            "/arclane.v1.PathPlanner/PlanCorridor",
            request_serializer=planner_pb2.PlanCorridorRequest.SerializeToString,
            response_deserializer=planner_pb2.PlanCorridorResponse.FromString)
        try:
            route = plan_corridor(request, timeout=DEADLINE_S).route
        except grpc.RpcError as error:
            print(error.code().name, error.details(), file=sys.stderr)
            return 1
        print(f"{route_pb2.Outcome.Name(route.outcome)}, length {route.length:g}, {route.duration_s:g} s")
        samples = route.samples
        for s, t, x, y, speed in list(zip(samples.distance, samples.time_s, samples.position.x,
                                          samples.position.y, samples.speed))[:5]:
            print(f"  s={s:g} t={t:g} at ({x:g}, {y:g}) speed {speed:g}")

        request.agent.limits.max_speed = -1
        try:
            plan_corridor(request, timeout=DEADLINE_S)
        except grpc.RpcError as error:
            print(error.code().name)
            for violation in violations_of(error, error_details_pb2, status_pb2):
                print(f"  {violation.field}: {violation.description}")
            return 0
        print("a negative speed was not refused", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
