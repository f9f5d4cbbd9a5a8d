// SPDX-License-Identifier: Apache-2.0
// What is refused is refused by the same name in single calls, batches and streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/integration/service_harness.h"
#include "tests/integration/service_navmesh_fixture.h"
#include "tests/support/grid_mesh.h"
#include "tests/support/neutral_message.h"

namespace arclane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr auto kUnknownMode = static_cast<v1::CacheMode>(9);
// Holds a NUL.
const std::string kNulName("a\0b", 3);

class ServiceRefusalTest : public ServiceNavMeshTest {
 protected:
  // The status of the call or the stream, or of its only item.
  struct End {
    grpc::Status call;
    std::optional<google::rpc::Status> item;
  };

  static v1::PlanItem ItemOf(const v1::PlanCorridorRequest& request) {
    v1::PlanItem item;
    *item.mutable_corridor() = request;
    if (request.corridor().has_refs()) item.mutable_corridor()->clear_navmesh();
    return item;
  }
  // What items by reference name their polygons of.
  static v1::PlanShared Map() {
    v1::PlanShared shared;
    shared.mutable_navmesh()->set_navmesh_id("map");
    return shared;
  }
  End Batch(const v1::PlanShared& shared, const v1::PlanCorridorRequest& request) {
    v1::PlanBatchRequest batch;
    *batch.mutable_shared() = shared;
    *batch.add_items() = ItemOf(request);
    grpc::ClientContext context;
    const auto reader = server_.stub().PlanBatch(&context, batch);
    End end;
    v1::PlanBatchResponse response;
    while (reader->Read(&response)) {
      for (const v1::PlanItemAnswer& answer : response.answers())
        if (answer.has_status()) end.item = answer.status();
    }
    end.call = reader->Finish();
    return end;
  }
  End Stream(const v1::PlanShared& shared, const v1::PlanCorridorRequest& request) {
    v1::PlanStreamRequest message;
    *message.mutable_shared() = shared;
    *message.add_items()->mutable_item() = ItemOf(request);
    grpc::ClientContext context;
    const auto stream = server_.stub().PlanStream(&context);
    stream->Write(message);
    stream->WritesDone();
    End end;
    v1::PlanStreamResponse response;
    while (stream->Read(&response)) {
      for (const v1::PlanStreamAnswer& answer : response.answers())
        if (answer.answer().has_status()) end.item = answer.answer().status();
    }
    end.call = stream->Finish();
    return end;
  }

  // The fields that INVALID_ARGUMENT names; none for other answers.
  static std::vector<std::string> Refused(const grpc::Status& status) {
    if (status.error_code() != grpc::StatusCode::INVALID_ARGUMENT) return {};
    return FieldsOf(DetailsOf(status));
  }
  static std::vector<std::string> RefusedItem(const End& end) {
    EXPECT_TRUE(end.call.ok()) << end.call.error_message();
    if (!end.item || end.item->code() != grpc::StatusCode::INVALID_ARGUMENT) return {};
    return FieldsOf(DetailsOf(*end.item));
  }
};

TEST_F(ServiceRefusalTest, AnUnknownCacheModeIsRefused) {
  v1::PlanCorridorRequest by_ref = RowRequest();
  v1::PlanCorridorRequest inline_corridor = SmallRequest();
  for (v1::PlanCorridorRequest* request : {&by_ref, &inline_corridor}) {
    for (const int mode : {3, 9, -1}) {
      request->set_cache_mode(static_cast<v1::CacheMode>(mode));
      EXPECT_THAT(Refused(PlanStatus(*request)), ElementsAre("cache_mode")) << mode;
      EXPECT_THAT(RefusedItem(Batch(Map(), *request)), ElementsAre("items[0].corridor.cache_mode"));
      EXPECT_THAT(RefusedItem(Stream(Map(), *request)), ElementsAre("item.corridor.cache_mode"));
    }
  }
  // With what else is wrong.
  by_ref.mutable_agent()->mutable_limits()->set_max_speed(-1);
  EXPECT_THAT(Refused(PlanStatus(by_ref)), ElementsAre("cache_mode", "agent.limits.max_speed"));
}

