// SPDX-License-Identifier: Apache-2.0
// Navmeshes through the service: publishing, changes, corridors by reference and kept answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "server/service/navmesh_directory.h"
#include "tests/integration/service_harness.h"
#include "tests/support/grid_mesh.h"
#include "tests/support/neutral_message.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;
using ::arclane::testing::Publish;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 4 x 4 unit squares with refs 0 to 15, row by row, in 4 tiles 1000 to 1003. Gate 7 lies between
// the squares 1 and 2, gate 8 between 13 and 14.
NeutralMesh TwoGateGrid() {
  NeutralMesh mesh = GridMesh({});
  mesh.gates = {{{7}, "west", {{{1}, {2}}}, true}, {{8}, "far", {{{13}, {14}}}, true}};
  return mesh;
}

// Along the lowest row of squares.
v1::PlanCorridorRequest RowRequest(std::vector<uint64_t> refs = {0, 1, 2, 3}) {
  v1::PlanCorridorRequest request;
  request.mutable_navmesh()->set_navmesh_id("map");
  request.mutable_start()->set_x(0.5);
  request.mutable_start()->set_y(0.5);
  request.mutable_goal()->set_x(3.5);
  request.mutable_goal()->set_y(0.5);
  request.mutable_corridor()->mutable_refs()->mutable_ref()->Assign(refs.begin(), refs.end());
  auto* limits = request.mutable_agent()->mutable_limits();
  limits->set_max_speed(2);
  limits->set_max_acceleration(4);
  limits->set_max_braking(4);
  return request;
}

