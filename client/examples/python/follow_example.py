#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans one route and lets 50 agents follow it over one stream, started a quarter of a second apart.

    follow_example.py [HOST:PORT] < request.json

The stream is opened again when the server ends it (connection age, or a drain): routes are sent again, and each agent with
the distance that it had reached, so that the tick that was not answered is only asked for once more. Needs what
plan_corridor_example.py needs.
"""
import os
import queue
import subprocess
import sys
import tempfile
import time

import google
import grpc
from google.protobuf import json_format

PROTO_DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "proto")
DEADLINE_S = 5.0
AGENTS = 50
APART_S = 0.25
DT_S = 1.0 / 60.0
ROUTE_ID = 1
TRIES = 5
PAUSE_S = 0.2
# How streams end that may go on elsewhere. A connection that is torn down under a stream can show as CANCELLED on gRPC's side,
# though nobody here has cancelled anything.
REOPENED = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


def load_messages():
    """Generates the Python messages into a temporary folder and imports them."""
    with tempfile.TemporaryDirectory() as folder:
        protos = [os.path.join(root, name) for root, _, names in os.walk(PROTO_DIR)
                  for name in names if name.endswith(".proto")]
        subprocess.run(["protoc", "-I", PROTO_DIR, f"--python_out={folder}", *protos], check=True)
        sys.path.insert(0, folder)
        google.__path__ = [*google.__path__, os.path.join(folder, "google")]  # Protobuf's package; google/rpc joins it.
        from arclane.v1 import follow_pb2, planner_pb2  # pylint: disable=import-outside-toplevel,import-error
        return follow_pb2, planner_pb2


class Agent:
    """What the game knows of one agent: where it really is and how it really moves."""

    def __init__(self, number, start):
        self.number = number
        self.position = [start.x, start.y, start.z]
        self.velocity = [0.0, 0.0, 0.0]
        self.heading = 0.0
        self.distance = 0.0
        self.status = "FOLLOWING"

    def move(self, velocity, heading):
        """The controller: here it does just what was asked for."""
        self.velocity = velocity
        self.position = [p + v * DT_S for p, v in zip(self.position, velocity)]
        self.heading = heading


class FollowStream:
    """One stream in lockstep: a message a tick."""

    def __init__(self, channel, follow_pb2):
        call = channel.stream_stream("/arclane.v1.RouteFollower/Follow",
                                     request_serializer=follow_pb2.FollowRequest.SerializeToString,
                                     response_deserializer=follow_pb2.FollowResponse.FromString)
        self._requests = queue.SimpleQueue()
        self._answers = call(iter(self._requests.get, None))
        self.is_new = True

    def exchange(self, message):
        """Sends a tick and waits for its answer. What the server tells between answers is that the stream ends, which the next
        read finds out, or that routes have gone stale, which the answers tell too."""
        self._requests.put(message)
        answer = next(self._answers)
        while answer.pushed:
            answer = next(self._answers)
        self.is_new = False
        return answer

    def close(self):
        """Ends the stream."""
        self._requests.put(None)


def tick(follow_pb2, route, agents, time_s):
    """The message of one tick; `route` is None when the stream has it."""
    message = follow_pb2.FollowRequest(time_s=time_s, dt_s=DT_S)
    if route is not None:
        message.routes.append(route)
    columns = message.agents
    for agent in agents:
        columns.agent_id.append(agent.number)
        columns.route_id.append(ROUTE_ID)
        for points, values in ((columns.position, agent.position), (columns.velocity, agent.velocity)):
            points.x.append(values[0])
            points.y.append(values[1])
            points.z.append(values[2])
        columns.heading_rad.append(agent.heading)
        columns.resume_distance.append(agent.distance)
    return message


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "localhost:50051"
    follow_pb2, planner_pb2 = load_messages()
    request = json_format.Parse(sys.stdin.read(), planner_pb2.PlanCorridorRequest())
    request.include_corridor = True
    with grpc.insecure_channel(target) as channel:
        plan = channel.unary_unary("/arclane.v1.PathPlanner/PlanCorridor",
                                   request_serializer=planner_pb2.PlanCorridorRequest.SerializeToString,
                                   response_deserializer=planner_pb2.PlanCorridorResponse.FromString)
        route = plan(request, timeout=DEADLINE_S).route
        sent = follow_pb2.StreamRoute(route_id=ROUTE_ID, route=route, agent=request.agent, frame=request.frame,
                                      dependencies=request.corridor.dependencies)
        agents = [Agent(i, request.start) for i in range(AGENTS)]
        stream, tries, ticks = FollowStream(channel, follow_pb2), 0, 0
        latest = AGENTS * APART_S + 10.0 * route.duration_s + 10.0
        while any(agent.status != "ARRIVED" for agent in agents):
            time_s = ticks * DT_S
            moving = [a for a in agents if a.status != "ARRIVED" and time_s >= APART_S * a.number]
            message = tick(follow_pb2, sent if stream.is_new else None, moving, time_s)
            try:
                motions = stream.exchange(message).motions
            except grpc.RpcError as error:
                tries += 1  # In a row.
                if error.code() not in REOPENED or tries > TRIES:
                    print(error.code().name, error.details(), file=sys.stderr)
                    return 1
                time.sleep(PAUSE_S * (tries - 1))  # A stream that was ended is opened again at once.
                stream = FollowStream(channel, follow_pb2)  # The same tick again.
                continue
            ticks, tries = ticks + 1, 0
            for i, agent in enumerate(moving):
                velocity = [motions.velocity.x[i], motions.velocity.y[i], motions.velocity.z[i]]
                agent.move(velocity, motions.heading_rad[i])
                agent.distance = motions.distance[i]
                agent.status = follow_pb2.FollowStatus.Name(motions.status[i]).removeprefix("FOLLOW_STATUS_")
            if time_s > latest:
                print("not all agents arrive", file=sys.stderr)
                return 1
        stream.close()
        print(f"{AGENTS} agents arrived after {ticks} ticks; a route takes {route.duration_s:g} s")
        return 0


if __name__ == "__main__":
    sys.exit(main())
