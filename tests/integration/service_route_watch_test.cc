// SPDX-License-Identifier: Apache-2.0
// Followers that are told of changes by the service: in the game's process by the SDK's RouteWatch,
// and on a Follow stream by the server itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "arclane/v1/follow.grpc.pb.h"
#include "client/sdk/client.h"
#include "client/sdk/route_watch.h"
#include "tests/integration/service_harness.h"
#include "tests/support/grid_mesh.h"
#include "tests/support/neutral_message.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;

constexpr double kDt = 1.0 / 60.0;
constexpr uint32_t kLength = 24;
constexpr uint64_t kNearGate = 7;  // Between the squares 4 and 5.
constexpr uint64_t kFarGate = 8;   // Between the squares 20 and 21.

// A row of 24 unit squares in 6 tiles.
NeutralMesh Row() {
  NeutralMesh mesh = GridMesh({.width = kLength, .height = 1, .tile = 4});
  mesh.gates = {{{kNearGate}, "near", {{{4}, {5}}}, true},
                {{kFarGate}, "far", {{{20}, {21}}}, true}};
  return mesh;
}

// Says that nothing has changed, whatever it is told: what a follower does that ignores its read
// set.
class Deaf final : public ReadSetSource {
 public:
  void Read(const FollowedRoute& route, std::vector<DependencyState>* states) const override {
    states->assign(route.read_set.size(), DependencyState::kCurrent);
  }
  bool IsSilent(double) const override { return false; }
};

class ServiceRouteWatchTest : public ::testing::Test {
 protected:
  explicit ServiceRouteWatchTest(ServerOptions options = {}) : server_(std::in_place, options) {
    ClientOptions client;
    client.target = server_->server().addresses()[0];
    client_ = *Client::Create(client);
    v1::PublishNavMeshHeader header;
    header.set_navmesh_id("map");
    header.set_version(1);
    header.set_format(v1::NAV_MESH_FORMAT_NEUTRAL);
    const auto published = client_->navmeshes().Publish(
        header, ::arclane::testing::ToMessage(Row()).SerializeAsString());
    EXPECT_TRUE(published.ok()) << published.error();
    request_.mutable_navmesh()->set_navmesh_id("map");
    request_.mutable_start()->set_x(0.5);
    request_.mutable_start()->set_y(0.5);
    request_.mutable_goal()->set_x(kLength - 0.5);
    request_.mutable_goal()->set_y(0.5);
    for (uint64_t ref = 0; ref < kLength; ++ref)
      request_.mutable_corridor()->mutable_refs()->add_ref(ref);
    v1::AgentLimits& limits = *request_.mutable_agent()->mutable_limits();
    limits.set_max_speed(2);
    limits.set_max_acceleration(4);
    limits.set_max_braking(4);
    request_.set_include_corridor(true);
    const auto answer = client_->PlanCorridor(request_);
    EXPECT_TRUE(answer.ok()) << answer.error();
    answer_ = *answer;
    const auto route = FollowedRouteOf(request_, answer_, 1);
    EXPECT_TRUE(route.ok()) << route.status();
    route_ = *route;
  }

  void SetGate(uint64_t gate, bool open) {
    v1::ApplyChangesRequest request;
    request.set_navmesh_id("map");
    open ? request.mutable_changes()->add_open_gates(gate)
         : request.mutable_changes()->add_closed_gates(gate);
    const auto applied = client_->navmeshes().ApplyChanges(request);
    EXPECT_TRUE(applied.ok()) << applied.error();
  }

  // An agent in the game's process.
  struct Agent {
    explicit Agent(std::shared_ptr<const FollowedRoute> route)
        : follower(std::move(route), FollowerOptions(), 0.0, {0.5, 0.5, 0.0}) {
      report.position = {0.5, 0.5};
      report.dt = kDt;
    }
    const MotionRequest& Step(const ReadSetSource& source) {
      const MotionRequest& motion = follower.Step({.report = report}, &source);
      report.time_s += kDt;
      report.velocity = motion.preferred_velocity;
      report.displacement = motion.preferred_velocity * kDt;
      report.position = report.position + report.displacement;
      report.heading = motion.heading;
      return motion;
    }
    Follower follower;
    FollowReport report;
  };