class ServiceNavMeshTest : public ::testing::Test {
 protected:
  explicit ServiceNavMeshTest(ServerOptions options = {}, bool gate_open = true)
      : server_(options, gate_open), registry_(v1::NavMeshRegistry::NewStub(server_.channel())) {
    v1::PublishNavMeshResponse response;
    const grpc::Status status = Publish(*registry_, "map", 1, TwoGateGrid(), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }

  v1::PlanCorridorResponse Plan(const v1::PlanCorridorRequest& request) {
    AsyncPlan plan(server_.stub(), request);
    EXPECT_TRUE(plan.Await().ok()) << plan.Await().error_message();
    return plan.response();
  }
  v1::CacheOutcome CacheOf(const v1::PlanCorridorRequest& request) {
    return Plan(request).answer().cache();
  }
  grpc::Status PlanStatus(const v1::PlanCorridorRequest& request) {
    AsyncPlan plan(server_.stub(), request);
    return plan.Await();
  }

  grpc::Status Apply(const v1::ApplyChangesRequest& request,
                     v1::ApplyChangesResponse* response = nullptr) {
    grpc::ClientContext context;
    v1::ApplyChangesResponse ignored;
    return registry_->ApplyChanges(&context, request, response ? response : &ignored);
  }
  void SetGate(uint64_t gate, bool open, const std::string& world = "") {
    v1::ApplyChangesRequest request;
    request.set_navmesh_id("map");
    request.set_world_id(world);
    open ? request.mutable_changes()->add_open_gates(gate)
         : request.mutable_changes()->add_closed_gates(gate);
    EXPECT_TRUE(Apply(request).ok());
  }

  TestServer server_;
  std::unique_ptr<v1::NavMeshRegistry::Stub> registry_;
};

TEST_F(ServiceNavMeshTest, PublishesTheSameContentOnce) {
  v1::PublishNavMeshResponse response;
  ASSERT_TRUE(Publish(*registry_, "map", 1, TwoGateGrid(), &response).ok());
  EXPECT_TRUE(response.already_published());
  EXPECT_EQ(response.tile_count(), 4u);
  EXPECT_EQ(response.polygon_count(), 16u);
  EXPECT_EQ(response.link_count(), 48u);
  const grpc::Status other = Publish(*registry_, "map", 1, GridMesh({.width = 2}), &response);
  EXPECT_EQ(other.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(DetailsOf(other).info->reason(), "VERSION_EXISTS");
}

TEST_F(ServiceNavMeshTest, RefusesContentThatIsNotWhatTheHeaderSays) {
  const std::string content = ::arclane::testing::ToMessage(TwoGateGrid()).SerializeAsString();
  v1::PublishNavMeshHeader header;
  header.set_navmesh_id("other");
  header.set_version(1);
  ::arclane::testing::Describe(content, v1::NAV_MESH_FORMAT_NEUTRAL, header);
  v1::PublishNavMeshResponse response;
  const auto field = [&](const v1::PublishNavMeshHeader& sent, const std::string& bytes) {
    const grpc::Status status = Publish(*registry_, sent, bytes, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    const ErrorDetails details = DetailsOf(status);
    return details.bad_request ? details.bad_request->field_violations(0).field() : "";
  };
  std::string damaged = content;
  damaged[content.size() / 2] ^= 1;
  EXPECT_EQ(field(header, damaged), "header.content_sha256");
  EXPECT_EQ(field(header, content.substr(1)), "header.content_bytes");
  EXPECT_EQ(field(header, content + "x"), "header.content_bytes");
  v1::PublishNavMeshHeader formless = header;
  formless.clear_format();
  EXPECT_EQ(field(formless, content), "header.format");
  header.set_content_bytes(uint64_t{1} << 40);
  const grpc::Status large = Publish(*registry_, header, "", &response);
  EXPECT_EQ(large.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailsOf(large).info->metadata().at("limit"), "max_publish_bytes");
  EXPECT_TRUE(server_.AwaitMetric("arclane_navmesh_publishing_bytes", 0));
}

TEST_F(ServiceNavMeshTest, ListsWhatIsWrongWithABrokenMesh) {
  NeutralMesh mesh = TwoGateGrid();
  mesh.neighbour[1] = 999;
  mesh.neighbour[6] = 998;
  v1::PublishNavMeshResponse response;
  const grpc::Status status = Publish(*registry_, "broken", 1, mesh, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const ErrorDetails details = DetailsOf(status);
  EXPECT_EQ(details.info->reason(), "NAVMESH_BROKEN");
  EXPECT_GE(details.bad_request->field_violations_size(), 2);
}

TEST_F(ServiceNavMeshTest, DescribesListsAndReads) {
  grpc::ClientContext get_context;
  v1::GetNavMeshRequest get;
  get.set_navmesh_id("map");
  v1::GetNavMeshResponse got;
  ASSERT_TRUE(registry_->GetNavMesh(&get_context, get, &got).ok());
  EXPECT_EQ(got.navmesh().active_version(), 1u);
  ASSERT_EQ(got.navmesh().versions_size(), 1);
  EXPECT_EQ(got.navmesh().versions(0).polygon_count(), 16u);
  grpc::ClientContext list_context;
  v1::ListNavMeshesResponse listed;
  ASSERT_TRUE(registry_->ListNavMeshes(&list_context, {}, &listed).ok());
  ASSERT_EQ(listed.navmeshes_size(), 1);
  EXPECT_EQ(listed.navmeshes(0).navmesh_id(), "map");
  grpc::ClientContext read_context;
  v1::ReadNavMeshRequest read;
  read.set_navmesh_id("map");
  auto reader = registry_->ReadNavMesh(&read_context, read);
  v1::ReadNavMeshResponse part;
  ASSERT_TRUE(reader->Read(&part));
  EXPECT_EQ(part.overview().gates_size(), 2);
  int tiles = 0, polygons = 0, links = 0;
  while (reader->Read(&part)) {
    ++tiles;
    polygons += part.tile().polygon_ref_size();
    links += part.tile().links().from_polygon_size();
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(tiles, 4);
  EXPECT_EQ(polygons, 16);
  EXPECT_EQ(links, 48);
}

TEST_F(ServiceNavMeshTest, AnswersTheSecondOfTwoEqualRequestsFromTheCache) {
  const v1::PlanCorridorResponse miss = Plan(RowRequest());
  EXPECT_EQ(miss.answer().cache(), v1::CACHE_OUTCOME_MISS);
  EXPECT_EQ(miss.route().outcome(), v1::OUTCOME_COMPLETE);
  EXPECT_DOUBLE_EQ(miss.route().length(), 3.0);
  EXPECT_EQ(miss.answer().navmesh_version(), 1u);
  EXPECT_THAT(miss.read_set().tile(), ElementsAre(1000, 1001));
  EXPECT_THAT(miss.read_set().gate(), ElementsAre(7));
  const v1::PlanCorridorResponse hit = Plan(RowRequest());
  EXPECT_EQ(hit.answer().cache(), v1::CACHE_OUTCOME_HIT);
  EXPECT_EQ(hit.route().SerializeAsString(), miss.route().SerializeAsString());
  v1::PlanCorridorRequest bypass = RowRequest();
  bypass.set_cache_mode(v1::CACHE_MODE_BYPASS);
  const v1::PlanCorridorResponse planned = Plan(bypass);
  EXPECT_EQ(planned.answer().cache(), v1::CACHE_OUTCOME_BYPASS);
  EXPECT_EQ(planned.answer().navmesh_version(), 1u);
  EXPECT_EQ(planned.route().SerializeAsString(), miss.route().SerializeAsString());
  EXPECT_EQ(server_.MetricValue("arclane_cache_requests_total{result=\"hit\"}"), 1);
  EXPECT_EQ(server_.MetricValue("arclane_cache_requests_total{result=\"bypass\"}"), 1);
}

TEST_F(ServiceNavMeshTest, TakesRequestsForEqualThatDifferInWhatDoesNotMatter) {
  Plan(RowRequest());
  v1::PlanCorridorRequest request = RowRequest();
  request.mutable_start()->set_z(-0.0);
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_HIT) << "-0.0";
  request.set_include_stage_times(true);
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_HIT) << "stage times";
  request.mutable_navmesh()->set_version(1);
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_HIT) << "the active version by its number";
  request.GetReflection()->MutableUnknownFields(&request)->AddVarint(1000, 1);
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_HIT) << "unknown fields";
  request.mutable_goal()->set_x(3.25);
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_MISS) << "another goal";
}

