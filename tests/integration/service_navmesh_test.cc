// SPDX-License-Identifier: Apache-2.0
// Navmeshes through the service: publishing, changes and corridors by reference.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "server/service/navmesh_directory.h"
#include "tests/integration/service_harness.h"
#include "tests/integration/service_navmesh_fixture.h"
#include "tests/support/grid_mesh.h"
#include "tests/support/neutral_message.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;
using ::arclane::testing::Publish;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
    std::string json;
    ASSERT_TRUE(google::protobuf::util::MessageToJsonString(
                    ::arclane::testing::ToMessage(TwoGateGrid()), &json)
                    .ok());
    std::ofstream(folder + "/other@3.navmesh.json") << json;
    std::ofstream(folder + "/gates.json") << "{}";
  }
  ServerOptions options;
  options.navmeshes.read_only = true;
  TestServer server(options);
  const auto published = PublishDirectory(server.server().navmeshes(), folder);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(published.ok()) << published.status();
  EXPECT_EQ(*published, 2u);
  for (const char* id : {"map", "other"}) {
    v1::PlanCorridorRequest request = RowRequest();
    request.mutable_navmesh()->set_navmesh_id(id);
    AsyncPlan plan(server.stub(), request);
    EXPECT_TRUE(plan.Await().ok()) << id << ": " << plan.Await().error_message();
  }
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/broken.navmesh.json") << "{\"vertices\": 7}";
  const auto broken = PublishDirectory(server.server().navmeshes(), folder);
  std::filesystem::remove_all(folder);
  EXPECT_THAT(std::string(broken.status().message()),
              HasSubstr("broken.navmesh.json: holds no NeutralNavMesh"));

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
  EXPECT_THAT(FieldsOf(DetailsOf(refused)), ElementsAre("page_size", "page_token"));
  // The token of one list is none of another.
  ASSERT_TRUE(list(1, "", &page).ok());
  v1::ListWorldsRequest worlds;
  worlds.set_navmesh_id("map");
  worlds.set_page_token(page.next_page_token());
  grpc::ClientContext context;
  v1::ListWorldsResponse world_page;
  EXPECT_THAT(FieldsOf(DetailsOf(registry_->ListWorlds(&context, worlds, &world_page))),
              ElementsAre("page_token"));
}

}  // namespace
}  // namespace arclane