TEST_F(ServiceRefusalTest, AnUnknownCacheModeOfTheSharedPartIsNamedThereAndOnce) {
  v1::PlanShared shared = Map();
  shared.set_cache_mode(kUnknownMode);
  v1::PlanCorridorRequest with_its_own = RowRequest();
  with_its_own.set_cache_mode(v1::CACHE_MODE_BYPASS);
  for (const v1::PlanCorridorRequest& request : {RowRequest(), with_its_own, SmallRequest()}) {
    const End batch = Batch(shared, request);
    EXPECT_THAT(Refused(batch.call), ElementsAre("shared.cache_mode"));
    EXPECT_FALSE(batch.item);
    const End stream = Stream(shared, request);
    EXPECT_THAT(Refused(stream.call), ElementsAre("shared.cache_mode"));
    EXPECT_FALSE(stream.item);
  }
}

TEST_F(ServiceRefusalTest, ANameWithANulIsRefusedForCorridorsOfTheirOwnToo) {
  v1::PlanCorridorRequest request = SmallRequest();
  request.mutable_navmesh()->set_navmesh_id(kNulName);
  EXPECT_THAT(Refused(PlanStatus(request)), ElementsAre("navmesh.navmesh_id"));
  EXPECT_THAT(RefusedItem(Batch({}, request)), ElementsAre("items[0].corridor.navmesh.navmesh_id"));
  EXPECT_THAT(RefusedItem(Stream({}, request)), ElementsAre("item.corridor.navmesh.navmesh_id"));
  request.mutable_navmesh()->set_navmesh_id("named");
  request.mutable_navmesh()->set_world_id(kNulName);
  EXPECT_THAT(Refused(PlanStatus(request)), ElementsAre("navmesh.world_id"));
  request.set_cache_mode(v1::CACHE_MODE_BYPASS);
  EXPECT_THAT(Refused(PlanStatus(request)), ElementsAre("navmesh.world_id"));
}

// The corridor is not known without its navmesh, and nothing is said of it.
TEST_F(ServiceRefusalTest, RefsWithoutANavMeshLackNothingElse) {
  v1::PlanCorridorRequest request = RowRequest();
  request.clear_navmesh();
  EXPECT_THAT(Refused(PlanStatus(request)), ElementsAre("navmesh.navmesh_id"));
  request.mutable_navmesh()->set_world_id("match");
  EXPECT_THAT(Refused(PlanStatus(request)), ElementsAre("navmesh.navmesh_id"));
  EXPECT_THAT(RefusedItem(Batch({}, RowRequest())), ElementsAre("items[0].corridor.corridor.refs"));
  // What can be told of the other fields is told.
  request.mutable_start()->set_x(std::numeric_limits<double>::quiet_NaN());
  request.mutable_agent()->mutable_limits()->set_max_speed(-1);
  EXPECT_THAT(Refused(PlanStatus(request)),
              ElementsAre("navmesh.navmesh_id", "agent.limits.max_speed", "start.x"));
}

TEST_F(ServiceRefusalTest, ReadingChecksItsNames) {
  const auto refused = [&](const std::string& navmesh_id, const std::string& world_id) {
    v1::ReadNavMeshRequest request;
    request.set_navmesh_id(navmesh_id);
    request.set_world_id(world_id);
    grpc::ClientContext context;
    const auto reader = registry_->ReadNavMesh(&context, request);
    v1::ReadNavMeshResponse part;
    while (reader->Read(&part)) {
    }
    return Refused(reader->Finish());
  };
  const std::string long_name(129, 'x');
  EXPECT_THAT(refused("", ""), ElementsAre("navmesh_id"));
  EXPECT_THAT(refused(long_name, long_name), ElementsAre("navmesh_id", "world_id"));
  EXPECT_THAT(refused(kNulName, kNulName), ElementsAre("navmesh_id", "world_id"));
  EXPECT_THAT(refused("map", kNulName), ElementsAre("world_id"));
  EXPECT_THAT(refused("map", ""), IsEmpty());
}