TEST_F(ServiceNavMeshTest, ChangesReachExactlyTheAnswersThatReadThem) {
  const v1::PlanCorridorRequest far = [] {
    v1::PlanCorridorRequest request = RowRequest({12, 13, 14});
    request.mutable_start()->set_y(3.5);
    request.mutable_goal()->set_x(2.5);
    request.mutable_goal()->set_y(3.5);
    return request;
  }();
  Plan(RowRequest());
  Plan(far);
  SetGate(7, false);
  const v1::PlanCorridorResponse closed = Plan(RowRequest());
  EXPECT_EQ(closed.answer().cache(), v1::CACHE_OUTCOME_MISS);
  EXPECT_EQ(closed.route().outcome(), v1::OUTCOME_GATE_CLOSED);
  EXPECT_EQ(closed.route().blocked().gate_id(), 7u);
  EXPECT_EQ(closed.route().blocked().portal_index(), 1u);
  EXPECT_EQ(CacheOf(RowRequest()), v1::CACHE_OUTCOME_HIT);
  EXPECT_EQ(CacheOf(far), v1::CACHE_OUTCOME_HIT);
  SetGate(7, true);
  const v1::PlanCorridorResponse open = Plan(RowRequest());
  EXPECT_EQ(open.answer().cache(), v1::CACHE_OUTCOME_HIT) << "the state has come back";
  EXPECT_EQ(open.route().outcome(), v1::OUTCOME_COMPLETE);
}

TEST_F(ServiceNavMeshTest, WorldsShareTheMeshAndNotTheDoors) {
  grpc::ClientContext context;
  v1::CreateWorldRequest create;
  create.set_navmesh_id("map");
  create.set_world_id("match");
  v1::CreateWorldResponse created;
  ASSERT_TRUE(registry_->CreateWorld(&context, create, &created).ok());
  EXPECT_EQ(created.world().version(), 1u);
  v1::PlanCorridorRequest in_world = RowRequest();
  in_world.mutable_navmesh()->set_world_id("match");
  EXPECT_EQ(CacheOf(in_world), v1::CACHE_OUTCOME_MISS);
  EXPECT_EQ(CacheOf(RowRequest()), v1::CACHE_OUTCOME_HIT) << "the states agree";
  SetGate(7, false, "match");
  const v1::PlanCorridorResponse closed = Plan(in_world);
  EXPECT_EQ(closed.route().outcome(), v1::OUTCOME_GATE_CLOSED);
  EXPECT_EQ(closed.answer().world_epoch(), created.world().epoch() + 1);
  EXPECT_EQ(Plan(RowRequest()).route().outcome(), v1::OUTCOME_COMPLETE);
}

