// SPDX-License-Identifier: Apache-2.0
// The Follow stream over a connection: its ticks, its end by a drain, and what does not make sense.
#include <thread>

#include "arclane/v1/follow.grpc.pb.h"
#include "gtest/gtest.h"
#include "tests/integration/service_harness.h"

namespace arclane {
namespace {

// One agent at rest on a line of 8 along x, without a corridor.
v1::FollowRequest FirstTick() {
  v1::FollowRequest request;
  v1::StreamRoute& sent = *request.add_routes();
  sent.set_route_id(1);
  v1::Route& route = *sent.mutable_route();
  route.set_outcome(v1::OUTCOME_COMPLETE);
  route.set_length(8);
  v1::SegmentColumns& segments = *route.mutable_segments();
  segments.add_kind(v1::SEGMENT_KIND_LINE);
  segments.add_start_distance(0);
  segments.mutable_start()->add_x(0);
  segments.mutable_start()->add_y(0);
  segments.add_heading_rad(0);
  segments.add_curvature(0);
  segments.add_length(8);
  segments.add_turn_angle_rad(0);
  v1::AgentLimits& limits = *sent.mutable_agent()->mutable_limits();
  limits.set_max_speed(4);
  limits.set_max_acceleration(2);
  limits.set_max_braking(2);
  request.set_dt_s(0.02);
  v1::AgentColumns& agents = *request.mutable_agents();
  agents.add_agent_id(5);
  agents.add_route_id(1);
  agents.mutable_position()->add_x(0);
  agents.mutable_position()->add_y(0);
  agents.mutable_velocity()->add_x(0);
  agents.mutable_velocity()->add_y(0);
  agents.add_heading_rad(0);
  return request;
}

TEST(ServiceFollowTest, AnswersTickByTick) {
  TestServer server;
  const auto stub = v1::RouteFollower::NewStub(server.channel());
  grpc::ClientContext context;
  const auto stream = stub->Follow(&context);
  v1::FollowRequest request = FirstTick();
  for (int tick = 0; tick < 100; ++tick) {
    request.set_time_s(0.02 * tick);
    ASSERT_TRUE(stream->Write(request));
    v1::FollowResponse response;
    ASSERT_TRUE(stream->Read(&response));
    ASSERT_EQ(response.motions().agent_id_size(), 1);
    EXPECT_EQ(response.motions().status(0), v1::FOLLOW_STATUS_FOLLOWING);
    v1::AgentColumns& agents = *request.mutable_agents();
    const double speed = response.motions().velocity().x(0);
    EXPECT_GT(speed, 0.0);
    agents.mutable_velocity()->set_x(0, speed);
    agents.mutable_position()->set_x(0, agents.position().x(0) + speed * 0.02);
    request.clear_routes();
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST(ServiceFollowTest, ADrainEndsTheStreamBetweenTicks) {
  TestServer server;
  const auto stub = v1::RouteFollower::NewStub(server.channel());
  grpc::ClientContext context;
  const auto stream = stub->Follow(&context);
  ASSERT_TRUE(stream->Write(FirstTick()));
  v1::FollowResponse response;
  ASSERT_TRUE(stream->Read(&response));
  std::thread drain([&] { EXPECT_TRUE(server.server().Shutdown(0, 5)); });
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.going_away().reason(), v1::STREAM_END_GOING_AWAY);
  EXPECT_TRUE(response.pushed());
  EXPECT_FALSE(stream->Read(&response));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DetailsOf(status).info->reason(), "DRAINING");
  drain.join();
}

TEST(ServiceFollowTest, AStreamCutInTheMiddleLeavesTheServerWell) {
  TestServer server;
  const auto stub = v1::RouteFollower::NewStub(server.channel());
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext context;
    const auto stream = stub->Follow(&context);
    ASSERT_TRUE(stream->Write(FirstTick()));
    v1::FollowResponse response;
    if (i % 2 == 0) {
      ASSERT_TRUE(stream->Read(&response));
    }
    context.TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  grpc::ClientContext context;
  const auto stream = stub->Follow(&context);
  v1::FollowResponse response;
  ASSERT_TRUE(stream->Write(FirstTick()));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.motions().agent_id_size(), 1);
}

TEST(ServiceFollowTest, ManyAgentsInOneMessage) {
  constexpr int kAgents = 100000;
  TestServer server;
  const auto stub = v1::RouteFollower::NewStub(server.channel());
  grpc::ClientContext context;
  const auto stream = stub->Follow(&context);
  v1::FollowRequest request = FirstTick();
  v1::AgentColumns& agents = *request.mutable_agents();
  for (int i = 1; i < kAgents; ++i) {
    agents.add_agent_id(5 + static_cast<uint64_t>(i));
    agents.add_route_id(1);
    agents.mutable_position()->add_x(0);
    agents.mutable_position()->add_y(0);
    agents.mutable_velocity()->add_x(0);
    agents.mutable_velocity()->add_y(0);
    agents.add_heading_rad(0);
  }
  ASSERT_TRUE(stream->Write(request));
  v1::FollowResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.motions().agent_id_size(), kAgents);
}

TEST(ServiceFollowTest, WhatMakesNoSenseEndsTheStreamAndNamesTheField) {
  TestServer server;
  const auto stub = v1::RouteFollower::NewStub(server.channel());
  grpc::ClientContext context;
  const auto stream = stub->Follow(&context);
  v1::FollowRequest request = FirstTick();
  request.mutable_agents()->add_heading_rad(0);
  ASSERT_TRUE(stream->Write(request));
  v1::FollowResponse response;
  EXPECT_FALSE(stream->Read(&response));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const ErrorDetails details = DetailsOf(status);
  ASSERT_TRUE(details.bad_request);
  EXPECT_EQ(details.bad_request->field_violations(0).field(), "agents.heading_rad");
}

}  // namespace
}  // namespace arclane