  // Steps, standing still, until `is` says yes of the motion; false when it never does.
  template <typename Condition>
  static bool Await(Agent& agent, const ReadSetSource& source, Condition is) {
    for (int i = 0; i < 2000; ++i) {
      agent.report.time_s += kDt;
      if (is(agent.follower.Step({.report = agent.report}, &source))) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  std::optional<TestServer> server_;
  std::unique_ptr<Client> client_;
  v1::PlanCorridorRequest request_;
  v1::PlanCorridorResponse answer_;
  std::shared_ptr<const FollowedRoute> route_;
};

v1::WatchRoutesScope Scope() {
  v1::WatchRoutesScope scope;
  scope.set_navmesh_id("map");
  return scope;
}

TEST_F(ServiceRouteWatchTest, AnswersByReferenceTellWhatTheirPortalsDependOn) {
  const v1::DependencyColumns& dependencies = answer_.dependencies();
  int gates = 0, tiles = 0;
  for (int i = 0; i < dependencies.id_size(); ++i) {
    if (dependencies.kind(i) == v1::DEPENDENCY_KIND_GATE) {
      ++gates;
      EXPECT_EQ(dependencies.portal_index(i), dependencies.id(i) == kNearGate ? 4u : 20u);
    } else if (dependencies.kind(i) == v1::DEPENDENCY_KIND_TILE) {
      ++tiles;
      const auto tile = static_cast<uint32_t>(dependencies.id(i) - 1000);
      const uint32_t first = tile == 0 ? 0 : 4 * tile - 1, last = 4 * tile + 3;
      EXPECT_TRUE(dependencies.portal_index(i) == first || dependencies.portal_index(i) == last);
    }
  }
  EXPECT_EQ(gates, 2);
  EXPECT_EQ(tiles, 12);
}

TEST_F(ServiceRouteWatchTest, AGateThatClosesAheadStopsTheAgentBeforeIt) {
  RouteWatch watch(client_->navmeshes(), Scope(), {.age_limit_s = 3600});
  const auto source = watch.Watch(route_, answer_.answer());
  Agent agent(route_);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(agent.Step(*source).status, FollowStatus::kFollowing);
  SetGate(kFarGate, false);
  ASSERT_TRUE(Await(agent, *source, [](const MotionRequest& m) { return m.stale; }));
  const MotionRequest& stale = agent.Step(*source);
  EXPECT_EQ(stale.status, FollowStatus::kStale);
  EXPECT_EQ(stale.changed, DependencyState::kGateClosed);
  EXPECT_EQ(route_->read_set[stale.changed_dependency].id, kFarGate);
  EXPECT_TRUE(stale.replan);
  for (int i = 0; i < 300; ++i) agent.Step(*source);
  EXPECT_LT(agent.report.position.x, 3.0);  // Braked from where it was told.
  // The fault that the test above would not survive: an agent that ignores what it is told drives
  // through the gate.
  Agent deaf(route_);
  for (int i = 0; i < 1200; ++i) EXPECT_NE(deaf.Step(Deaf()).status, FollowStatus::kStale);
  EXPECT_GT(deaf.report.position.x, 21.0);
}

TEST_F(ServiceRouteWatchTest, AGateThatWasPassedDoesNotMatterAndTheNextOneStillDoes) {
  RouteWatch watch(client_->navmeshes(), Scope(), {.age_limit_s = 3600});
  const auto source = watch.Watch(route_, answer_.answer());
  Agent agent(route_);
  while (agent.report.position.x < 6.0) agent.Step(*source);
  SetGate(kNearGate, false);
  // Told, and of no meaning here: until the far one closes nothing is stale.
  std::vector<DependencyState> states;
  for (int i = 0; i < 2000; ++i) {
    source->Read(*route_, &states);
    if (std::count(states.begin(), states.end(), DependencyState::kGateClosed) > 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_EQ(std::count(states.begin(), states.end(), DependencyState::kGateClosed), 1);
  EXPECT_EQ(agent.Step(*source).status, FollowStatus::kFollowing);
  SetGate(kFarGate, false);
  EXPECT_TRUE(Await(agent, *source, [](const MotionRequest& m) { return m.stale; }));
}

TEST_F(ServiceRouteWatchTest, ASilentServerBrakesEveryAgent) {
  RouteWatch watch(client_->navmeshes(), Scope(), {.age_limit_s = 0.3, .heartbeat_s = 0.05});
  const auto source = watch.Watch(route_, answer_.answer());
  Agent agent(route_);
  for (int i = 0; i < 60; ++i) {
    agent.Step(*source);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const double driven = agent.report.position.x;
  EXPECT_GT(driven, 1.0);
  server_.reset();
  ASSERT_TRUE(Await(agent, *source, [](const MotionRequest& m) { return m.stale; }));
  for (int i = 0; i < 120; ++i) agent.Step(*source);
  EXPECT_EQ(agent.report.velocity, Vec2{});
  EXPECT_LT(agent.report.position.x, driven + 1.0);
}

// The server comes back without its data and at the same epoch: what the route was read from may be
// anything now.
TEST_F(ServiceRouteWatchTest, AServerInAnotherLifeBrakesEveryAgent) {
  RouteWatch watch(client_->navmeshes(), Scope(), {.age_limit_s = 3600});
  const auto source = watch.Watch(route_, answer_.answer());
  Agent agent(route_);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(agent.Step(*source).status, FollowStatus::kFollowing);
  ServerOptions options;
  options.addresses = server_->server().addresses();
  RegistryOptions registry;
  registry.draw_life = NavMeshBackend::DrawLife;
  options.navmeshes.registry = *NavMeshRegistry::Open(registry, std::make_shared<NullStore>(), 0.0);
  const NeutralMesh mesh = Row();
  PublishRequest publish;
  publish.navmesh_id = "map";
  publish.version = {1};
  publish.neutral = &mesh;
  ASSERT_TRUE(options.navmeshes.registry->Publish(publish).ok());
  server_.reset();
  server_.emplace(options);
  EXPECT_TRUE(Await(agent, *source, [](const MotionRequest& m) { return m.stale; }));
}

// The first tick of an agent on the planned route, with the stream's navmesh.
v1::FollowRequest FirstTick(const v1::PlanCorridorRequest& request,
                            const v1::PlanCorridorResponse& answer) {
  v1::FollowRequest tick;
  tick.mutable_navmesh()->set_navmesh_id("map");
  v1::StreamRoute& route = *tick.add_routes();
  route.set_route_id(1);
  *route.mutable_route() = answer.route();
  *route.mutable_agent() = request.agent();
  *route.mutable_dependencies() = answer.dependencies();
  route.set_navmesh_version(answer.answer().navmesh_version());
  tick.set_dt_s(kDt);
  v1::AgentColumns& agents = *tick.mutable_agents();
  agents.add_agent_id(5);
  agents.add_route_id(1);
  agents.mutable_position()->add_x(0.5);
  agents.mutable_position()->add_y(0.5);
  agents.mutable_velocity()->add_x(0);
  agents.mutable_velocity()->add_y(0);
  agents.add_heading_rad(0);
  return tick;
}

TEST_F(ServiceRouteWatchTest, AStreamTellsByItselfWhoHasGoneStale) {
  const auto stub = v1::RouteFollower::NewStub(server_->channel());
  grpc::ClientContext context;
  const auto stream = stub->Follow(&context);
  v1::FollowRequest tick = FirstTick(request_, answer_);
  ASSERT_TRUE(stream->Write(tick));
  v1::FollowResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.motions().status(0), v1::FOLLOW_STATUS_FOLLOWING);
  EXPECT_FALSE(response.pushed());
  SetGate(kFarGate, false);
  // Without another tick.
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_TRUE(response.pushed());
  EXPECT_EQ(response.motions().agent_id_size(), 0);
  ASSERT_EQ(response.stale().agent_id_size(), 1);
  EXPECT_EQ(response.stale().agent_id(0), 5u);
  EXPECT_EQ(response.stale().change(0), v1::CHANGE_KIND_GATE_CLOSED);
  EXPECT_EQ(response.stale().portal_index(0), 20u);
  // The next tick knows of it too.
  tick.clear_routes();
  tick.clear_navmesh();
  tick.set_time_s(kDt);
  ASSERT_TRUE(stream->Write(tick));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_FALSE(response.pushed());
  EXPECT_EQ(response.motions().status(0), v1::FOLLOW_STATUS_STALE);
  // Open again, the stream's route is right again for agents that start on it.
  SetGate(kFarGate, true);
  v1::FollowRequest again = FirstTick(request_, answer_);
  again.clear_navmesh();
  again.set_time_s(2 * kDt);
  ASSERT_TRUE(stream->Write(again));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.motions().status(0), v1::FOLLOW_STATUS_FOLLOWING);
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(ServiceRouteWatchTest, AStreamWhoseNavMeshIsNotThereFails) {
  const auto stub = v1::RouteFollower::NewStub(server_->channel());
  grpc::ClientContext context;
  const auto stream = stub->Follow(&context);
  v1::FollowRequest tick = FirstTick(request_, answer_);
  tick.mutable_navmesh()->set_navmesh_id("elsewhere");
  ASSERT_TRUE(stream->Write(tick));
  v1::FollowResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

class ShortStreamsTest : public ServiceRouteWatchTest {
 protected:
  ShortStreamsTest() : ServiceRouteWatchTest(Options()) {}
  static ServerOptions Options() {
    ServerOptions options;
    options.max_connection_age_s = 0.5;
    options.max_connection_age_grace_s = 0.5;
    return options;
  }
};

// Streams end for age again and again; every tick is answered, and the agent moves as one whose
// stream never ended.
TEST_F(ShortStreamsTest, AStreamThatEndsIsOpenedAgainWithoutLosingATick) {
  const auto stub = v1::RouteFollower::NewStub(server_->NewChannel());
  struct Call {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReaderWriter<v1::FollowRequest, v1::FollowResponse>> stream;
  };
  std::unique_ptr<Call> call;
  Agent alone(route_);
  double distance = 0.0;
  int opened = 0;
  const auto open = [&] {
    call = std::make_unique<Call>();
    call->stream = stub->Follow(&call->context);
    ++opened;
  };
  v1::FollowRequest base = FirstTick(request_, answer_);
  double x = 0.5, speed = 0.0;
  const Deaf unchanged;
  for (int tick = 0; tick < 400; ++tick) {
    v1::FollowRequest request = base;
    request.set_time_s(tick * kDt);
    request.mutable_agents()->mutable_position()->set_x(0, x);
    request.mutable_agents()->mutable_velocity()->set_x(0, speed);
    request.mutable_agents()->add_resume_distance(distance);
    v1::FollowResponse response;
    for (int attempt = 0;; ++attempt) {
      ASSERT_LT(attempt, 20);
      const bool is_new = call == nullptr;
      if (is_new) open();
      v1::FollowRequest sent = request;
      if (!is_new) {
        sent.clear_routes();
        sent.clear_navmesh();
      }
      bool answered = false;
      // Also where the write fails: Finish waits until everything the server wrote has been read.
      call->stream->Write(sent);
      while (call->stream->Read(&response)) {
        if (response.pushed()) continue;
        answered = true;
        break;
      }
      if (answered) break;
      const grpc::Status status = call->stream->Finish();
      ASSERT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
      call.reset();
    }
    const MotionRequest& expected = alone.Step(unchanged);
    // A stream that begins again begins at the distance it is told, a rounding from where it was.
    ASSERT_NEAR(response.motions().velocity().x(0), expected.preferred_velocity.x, 1e-9) << tick;
    ASSERT_EQ(response.time_s(), request.time_s());
    distance = response.motions().distance(0);
    speed = response.motions().velocity().x(0);
    x = alone.report.position.x;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GT(opened, 1);
  call->stream->WritesDone();
  for (v1::FollowResponse rest; call->stream->Read(&rest);) continue;
  call->stream->Finish();
}

}  // namespace
}  // namespace arclane