// Violations of world and version that disagree, by the field of each request.
TEST_F(ServiceNavMeshTest, NamesTheWorldThatDoesNotStandOnTheVersion) {
  grpc::ClientContext context;
  v1::CreateWorldRequest create;
  create.set_navmesh_id("map");
  create.set_world_id("match");
  v1::CreateWorldResponse created;
  ASSERT_TRUE(registry_->CreateWorld(&context, create, &created).ok());
  v1::PublishNavMeshResponse published;
  ASSERT_TRUE(Publish(*registry_, "map", 2, TwoGateGrid(), &published).ok());
  const auto violation = [](const grpc::Status& status) -> std::string {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    const ErrorDetails details = DetailsOf(status);
    if (!details.bad_request || details.bad_request->field_violations_size() != 1) return "";
    const auto& only = details.bad_request->field_violations(0);
    return only.field() + ": " + only.description();
  };
  const std::string wrong = "world_id: world 'match' stands on version 1, not 2";
  v1::PlanCorridorRequest plan = RowRequest();
  plan.mutable_navmesh()->set_world_id("match");
  plan.mutable_navmesh()->set_version(2);
  EXPECT_EQ(violation(PlanStatus(plan)), "navmesh." + wrong);
  plan.set_cache_mode(v1::CACHE_MODE_BYPASS);
  EXPECT_EQ(violation(PlanStatus(plan)), "navmesh." + wrong);
  v1::ApplyChangesRequest apply;
  apply.set_navmesh_id("map");
  apply.set_world_id("match");
  apply.set_version(2);
  apply.mutable_changes()->add_closed_gates(7);
  EXPECT_EQ(violation(Apply(apply)), wrong);
  v1::ReadNavMeshRequest read;
  read.set_navmesh_id("map");
  read.set_world_id("match");
  read.set_version(2);
  grpc::ClientContext read_context;
  const auto reader = registry_->ReadNavMesh(&read_context, read);
  v1::ReadNavMeshResponse part;
  EXPECT_FALSE(reader->Read(&part));
  EXPECT_EQ(violation(reader->Finish()), wrong);
  v1::WatchRoutesRequest routes;
  routes.mutable_scope()->set_navmesh_id("map");
  routes.mutable_scope()->set_world_id("match");
  routes.mutable_scope()->set_version(2);
  grpc::ClientContext routes_context;
  const auto stream = registry_->WatchRoutes(&routes_context);
  stream->Write(routes);
  v1::WatchRoutesResponse event;
  EXPECT_FALSE(stream->Read(&event));
  EXPECT_EQ(violation(stream->Finish()), "scope." + wrong);
}

TEST_F(ServiceNavMeshTest, ARoutesThroughUntouchedTilesStaysAHitInANewVersion) {
  Plan(RowRequest());
  // Tile 1002, over the squares 8, 9, 12 and 13, with refs of its own.
  NeutralMesh tile = GridMesh({.width = 2, .height = 2, .tile = 2, .first_id = 100});
  for (double& y : tile.y) y += 2;
  tile.neighbour.clear();
  tile.tiles = {{1002, {0, 1, 0}}};
  const std::string content = ::arclane::testing::ToMessage(tile).SerializeAsString();
  v1::UpdateTilesRequest request;
  v1::UpdateTilesHeader& header = *request.mutable_header();
  header.set_navmesh_id("map");
  header.set_version(2);
  header.add_removed_gates(8);
  ::arclane::testing::Describe(content, v1::NAV_MESH_FORMAT_NEUTRAL, header);
  grpc::ClientContext context;
  v1::UpdateTilesResponse response;
  auto writer = registry_->UpdateTiles(&context, &response);
  writer->Write(request);
  request.set_content(content);
  writer->Write(request);
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(response.replaced_tiles().x(), ElementsAre(0));
  EXPECT_THAT(response.replaced_tiles().y(), ElementsAre(1));
  const v1::PlanCorridorResponse hit = Plan(RowRequest());
  EXPECT_EQ(hit.answer().cache(), v1::CACHE_OUTCOME_HIT);
  EXPECT_EQ(hit.answer().navmesh_version(), 2u);
  const grpc::Status stale = PlanStatus(RowRequest({4, 8}));
  EXPECT_EQ(stale.error_code(), grpc::StatusCode::FAILED_PRECONDITION) << stale.error_message();
  const ErrorDetails details = DetailsOf(stale);
  EXPECT_EQ(details.info->reason(), "REPLACED_TILE");
  EXPECT_EQ(details.bad_request->field_violations(0).field(), "corridor.refs.ref[1]");
}

