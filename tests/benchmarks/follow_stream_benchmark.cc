// SPDX-License-Identifier: Apache-2.0
// Ticks of many agents over RouteFollower.Follow: in process from bytes to bytes, and over loopback
// beside a PingStream whose messages have the same sizes.
#include <grpcpp/create_channel.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "arclane/v1/follow.grpc.pb.h"
#include "arclane/v1/planner.grpc.pb.h"
#include "benchmark/benchmark.h"
#include "server/codec/request_limits.h"
#include "server/pipeline/follow_session.h"
#include "server/pipeline/plan_corridor.h"
#include "server/service/process_settings.h"
#include "server/service/server.h"
#include "server/service/service_labels.h"
#include "server/telemetry/metrics.h"

namespace arclane {
namespace {

constexpr double kDt = 1.0 / 60.0;

v1::PlanCorridorRequest CorridorRequest() {
  v1::PlanCorridorRequest request;
  v1::Polygons& polygons = *request.mutable_corridor()->mutable_polygons();
  const double cells[][4] = {{0, 0, 10, 2}, {10, 0, 12, 2}, {10, 2, 12, 12}};
  for (const auto& [left, low, right, high] : cells) {
    for (const double x : {left, right, right, left}) polygons.mutable_vertices()->add_x(x);
    for (const double y : {low, low, high, high}) polygons.mutable_vertices()->add_y(y);
    polygons.add_vertex_count(4);
  }
  request.mutable_start()->set_x(1);
  request.mutable_start()->set_y(1);
  request.mutable_goal()->set_x(11);
  request.mutable_goal()->set_y(11);
  v1::AgentLimits& limits = *request.mutable_agent()->mutable_limits();
  limits.set_max_speed(6);
  limits.set_max_acceleration(3);
  limits.set_max_braking(4);
  limits.set_max_lateral_acceleration(4);
  request.mutable_agent()->mutable_body()->set_max_turn_radius(3);
  request.set_include_corridor(true);
  return request;
}

// The first tick, with the route, of agents that are spread over its first line.
v1::FollowRequest FirstTick(int agents) {
  const v1::PlanCorridorRequest planned = CorridorRequest();
  v1::PlanCorridorResponse response;
  if (AnswerPlanCorridor(
          planned, RequestLimits(), [] { return std::optional<FailureReason>(); }, response)) {
    std::abort();
  }
  v1::FollowRequest request;
  v1::StreamRoute& route = *request.add_routes();
  route.set_route_id(1);
  *route.mutable_route() = response.route();
  *route.mutable_agent() = planned.agent();
  request.set_dt_s(kDt);
  for (int i = 0; i < agents; ++i) {
    const double along = 8.0 * i / agents;
    v1::AgentColumns& columns = *request.mutable_agents();
    columns.add_agent_id(static_cast<uint64_t>(i));
    columns.add_route_id(1);
    columns.mutable_position()->add_x(1 + along);
    columns.mutable_position()->add_y(1);
    columns.mutable_velocity()->add_x(0);
    columns.mutable_velocity()->add_y(0);
    columns.add_heading_rad(0);
    columns.add_resume_distance(along);
  }
  return request;
}

// A tick like every later one: without the route.
v1::FollowRequest LaterTick(const v1::FollowRequest& first) {
  v1::FollowRequest later = first;
  later.clear_routes();
  later.mutable_agents()->clear_resume_distance();
  later.set_time_s(kDt);
  return later;
}

void BM_FollowBytes(benchmark::State& state) {
  const v1::FollowRequest first = FirstTick(static_cast<int>(state.range(0)));
  const std::string bytes = LaterTick(first).SerializeAsString();
  FollowSession session;
  v1::FollowResponse response;
  if (session.Answer(first, &response)) std::abort();
  v1::FollowRequest request;
  std::string answer;
  for (auto _ : state) {
    response.Clear();
    if (!request.ParseFromString(bytes) || session.Answer(request, &response)) std::abort();
    response.SerializeToString(&answer);
    benchmark::DoNotOptimize(answer);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["request_bytes"] = static_cast<double>(bytes.size());
  state.counters["response_bytes"] = static_cast<double>(answer.size());
}

struct Loopback {
  Loopback() : metrics(CurrentBuild(), ServiceLabels()) {
    // As the server's program does.
    SetUpServerProcess(/*planner_threads=*/1);
    auto started = Server::Start({}, metrics);
    if (!started.ok()) std::abort();
    server = *std::move(started);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    channel = grpc::CreateCustomChannel(server->addresses()[0], grpc::InsecureChannelCredentials(),
                                        arguments);
  }
  Metrics metrics;
  std::unique_ptr<Server> server;
  std::shared_ptr<grpc::Channel> channel;
};

void BM_FollowStream(benchmark::State& state) {
  Loopback loopback;
  const auto stub = v1::RouteFollower::NewStub(loopback.channel);
  grpc::ClientContext context;
  const auto stream = stub->Follow(&context);
  const v1::FollowRequest first = FirstTick(static_cast<int>(state.range(0)));
  const v1::FollowRequest later = LaterTick(first);
  v1::FollowResponse response;
  if (!stream->Write(first) || !stream->Read(&response)) std::abort();
  for (auto _ : state) {
    if (!stream->Write(later) || !stream->Read(&response)) std::abort();
  }
  stream->WritesDone();
  stream->Finish();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// The floor: messages of the same sizes, encoded and decoded by the client as well.
void BM_PingStreamOfTheSameBytes(benchmark::State& state) {
  Loopback loopback;
  const v1::FollowRequest first = FirstTick(static_cast<int>(state.range(0)));
  FollowSession session;
  v1::FollowResponse answer;
  if (session.Answer(first, &answer)) std::abort();
  v1::PingStreamRequest request;
  request.set_payload(std::string(LaterTick(first).ByteSizeLong(), 'x'));
  request.set_response_size(static_cast<uint32_t>(answer.ByteSizeLong()));
  const auto stub = v1::PathPlanner::NewStub(loopback.channel);
  grpc::ClientContext context;
  const auto stream = stub->PingStream(&context);
  v1::PingStreamResponse response;
  for (auto _ : state) {
    if (!stream->Write(request) || !stream->Read(&response)) std::abort();
  }
  stream->WritesDone();
  stream->Finish();
}

BENCHMARK(BM_FollowBytes)->Arg(1)->Arg(50)->Arg(1000);
BENCHMARK(BM_FollowStream)->Arg(50)->Arg(1000)->UseRealTime();
BENCHMARK(BM_PingStreamOfTheSameBytes)->Arg(50)->Arg(1000)->UseRealTime();

}  // namespace
}  // namespace arclane
