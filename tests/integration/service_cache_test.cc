// SPDX-License-Identifier: Apache-2.0
// Kept answers through the service: what is a hit, what ends it, and requests that share a plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/integration/service_harness.h"
#include "tests/integration/service_navmesh_fixture.h"
#include "tests/support/grid_mesh.h"
#include "tests/support/neutral_message.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;
using ::testing::ElementsAre;

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