// An update that is wrong is refused by name, whatever has been read of it; nothing of it is done.
TEST_F(ServiceNavMeshTest, NamesWhatIsWrongWithAnUpdateAndDoesNothingOfIt) {
  NeutralMesh tile = GridMesh({.width = 2, .height = 2, .tile = 2, .first_id = 100});
  for (double& y : tile.y) y += 2;
  tile.neighbour.clear();
  tile.tiles = {{1002, {0, 1, 0}}};
  const std::string content = ::arclane::testing::ToMessage(tile).SerializeAsString();
  // The status, and where the first violation is.
  const auto update = [&](const v1::UpdateTilesHeader& header,
                          const std::vector<std::string>& pieces) {
    grpc::ClientContext context;
    v1::UpdateTilesResponse response;
    const auto writer = registry_->UpdateTiles(&context, &response);
    v1::UpdateTilesRequest request;
    *request.mutable_header() = header;
    writer->Write(request);
    for (const std::string& piece : pieces) {
      request.set_content(piece);
      writer->Write(request);
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (status.ok()) return std::string("OK");
    const ErrorDetails details = DetailsOf(status);
    return details.info->reason() +
           (details.bad_request ? " " + details.bad_request->field_violations(0).field() : "");
  };
  const auto header_of = [](const std::string& bytes) {
    v1::UpdateTilesHeader header;
    header.set_navmesh_id("map");
    header.set_version(2);
    ::arclane::testing::Describe(bytes, v1::NAV_MESH_FORMAT_NEUTRAL, header);
    return header;
  };
  const v1::UpdateTilesHeader good = header_of(content);
  v1::UpdateTilesHeader header = good;
  std::string broken = content;
  broken[content.size() / 2] ^= 1;
  EXPECT_EQ(update(good, {broken}), "NAVMESH_INVALID_ARGUMENT header.content_sha256");
  EXPECT_EQ(update(good, {content.substr(1)}), "INVALID_FIELD header.content_bytes");
  EXPECT_EQ(update(good, {content, "x"}), "INVALID_FIELD header.content_bytes");
  EXPECT_EQ(update(header_of("\xff\xff no message"), {"\xff\xff no message"}),
            "NAVMESH_INVALID_ARGUMENT content");
  header.set_content_bytes(uint64_t{1} << 40);
  EXPECT_EQ(update(header, {}), "TOO_LARGE");
  v1::UpdateTilesHeader empty;
  empty.set_navmesh_id("map");
  empty.set_version(2);
  EXPECT_EQ(update(empty, {}), "NAVMESH_INVALID_ARGUMENT header.content_bytes");
  header = empty;
  header.add_removed_tile_refs(4711);
  EXPECT_EQ(update(header, {}), "NAVMESH_INVALID_ARGUMENT header.removed_tile_refs[0]");
  header.set_removed_tile_refs(0, 1003);
  header.mutable_removed_tiles()->add_x(1);
  header.mutable_removed_tiles()->add_y(1);
  header.mutable_removed_tiles()->add_layer(0);
  // Twice the same tile; without it a gate is left without its border.
  EXPECT_EQ(update(header, {}), "NAVMESH_BROKEN header.removed_tile_refs[0]");
  header = good;
  header.set_base_version(9);
  EXPECT_EQ(update(header, {content}), "UNKNOWN_VERSION");
  NeutralMesh other = tile;
  other.baked_radius = 0.75;
  const std::string of_another = ::arclane::testing::ToMessage(other).SerializeAsString();
  EXPECT_EQ(update(header_of(of_another), {of_another}), "NAVMESH_INVALID_ARGUMENT header.content");
  grpc::ClientContext context;
  v1::GetNavMeshRequest get;
  get.set_navmesh_id("map");
  v1::GetNavMeshResponse got;
  ASSERT_TRUE(registry_->GetNavMesh(&context, get, &got).ok());
  EXPECT_EQ(got.navmesh().versions_size(), 1);
  EXPECT_EQ(CacheOf(RowRequest()), v1::CACHE_OUTCOME_MISS);
  header = good;
  header.add_removed_gates(8);
  EXPECT_EQ(update(header, {content}), "OK");
}

TEST_F(ServiceNavMeshTest, NamesWhatIsWrongWithACorridorByReference) {
  const auto reason = [&](const v1::PlanCorridorRequest& request) {
    const grpc::Status status = PlanStatus(request);
    return status.ok() ? "OK" : DetailsOf(status).info->reason();
  };
  EXPECT_EQ(reason(RowRequest({0, 2})), "NOT_ADJACENT");
  EXPECT_EQ(reason(RowRequest({0, 77})), "UNKNOWN_POLYGON");
  EXPECT_EQ(reason(RowRequest({})), "NAVMESH_INVALID_ARGUMENT");
  v1::PlanCorridorRequest request = RowRequest();
  request.mutable_navmesh()->set_navmesh_id("elsewhere");
  EXPECT_EQ(reason(request), "UNKNOWN_NAVMESH");
  request = RowRequest();
  request.mutable_navmesh()->set_version(9);
  EXPECT_EQ(reason(request), "UNKNOWN_VERSION");
  request = RowRequest();
  request.mutable_navmesh()->set_world_id("nowhere");
  EXPECT_EQ(reason(request), "UNKNOWN_WORLD");
  request = RowRequest();
  request.clear_navmesh();
  EXPECT_EQ(reason(request), "INVALID_FIELD");
  request = RowRequest();
  request.mutable_frame()->set_up_axis(v1::UP_AXIS_Y);
  EXPECT_EQ(reason(request), "INVALID_FIELD");
  request = RowRequest();
  request.mutable_agent()->mutable_limits()->set_max_speed(-1);
  EXPECT_EQ(reason(request), "INVALID_FIELD");
}

TEST_F(ServiceNavMeshTest, ApplyingChangesIsIdempotentAndCanExpectAnEpoch) {
  v1::ApplyChangesRequest request;
  request.set_navmesh_id("map");
  request.set_request_id("close it");
  request.mutable_changes()->add_closed_gates(7);
  v1::ApplyChangesResponse first, again;
  ASSERT_TRUE(Apply(request, &first).ok());
  ASSERT_TRUE(Apply(request, &again).ok());
  EXPECT_TRUE(again.replayed());
  EXPECT_EQ(again.epoch(), first.epoch());
  request.set_request_id("");
  request.set_expected_epoch(first.epoch() - 1);
  const grpc::Status late = Apply(request);
  EXPECT_EQ(late.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(DetailsOf(late).info->metadata().at("current_epoch"), std::to_string(first.epoch()));
  request.set_expected_epoch(first.epoch() + 1);
  const grpc::Status ahead = Apply(request);
  ASSERT_EQ(ahead.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(DetailsOf(ahead).info->metadata().at("current_epoch"), std::to_string(first.epoch()));
  request.mutable_changes()->add_open_gates(7);
  EXPECT_EQ(DetailsOf(Apply(request)).bad_request->field_violations(0).field(),
            "changes.closed_gates[0]");
  request.clear_changes();
  EXPECT_EQ(Apply(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ServiceNavMeshTest, InlineCorridorsAreKeptUntilSomethingTheyNameHasChanged) {
  v1::PlanCorridorRequest request = SmallRequest();
  request.mutable_navmesh()->set_navmesh_id("unknown to the registry");
  request.mutable_navmesh()->set_version(3);
  auto& dependencies = *request.mutable_corridor()->mutable_dependencies();
  dependencies.add_portal_index(0);
  dependencies.add_kind(v1::DEPENDENCY_KIND_TILE);
  dependencies.add_id(55);
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_MISS);
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_HIT);
  const auto invalidate = [&](const v1::InvalidateNavMeshRequest& what) {
    grpc::ClientContext context;
    v1::InvalidateNavMeshResponse response;
    EXPECT_TRUE(registry_->InvalidateNavMesh(&context, what, &response).ok());
  };
  v1::InvalidateNavMeshRequest what;
  what.set_navmesh_id("unknown to the registry");
  what.mutable_changed()->add_tile(56);
  invalidate(what);
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_HIT);
  what.mutable_changed()->add_tile(55);
  invalidate(what);
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_MISS);
  request.mutable_corridor()->clear_dependencies();
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_MISS);
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_HIT);
  what.clear_changed();
  invalidate(what);
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_MISS);
  v1::PlanCorridorRequest nameless = SmallRequest();
  EXPECT_EQ(CacheOf(nameless), v1::CACHE_OUTCOME_BYPASS);
}