// An update under the header's fields, without content unless it is given.
class ServiceUpdateRefusalTest : public ServiceRefusalTest {
 protected:
  grpc::Status Update(v1::UpdateTilesHeader header, const std::string& content = "") {
    if (header.navmesh_id().empty()) header.set_navmesh_id("map");
    header.set_version(2);
    if (!content.empty())
      ::arclane::testing::Describe(content, v1::NAV_MESH_FORMAT_NEUTRAL, header);
    grpc::ClientContext context;
    v1::UpdateTilesResponse response;
    const auto writer = registry_->UpdateTiles(&context, &response);
    v1::UpdateTilesRequest request;
    *request.mutable_header() = header;
    writer->Write(request);
    if (!content.empty()) {
      request.set_content(content);
      writer->Write(request);
    }
    writer->WritesDone();
    return writer->Finish();
  }
};

TEST_F(ServiceUpdateRefusalTest, TextsAndDetailsNameTheSameField) {
  v1::UpdateTilesHeader header;
  header.add_removed_gates(948);
  const grpc::Status status = Update(header);
  EXPECT_THAT(Refused(status), ElementsAre("header.removed_gates[0]"));
  EXPECT_THAT(status.error_message(), HasSubstr("first header.removed_gates[0]: "));
  EXPECT_THAT(status.error_message(), Not(HasSubstr("request.")));
}

// Gates 7 and 8 would be left on tiles that are no longer there.
TEST_F(ServiceUpdateRefusalTest, AGateThatLosesItsTileIsNamedByTheFieldThatWouldDefineIt) {
  v1::UpdateTilesHeader header;
  header.add_removed_tile_refs(1000);
  const grpc::Status status = Update(header);
  EXPECT_THAT(Refused(status), ElementsAre("header.gates"));
  EXPECT_THAT(DetailsOf(status).bad_request->field_violations(0).description(),
              HasSubstr("gate 7 "));
}

// Version 1 is there, but no version is active.
TEST_F(ServiceUpdateRefusalTest, WithoutAnActiveVersionEveryCallSaysThatThereIsNone) {
  const std::string content = ::arclane::testing::ToMessage(TwoGateGrid()).SerializeAsString();
  v1::PublishNavMeshHeader header;
  header.set_navmesh_id("new");
  header.set_version(1);
  header.set_inactive(true);
  ::arclane::testing::Describe(content, v1::NAV_MESH_FORMAT_NEUTRAL, header);
  v1::PublishNavMeshResponse published;
  ASSERT_TRUE(::arclane::testing::Publish(*registry_, header, content, &published).ok());
  const auto expect_none_active = [](const grpc::Status& status) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    ASSERT_TRUE(DetailsOf(status).info);
    EXPECT_EQ(DetailsOf(status).info->reason(), "NO_ACTIVE_VERSION");
    EXPECT_EQ(status.error_message(), "navmesh 'new' has no active version");
  };
  v1::UpdateTilesHeader update;
  update.set_navmesh_id("new");
  update.add_removed_tile_refs(1000);
  expect_none_active(Update(update));

  v1::ApplyChangesRequest apply;
  apply.set_navmesh_id("new");
  apply.mutable_changes()->add_closed_gates(7);
  expect_none_active(Apply(apply));

  v1::CreateWorldRequest create;
  create.set_navmesh_id("new");
  create.set_world_id("match");
  v1::CreateWorldResponse created;
  {
    grpc::ClientContext context;
    expect_none_active(registry_->CreateWorld(&context, create, &created));
  }
  create.set_version(1);
  grpc::ClientContext create_context;
  ASSERT_TRUE(registry_->CreateWorld(&create_context, create, &created).ok());
  v1::MoveWorldRequest move;
  move.set_navmesh_id("new");
  move.set_world_id("match");
  v1::MoveWorldResponse moved;
  grpc::ClientContext move_context;
  expect_none_active(registry_->MoveWorld(&move_context, move, &moved));

  // A version that is named and not there is another matter.
  update.set_base_version(9);
  EXPECT_EQ(DetailsOf(Update(update)).info->reason(), "UNKNOWN_VERSION");
}

}  // namespace
}  // namespace arclane
