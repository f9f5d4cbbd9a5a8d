// SPDX-License-Identifier: Apache-2.0
// Watching navmeshes, worlds and routes through the service, by its stub and by the SDK.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "client/sdk/client.h"
#include "server/navmesh/registry.h"
#include "tests/integration/service_harness.h"
#include "tests/support/grid_mesh.h"
#include "tests/support/neutral_message.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;
using ::testing::ElementsAre;

using Event = v1::WatchNavMeshResponse;

// 4 x 4 unit squares with refs 0 to 15 in 4 tiles 1000 to 1003; gate 7 between the squares 1 and 2.
NeutralMesh OneGateGrid() {
  NeutralMesh mesh = GridMesh({});
  mesh.gates = {{{7}, "gate", {{{1}, {2}}}, true}};
  return mesh;
}

std::unique_ptr<Client> ClientOf(TestServer& server) {
  ClientOptions options;
  options.target = server.server().addresses()[0];
  auto client = Client::Create(options);
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

class ServiceWatchTest : public ::testing::Test {
 protected:
  explicit ServiceWatchTest(ServerOptions options = {})
      : server_(options),
        stub_(v1::NavMeshRegistry::NewStub(server_.channel())),
        client_(ClientOf(server_)) {
    v1::PublishNavMeshHeader header;
    header.set_navmesh_id("map");
    header.set_version(1);
    header.set_format(v1::NAV_MESH_FORMAT_NEUTRAL);
    const auto published = client_->navmeshes().Publish(
        header, ::arclane::testing::ToMessage(OneGateGrid()).SerializeAsString());
    EXPECT_TRUE(published.ok()) << published.error();
  }

  uint64_t SetGate(bool open, const std::string& world = "") {
    v1::ApplyChangesRequest request;
    request.set_navmesh_id("map");
    request.set_world_id(world);
    open ? request.mutable_changes()->add_open_gates(7)
         : request.mutable_changes()->add_closed_gates(7);
    const auto applied = client_->navmeshes().ApplyChanges(request);
    EXPECT_TRUE(applied.ok()) << applied.error();
    return applied.ok() ? applied->epoch() : 0;
  }

  static v1::WatchNavMeshRequest WatchRequest(const std::string& world = "") {
    v1::WatchNavMeshRequest request;
    request.set_navmesh_id("map");
    request.set_world_id(world);
    return request;
  }

  // A route along the lowest row of squares, as it is planned now.
  v1::WatchedRoute PlannedRoute(uint64_t id) {
    v1::PlanCorridorRequest request = SmallRequest();
    request.mutable_navmesh()->set_navmesh_id("map");
    request.mutable_goal()->set_x(3.5);
    for (const uint64_t ref : {0, 1, 2, 3})
      request.mutable_corridor()->mutable_refs()->add_ref(ref);
    const auto planned = client_->PlanCorridor(request);
    EXPECT_TRUE(planned.ok()) << planned.error();
    v1::WatchedRoute route;
    route.set_route_id(id);
    route.set_version(planned->answer().navmesh_version());
    route.set_epoch(planned->answer().epoch());
    route.set_life(planned->answer().life());
    EXPECT_NE(route.life(), 0u);
    *route.mutable_read_set() = planned->read_set();
    return route;
  }

  TestServer server_;
  std::unique_ptr<v1::NavMeshRegistry::Stub> stub_;
  std::unique_ptr<Client> client_;
};

TEST_F(ServiceWatchTest, TellsASnapshotThenChangesUnderContiguousEpochs) {
  auto watch = client_->navmeshes().Watch(WatchRequest());
  const auto snapshot = watch->Next();
  ASSERT_TRUE(snapshot.ok()) << snapshot.error();
  EXPECT_EQ(snapshot->snapshot().navmesh().active_version(), 1u);
  EXPECT_FALSE(snapshot->snapshot().resync());
  EXPECT_TRUE(watch->Next()->has_synced());
  const uint64_t first = SetGate(false);
  EXPECT_EQ(first, snapshot->epoch() + 1);
  const auto closed = watch->Next();
  ASSERT_EQ(closed->changes().changes_size(), 1);
  EXPECT_EQ(closed->changes().changes(0).epoch(), first);
  EXPECT_THAT(closed->changes().changes(0).changes().closed_gates(), ElementsAre(7));
  EXPECT_TRUE(watch->Next()->has_synced());
  // A client that names what it knows gets what it missed and no snapshot.
  const uint64_t last = SetGate(true);
  v1::WatchNavMeshRequest knowing = WatchRequest();
  knowing.set_known_epoch(first);
  const auto missed = client_->navmeshes().Watch(knowing)->Next();
  ASSERT_EQ(missed->changes().changes_size(), 1);
  EXPECT_EQ(missed->changes().changes(0).epoch(), last);
  // One of another life gets a snapshot and is told so.
  knowing.set_known_epoch(last + 1000);
  EXPECT_TRUE(client_->navmeshes().Watch(knowing)->Next()->snapshot().resync());
}

TEST_F(ServiceWatchTest, AClientThatKnowsAnotherLifeGetsASnapshot) {
  v1::CreateWorldRequest create;
  create.set_navmesh_id("map");
  create.set_world_id("match");
  ASSERT_TRUE(client_->navmeshes().CreateWorld(create).ok());
  for (const std::string world : {"", "match"}) {
    auto watch = client_->navmeshes().Watch(WatchRequest(world));
    const auto snapshot = watch->Next();
    ASSERT_TRUE(snapshot.ok()) << snapshot.error();
    const uint64_t life = snapshot->life();
    EXPECT_NE(life, 0u);
    EXPECT_EQ(watch->Next()->life(), life);
    const uint64_t epoch = SetGate(false, world);
    const auto change = watch->Next();
    EXPECT_TRUE(change->has_changes());
    EXPECT_EQ(change->life(), life);
    v1::WatchNavMeshRequest knowing = WatchRequest(world);
    knowing.set_known_epoch(epoch);
    knowing.set_known_life(life);
    EXPECT_TRUE(client_->navmeshes().Watch(knowing)->Next()->has_synced());
    knowing.set_known_life(life + 1);
    const auto resync = client_->navmeshes().Watch(knowing)->Next();
    EXPECT_TRUE(resync->snapshot().resync());
    EXPECT_EQ(resync->life(), life);
    EXPECT_EQ(resync->epoch(), epoch);
  }
}

TEST_F(ServiceWatchTest, UnknownNavMeshesAndWorldsEndTheWatch) {
  v1::WatchNavMeshRequest request;
  request.set_navmesh_id("nowhere");
  EXPECT_EQ(client_->navmeshes().Watch(request)->Next().error().reason, "UNKNOWN_NAVMESH");
  EXPECT_EQ(client_->navmeshes().Watch(WatchRequest("nobody"))->Next().error().reason,
            "UNKNOWN_WORLD");
}

TEST_F(ServiceWatchTest, AWatchEndsWithItsWorld) {
  v1::CreateWorldRequest create;
  create.set_navmesh_id("map");
  create.set_world_id("match");
  ASSERT_TRUE(client_->navmeshes().CreateWorld(create).ok());
  auto watch = client_->navmeshes().Watch(WatchRequest("match"));
  EXPECT_EQ(watch->Next()->snapshot().world().version(), 1u);
  EXPECT_TRUE(watch->Next()->has_synced());
  SetGate(false, "match");
  EXPECT_TRUE(watch->Next()->has_changes());
  EXPECT_TRUE(watch->Next()->has_synced());
  v1::DeleteWorldRequest remove;
  remove.set_navmesh_id("map");
  remove.set_world_id("match");
  ASSERT_TRUE(client_->navmeshes().DeleteWorld(remove).ok());
  EXPECT_EQ(watch->Next().error().reason, "UNKNOWN_WORLD");
}

TEST_F(ServiceWatchTest, AStopRequestEndsTheWait) {
  std::stop_source stop;
  CallOptions options;
  options.stop = stop.get_token();
  auto watch = client_->navmeshes().Watch(WatchRequest(), options);
  EXPECT_TRUE(watch->Next().ok());
  EXPECT_TRUE(watch->Next().ok());
  std::thread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(watch->Next().error().code, absl::StatusCode::kCancelled);
  stopper.join();
}

TEST_F(ServiceWatchTest, ADrainTellsStreamsThatItGoesAway) {
  grpc::ClientContext watch_context, routes_context;
  auto watch = stub_->WatchNavMesh(&watch_context, WatchRequest());
  Event event;
  ASSERT_TRUE(watch->Read(&event));
  ASSERT_TRUE(watch->Read(&event));
  auto routes = stub_->WatchRoutes(&routes_context);
  v1::WatchRoutesRequest scope;
  scope.mutable_scope()->set_navmesh_id("map");
  ASSERT_TRUE(routes->Write(scope));
  v1::WatchRoutesResponse routes_event;
  ASSERT_TRUE(routes->Read(&routes_event));
  EXPECT_TRUE(routes_event.has_synced());
  std::thread drain([&] { EXPECT_TRUE(server_.server().Shutdown(0, 10)); });
  ASSERT_TRUE(watch->Read(&event));
  EXPECT_EQ(event.going_away().reason(), v1::STREAM_END_GOING_AWAY);
  EXPECT_FALSE(watch->Read(&event));
  EXPECT_EQ(DetailsOf(watch->Finish()).info->reason(), "DRAINING");
  ASSERT_TRUE(routes->Read(&routes_event));
  EXPECT_EQ(routes_event.going_away().reason(), v1::STREAM_END_GOING_AWAY);
  EXPECT_FALSE(routes->Read(&routes_event));
  EXPECT_EQ(DetailsOf(routes->Finish()).info->reason(), "DRAINING");
  drain.join();
}

TEST_F(ServiceWatchTest, TellsWhichRoutesGoStaleAndWhy) {
  v1::WatchRoutesScope scope;
  scope.set_navmesh_id("map");
  auto watch = client_->navmeshes().WatchRoutes(scope);
  EXPECT_TRUE(watch->Next()->has_synced());
  v1::WatchedRoute far;  // Reads the two upper tiles.
  far.set_route_id(2);
  far.mutable_read_set()->add_tile(1002);
  far.mutable_read_set()->add_tile(1003);
  v1::WatchRoutesRequest request;
  *request.add_added() = PlannedRoute(1);
  *request.add_added() = far;
  watch->Update(request);
  const auto synced = watch->Next();
  EXPECT_TRUE(synced->has_synced());
  EXPECT_EQ(synced->request_count(), 2u);
  const uint64_t epoch = SetGate(false);
  const auto stale = watch->Next();
  EXPECT_EQ(stale->epoch(), epoch);
  EXPECT_THAT(stale->stale().route_id(), ElementsAre(1));
  EXPECT_THAT(stale->stale().reason(), ElementsAre(v1::STALE_REASON_GATE_CHANGED));
  EXPECT_THAT(stale->stale().id(), ElementsAre(7));
  EXPECT_TRUE(watch->Next()->has_synced());
  // Planned while the gate was closed; then it opens and closes again before the route is watched.
  const v1::WatchedRoute late = PlannedRoute(3);
  SetGate(true);
  EXPECT_TRUE(watch->Next()->has_synced());
  SetGate(false);
  EXPECT_TRUE(watch->Next()->has_synced());
  request.Clear();
  *request.add_added() = late;
  watch->Update(request);
  EXPECT_THAT(watch->Next()->stale().reason(), ElementsAre(v1::STALE_REASON_GATE_CHANGED));
  EXPECT_TRUE(watch->Next()->has_synced());
  // A new lineage has other tiles.
  v1::PublishNavMeshHeader header;
  header.set_navmesh_id("map");
  header.set_version(2);
  header.set_format(v1::NAV_MESH_FORMAT_NEUTRAL);
  NeutralMesh other = OneGateGrid();
  other.baked_radius = 1;
  ASSERT_TRUE(client_->navmeshes()
                  .Publish(header, ::arclane::testing::ToMessage(other).SerializeAsString())
                  .ok());
  const auto replaced = watch->Next();
  EXPECT_THAT(replaced->stale().route_id(), ElementsAre(2));
  EXPECT_THAT(replaced->stale().reason(), ElementsAre(v1::STALE_REASON_TILE_CHANGED));
}

TEST_F(ServiceWatchTest, RoutesOfUnknownStateAreNotSaidToBeCurrent) {
  v1::WatchedRoute other_life = PlannedRoute(1), to_come = PlannedRoute(2),
                   unset_to_come = PlannedRoute(3), current = PlannedRoute(4);
  other_life.set_life(other_life.life() + 1);
  to_come.set_epoch(1'000'000);
  unset_to_come.set_epoch(1'000'000);
  unset_to_come.clear_life();
  v1::WatchRoutesRequest request;
  request.mutable_scope()->set_navmesh_id("map");
  for (const v1::WatchedRoute& route : {other_life, to_come, unset_to_come, current})
    *request.add_added() = route;
  grpc::ClientContext context;
  auto stream = stub_->WatchRoutes(&context);
  ASSERT_TRUE(stream->Write(request));
  v1::WatchRoutesResponse event;
  ASSERT_TRUE(stream->Read(&event));
  ASSERT_THAT(event.stale().route_id(), ElementsAre(1, 2, 3));
  for (const int reason : event.stale().reason()) EXPECT_EQ(reason, v1::STALE_REASON_STATE_UNKNOWN);
  EXPECT_EQ(event.life(), current.life());
  ASSERT_TRUE(stream->Read(&event));
  EXPECT_TRUE(event.has_synced());
  EXPECT_EQ(event.life(), current.life());
  context.TryCancel();
  stream->Finish();
}

TEST_F(ServiceWatchTest, RoutesOfAVersionThatIsDeletedAreStaleAsOfThatEpochAndTheStreamNamesIt) {
  v1::WatchRoutesScope pinned;
  pinned.set_navmesh_id("map");
  pinned.set_version(1);
  auto watch = client_->navmeshes().WatchRoutes(pinned);
  EXPECT_TRUE(watch->Next()->has_synced());
  v1::WatchRoutesRequest request;
  *request.add_added() = PlannedRoute(1);
  watch->Update(request);
  EXPECT_TRUE(watch->Next()->has_synced());
  v1::PublishNavMeshHeader header;
  header.set_navmesh_id("map");
  header.set_version(2);
  header.set_format(v1::NAV_MESH_FORMAT_NEUTRAL);
  ASSERT_TRUE(client_->navmeshes()
                  .Publish(header, ::arclane::testing::ToMessage(OneGateGrid()).SerializeAsString())
                  .ok());
  v1::DeleteNavMeshRequest remove;
  remove.set_navmesh_id("map");
  remove.set_version(1);
  const auto removed = client_->navmeshes().Delete(remove);
  ASSERT_TRUE(removed.ok()) << removed.error();
  auto event = watch->Next();
  while (event.ok() && event->has_synced()) event = watch->Next();  // Of the new version.
  ASSERT_TRUE(event.ok()) << event.error();
  EXPECT_THAT(event->stale().route_id(), ElementsAre(1));
  EXPECT_THAT(event->stale().reason(), ElementsAre(v1::STALE_REASON_VERSION_GONE));
  EXPECT_EQ(event->epoch(), removed->epoch());
  // Streams that are opened later end so at once.
  for (const auto& end : {watch->Next(), client_->navmeshes().WatchRoutes(pinned)->Next()}) {
    ASSERT_FALSE(end.ok());
    EXPECT_EQ(end.error().reason, "UNKNOWN_VERSION");
    EXPECT_EQ(end.error().metadata.at("version"), "1");
    EXPECT_THAT(end.error().message, ::testing::HasSubstr("has no version 1"));
  }
}

// A server that starts again without its data, and is at the same epoch again.
TEST(ServiceLivesTest, TheSdkMeetsAnotherLifeOfTheServer) {
  ServerOptions options;
  const auto start = [&] {
    RegistryOptions registry;
    registry.draw_life = NavMeshBackend::DrawLife;
    options.navmeshes.registry =
        *NavMeshRegistry::Open(registry, std::make_shared<NullStore>(), 0.0);
    const NeutralMesh mesh = OneGateGrid();
    PublishRequest publish;
    publish.navmesh_id = "map";
    publish.version = {1};
    publish.neutral = &mesh;
    EXPECT_TRUE(options.navmeshes.registry->Publish(publish).ok());
    return std::make_unique<TestServer>(options);
  };
  auto server = start();
  options.addresses = server->server().addresses();
  const auto client = ClientOf(*server);
  v1::WatchNavMeshRequest request;
  request.set_navmesh_id("map");
  const auto watch = client->navmeshes().Watch(request);
  const auto first = watch->Next();
  ASSERT_TRUE(first.ok()) << first.error();
  EXPECT_TRUE(watch->Next()->has_synced());
  v1::WatchRoutesScope scope;
  scope.set_navmesh_id("map");
  const auto routes = client->navmeshes().WatchRoutes(scope);
  v1::WatchRoutesRequest added;
  added.add_added()->set_route_id(1);  // Without a life: the SDK learns it.
  added.mutable_added(0)->mutable_read_set()->add_gate(7);
  routes->Update(added);
  for (uint64_t known = 0; known < 2;) {
    const auto synced = routes->Next();
    ASSERT_TRUE(synced.ok() && synced->has_synced());
    known = synced->request_count();
  }
  server.reset();
  server = start();
  const auto resync = watch->Next();
  ASSERT_TRUE(resync.ok()) << resync.error();
  EXPECT_TRUE(resync->snapshot().resync());
  EXPECT_EQ(resync->epoch(), first->epoch());
  EXPECT_NE(resync->life(), first->life());
  const auto stale = routes->Next();
  ASSERT_TRUE(stale.ok()) << stale.error();
  EXPECT_THAT(stale->stale().route_id(), ElementsAre(1));
  EXPECT_THAT(stale->stale().reason(), ElementsAre(v1::STALE_REASON_STATE_UNKNOWN));
}

TEST_F(ServiceWatchTest, RefusesRoutesWithoutScope) {
  grpc::ClientContext context;
  auto stream = stub_->WatchRoutes(&context);
  v1::WatchRoutesRequest request;
  request.add_removed(1);
  stream->Write(request);
  v1::WatchRoutesResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(DetailsOf(stream->Finish()).bad_request->field_violations(0).field(), "scope");
}

// Connections are torn down every second; streams end before.
class ServiceAgingWatchTest : public ServiceWatchTest {
 protected:
  static ServerOptions Options() {
    ServerOptions options;
    options.max_connection_age_s = 0.4;
    options.max_connection_age_grace_s = 0.3;
    return options;
  }
  ServiceAgingWatchTest() : ServiceWatchTest(Options()) {}
};

TEST_F(ServiceAgingWatchTest, AStreamIsToldBeforeItsConnectionIsTornDown) {
  grpc::ClientContext context;
  auto watch = stub_->WatchNavMesh(&context, WatchRequest());
  Event event;
  while (watch->Read(&event) && !event.has_going_away()) {
  }
  EXPECT_EQ(event.going_away().reason(), v1::STREAM_END_GOING_AWAY);
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ServiceAgingWatchTest, TheSdkOpensAgainAndMissesNoChange) {
  constexpr int kChanges = 150;
  v1::WatchRoutesScope scope;
  scope.set_navmesh_id("map");
  auto routes = client_->navmeshes().WatchRoutes(scope);
  v1::WatchRoutesRequest request;
  *request.add_added() = PlannedRoute(1);
  routes->Update(request);
  auto watch = client_->navmeshes().Watch(WatchRequest());
  const auto snapshot = watch->Next();
  ASSERT_TRUE(snapshot.ok()) << snapshot.error();
  std::thread changer([&] {
    for (int i = 0; i < kChanges; ++i) {
      SetGate(i % 2 == 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  uint64_t known = snapshot->epoch();
  while (known < snapshot->epoch() + kChanges) {
    const auto event = watch->Next();
    ASSERT_TRUE(event.ok()) << event.error();
    ASSERT_FALSE(event->has_snapshot());
    for (const auto& change : event->changes().changes()) ASSERT_EQ(change.epoch(), ++known);
  }
  changer.join();
  EXPECT_GE(
      server_.MetricValue("arclane_calls_total{code=\"UNAVAILABLE\",method=\"WatchNavMesh\"}"), 1)
      << "more than one stream was needed";
  auto stale = routes->Next();
  while (stale.ok() && !stale->has_stale()) stale = routes->Next();
  ASSERT_TRUE(stale.ok()) << stale.error();
  EXPECT_THAT(stale->stale().route_id(), ElementsAre(1));
}

// The log of changes is short, and messages fill what the connection may hold unread.
class ServiceSlowWatchTest : public ServiceWatchTest {
 protected:
  static ServerOptions Options() {
    RegistryOptions registry;
    registry.navmesh_log_records = 16;
    ServerOptions options;
    options.navmeshes.registry =
        *NavMeshRegistry::Open(registry, std::make_shared<NullStore>(), 0.0);
    return options;
  }
  ServiceSlowWatchTest() : ServiceWatchTest(Options()) {}
};

TEST_F(ServiceSlowWatchTest, ASlowReaderIsCutOffWithAReason) {
  grpc::ChannelArguments small;
  small.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1 << 16);
  small.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  auto stub = v1::NavMeshRegistry::NewStub(server_.NewChannel(small));
  grpc::ClientContext context;
  auto watch = stub->WatchNavMesh(&context, WatchRequest());
  Event event;
  ASSERT_TRUE(watch->Read(&event));
  ASSERT_TRUE(watch->Read(&event));
  v1::ApplyChangesRequest large;
  large.set_navmesh_id("map");
  for (uint64_t area = 0; area < 4000; ++area) {
    large.mutable_changes()->add_areas(area);
    large.mutable_changes()->add_area_costs(2);
  }
  for (int i = 0; i < 60; ++i) {
    large.mutable_changes()->set_area_costs(0, i + 1);
    const auto applied = client_->navmeshes().ApplyChanges(large);
    ASSERT_TRUE(applied.ok()) << applied.error();
  }
  uint64_t epoch = 0;
  while (watch->Read(&event) && !event.has_going_away()) epoch = event.epoch();
  EXPECT_EQ(event.going_away().reason(), v1::STREAM_END_TOO_SLOW);
  EXPECT_FALSE(event.going_away().detail().empty());
  EXPECT_LT(epoch, 62u);
  const grpc::Status status = watch->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailsOf(status).info->reason(), "WATCHER_TOO_SLOW");
}

// Watchers, and readers of whole meshes, that never read what they are sent: no message can tell
// them that the server ends, and it does not wait for them until its deadline.
TEST_F(ServiceWatchTest, WatchersThatDoNotReadHoldNoDrainUp) {
  // A window that does not grow.
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 65535);
  const auto stub = v1::NavMeshRegistry::NewStub(server_.NewChannel(arguments));
  grpc::ClientContext context;
  const auto watch = stub->WatchNavMesh(&context, WatchRequest());
  // More than the connection takes without being read.
  for (uint64_t change = 0; change < 40; ++change) {
    v1::ApplyChangesRequest request;
    request.set_navmesh_id("map");
    for (uint64_t area = 0; area < 4000; ++area) {
      request.mutable_changes()->add_areas((uint64_t{1} << 40) + area);
      request.mutable_changes()->add_area_costs(1.5 + static_cast<double>(change));
    }
    ASSERT_TRUE(client_->navmeshes().ApplyChanges(request).ok());
  }
  // Far longer than the test may take.
  EXPECT_TRUE(server_.server().Shutdown(0, 3600));
  context.TryCancel();
  watch->Finish();
}

TEST_F(ServiceWatchTest, APublicationThatNeverEndsHoldsNoDrainUp) {
  grpc::ClientContext context;
  v1::PublishNavMeshResponse response;
  const auto writer = stub_->PublishNavMesh(&context, &response);
  v1::PublishNavMeshRequest request;
  request.mutable_header()->set_navmesh_id("other");
  request.mutable_header()->set_version(1);
  request.mutable_header()->set_content_bytes(1000);
  ASSERT_TRUE(writer->Write(request));
  ASSERT_TRUE(server_.AwaitMetric("arclane_navmesh_publishing_bytes", 1000));
  EXPECT_TRUE(server_.server().Shutdown(0, 3600));
  const grpc::Status status = writer->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  EXPECT_EQ(DetailsOf(status).info->reason(), "DRAINING");
}

TEST_F(ServiceWatchTest, NamesThatAreNoneAreRefused) {
  v1::WatchNavMeshRequest request;
  request.set_world_id(std::string(129, 'w'));
  grpc::ClientContext context;
  const auto watch = stub_->WatchNavMesh(&context, request);
  Event event;
  EXPECT_FALSE(watch->Read(&event));
  const grpc::Status status = watch->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const ErrorDetails details = DetailsOf(status);
  ASSERT_TRUE(details.bad_request);
  ASSERT_EQ(details.bad_request->field_violations_size(), 2);
  EXPECT_EQ(details.bad_request->field_violations(0).field(), "navmesh_id");
  EXPECT_EQ(details.bad_request->field_violations(1).field(), "world_id");
}

}  // namespace
}  // namespace arclane