// The planner is held, so that requests meet.
class ServiceSingleFlightTest : public ServiceNavMeshTest {
 protected:
  static ServerOptions Options() {
    ServerOptions options;
    options.limits.max_queued_plans = 1;
    return options;
  }
  ServiceSingleFlightTest() : ServiceNavMeshTest(Options(), /*gate_open=*/false) {}

  double Plans() const {
    return server_.MetricValue("arclane_stage_duration_seconds_count{stage=\"validate\"}");
  }
};

TEST_F(ServiceSingleFlightTest, SixtyFourEqualRequestsMakeOnePlan) {
  std::vector<std::unique_ptr<AsyncPlan>> plans;
  for (int i = 0; i < 64; ++i)
    plans.push_back(std::make_unique<AsyncPlan>(server_.stub(), RowRequest()));
  ASSERT_TRUE(server_.AwaitMetric("arclane_cache_requests_total{result=\"coalesced\"}", 63));
  server_.gate().Open();
  int misses = 0;
  for (const auto& plan : plans) {
    ASSERT_TRUE(plan->Await().ok()) << plan->Await().error_message();
    misses += plan->response().answer().cache() == v1::CACHE_OUTCOME_MISS;
    EXPECT_EQ(plan->response().route().SerializeAsString(),
              plans[0]->response().route().SerializeAsString());
  }
  EXPECT_EQ(misses, 1);
  EXPECT_EQ(Plans(), 1);
}

TEST_F(ServiceSingleFlightTest, ACancelledLeaderAndAShortDeadlineDoNotSpoilTheOthers) {
  AsyncPlan leader(server_.stub(), RowRequest());
  ASSERT_TRUE(server_.AwaitMetric("arclane_queued_plans", 1));
  AsyncPlan hurried(server_.stub(), RowRequest(), 0.2);
  AsyncPlan patient(server_.stub(), RowRequest());
  ASSERT_TRUE(server_.AwaitMetric("arclane_cache_requests_total{result=\"coalesced\"}", 2));
  leader.Cancel();
  EXPECT_EQ(leader.Await().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_EQ(hurried.Await().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  server_.gate().Open();
  EXPECT_TRUE(patient.Await().ok()) << patient.Await().error_message();
  EXPECT_EQ(Plans(), 1);
}

TEST_F(ServiceSingleFlightTest, ARefusedRequestFailsAlone) {
  AsyncPlan first(server_.stub(), RowRequest());
  ASSERT_TRUE(server_.AwaitMetric("arclane_queued_plans", 1));
  // The queue holds one plan: another request is refused, an equal one shares the first's.
  const grpc::Status refused = PlanStatus(RowRequest({0, 1, 2}));
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << refused.error_message();
  AsyncPlan equal(server_.stub(), RowRequest());
  ASSERT_TRUE(server_.AwaitMetric("arclane_cache_requests_total{result=\"coalesced\"}", 1));
  server_.gate().Open();
  EXPECT_TRUE(first.Await().ok());
  EXPECT_TRUE(equal.Await().ok());
  EXPECT_EQ(equal.response().answer().cache(), v1::CACHE_OUTCOME_COALESCED);
}

TEST_F(ServiceSingleFlightTest, AllGoneLeavesNothingBehind) {
  {
    AsyncPlan one(server_.stub(), RowRequest());
    AsyncPlan two(server_.stub(), RowRequest());
    ASSERT_TRUE(server_.AwaitMetric("arclane_cache_requests_total{result=\"coalesced\"}", 1));
  }
  // The server has heard of it.
  ASSERT_TRUE(server_.AwaitMetric("arclane_calls_in_flight{method=\"PlanCorridor\"}", 0));
  server_.gate().Open();
  EXPECT_EQ(CacheOf(RowRequest()), v1::CACHE_OUTCOME_MISS);
  EXPECT_EQ(Plans(), 1);
}

// So that a client goes on from one replica to the next.
TEST(ServiceReadOnlyTest, ReplicasOfTheSameFilesAreOneLife) {
  const std::string folder = ::testing::TempDir() + "/arclane_lives";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& content) {
    std::ofstream(folder + "/" + name, std::ios::binary) << content;
  };
  const auto draw_two = [&] {
    const auto lives = DirectoryLives(folder);
    EXPECT_TRUE(lives.ok()) << lives.status();
    const uint64_t first = (*lives)(), second = (*lives)();
    return std::pair(first, second);
  };
  write("map.navmesh", "content");
  const auto before = draw_two();
  EXPECT_NE(before.first, before.second);
  EXPECT_EQ(draw_two(), before);
  write("map.navmesh", "changed");
  EXPECT_NE(draw_two(), before);
  write("map.navmesh", "content");
  write("map@2.navmesh", "content");
  EXPECT_NE(draw_two(), before);
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(DirectoryLives(folder).ok());
}

TEST(ServiceReadOnlyTest, ServesItsDirectoryAndRefusesEveryChange) {
  const std::string folder = ::testing::TempDir() + "arclane_read_only_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  {
    std::ofstream file(folder + "/map.navmesh", std::ios::binary);
    file << ::arclane::testing::ToMessage(TwoGateGrid()).SerializeAsString();
  }
  ServerOptions options;
  options.navmeshes.read_only = true;
  TestServer server(options);
  const auto published = PublishDirectory(server.server().navmeshes(), folder);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(published.ok()) << published.status();
  EXPECT_EQ(*published, 1u);
  AsyncPlan plan(server.stub(), RowRequest());
  EXPECT_TRUE(plan.Await().ok()) << plan.Await().error_message();

  const auto registry = v1::NavMeshRegistry::NewStub(server.channel());
  const auto expect_refusal = [](const grpc::Status& status) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION) << status.error_message();
    ASSERT_TRUE(DetailsOf(status).info);
    EXPECT_EQ(DetailsOf(status).info->reason(), "READ_ONLY");
  };
  v1::PublishNavMeshResponse response;
  expect_refusal(Publish(*registry, "map", 2, TwoGateGrid(), &response));
  const auto call = [&](auto method, auto request, auto answer) {
    request.set_navmesh_id("map");
    grpc::ClientContext context;
    expect_refusal((registry.get()->*method)(&context, request, &answer));
  };
  using Stub = v1::NavMeshRegistry::Stub;
  call(&Stub::ApplyChanges, v1::ApplyChangesRequest(), v1::ApplyChangesResponse());
  call(&Stub::ActivateNavMesh, v1::ActivateNavMeshRequest(), v1::ActivateNavMeshResponse());
  call(&Stub::RetireNavMesh, v1::RetireNavMeshRequest(), v1::RetireNavMeshResponse());
  call(&Stub::DeleteNavMesh, v1::DeleteNavMeshRequest(), v1::DeleteNavMeshResponse());
  call(&Stub::CreateWorld, v1::CreateWorldRequest(), v1::CreateWorldResponse());
  call(&Stub::MoveWorld, v1::MoveWorldRequest(), v1::MoveWorldResponse());
  call(&Stub::DeleteWorld, v1::DeleteWorldRequest(), v1::DeleteWorldResponse());
  call(&Stub::InvalidateNavMesh, v1::InvalidateNavMeshRequest(), v1::InvalidateNavMeshResponse());

  grpc::ClientContext context;
  v1::GetNavMeshRequest get;
  get.set_navmesh_id("map");
  v1::GetNavMeshResponse mesh;
  EXPECT_TRUE(registry->GetNavMesh(&context, get, &mesh).ok());
}

std::vector<std::string> FieldsOf(const grpc::Status& status) {
  std::vector<std::string> fields;
  const ErrorDetails details = DetailsOf(status);
  if (!details.bad_request) return fields;
  for (const auto& violation : details.bad_request->field_violations())
    fields.push_back(violation.field());
  return fields;
}

TEST_F(ServiceNavMeshTest, PagesAreBoundedAndTheirTokensChecked) {
  for (const char* name : {"a", "b", "c"}) {
    v1::PublishNavMeshResponse response;
    ASSERT_TRUE(Publish(*registry_, name, 1, TwoGateGrid(), &response).ok());
  }
  const auto list = [&](uint32_t size, const std::string& token,
                        v1::ListNavMeshesResponse* response) {
    v1::ListNavMeshesRequest request;
    request.set_page_size(size);
    request.set_page_token(token);
    grpc::ClientContext context;
    return registry_->ListNavMeshes(&context, request, response);
  };
  std::vector<std::string> names;
  v1::ListNavMeshesResponse page;
  do {
    const std::string token = page.next_page_token();
    ASSERT_TRUE(list(1, token, &page).ok());
    for (const v1::NavMesh& navmesh : page.navmeshes()) names.push_back(navmesh.navmesh_id());
  } while (!page.next_page_token().empty());
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "map"));
  EXPECT_TRUE(list(1000, "", &page).ok());
  const grpc::Status refused = list(1001, "garbage", &page);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(FieldsOf(refused), ElementsAre("page_size", "page_token"));
  // The token of one list is none of another.
  ASSERT_TRUE(list(1, "", &page).ok());
  v1::ListWorldsRequest worlds;
  worlds.set_navmesh_id("map");
  worlds.set_page_token(page.next_page_token());
  grpc::ClientContext context;
  v1::ListWorldsResponse world_page;
  EXPECT_THAT(FieldsOf(registry_->ListWorlds(&context, worlds, &world_page)),
              ElementsAre("page_token"));
}

TEST_F(ServiceNavMeshTest, DefaultsAndUnsetFieldsShareAnAnswer) {
  v1::PlanCorridorRequest request = RowRequest();
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_MISS);
  request.mutable_agent()->mutable_manners()->set_max_extra_length(0.05);
  request.mutable_agent()->mutable_body()->set_can_turn_in_place(true);
  request.mutable_motion()->mutable_velocity()->set_x(-0.0);
  EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_HIT);
}

// Three plans in one corridor from three places: the second keeps it, the third finds it.
TEST_F(ServiceNavMeshTest, CorridorsAreKeptForPlansWithOtherEnds) {
  const char kHits[] = "arclane_prepared_requests_total{kind=\"corridor\",result=\"hit\"}";
  v1::PlanCorridorRequest request = RowRequest();
  for (const double x : {0.1, 0.2, 0.3}) {
    request.mutable_start()->set_x(x);
    EXPECT_EQ(CacheOf(request), v1::CACHE_OUTCOME_MISS);
  }
  EXPECT_EQ(server_.MetricValue(kHits), 1);
  // Kept as of its gates' states: behind a closed one it is another.
  SetGate(7, false);
  request.mutable_start()->set_x(0.4);
  EXPECT_EQ(Plan(request).route().outcome(), v1::OUTCOME_GATE_CLOSED);
  EXPECT_EQ(server_.MetricValue(kHits), 1);
  SetGate(7, true);
  request.mutable_start()->set_x(0.45);
  EXPECT_EQ(Plan(request).route().outcome(), v1::OUTCOME_COMPLETE);
  EXPECT_EQ(server_.MetricValue(kHits), 2);
}

}  // namespace
}  // namespace arclane
