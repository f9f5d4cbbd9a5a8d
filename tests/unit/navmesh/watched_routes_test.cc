// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/watched_routes.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/grid_mesh.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;
using Reason = StaleRoute::Reason;

class WatchedRoutesTest : public ::testing::Test {
 protected:
  WatchedRoutesTest() {
    RegistryOptions options;
    options.navmesh_log_records = 4;
    registry_ = *NavMeshRegistry::Open(options, std::make_shared<InMemoryStore>(), 0.0);
    Publish(1);
  }

  void Publish(uint64_t version) {
    NeutralMesh mesh = GridMesh({});
    mesh.baked_radius = static_cast<double>(version);
    mesh.gates = {{{7}, "", {{{1}, {2}}}, true}};
    PublishRequest request;
    request.navmesh_id = "map";
    request.version = {version};
    request.neutral = &mesh;
    ASSERT_TRUE(registry_->Publish(request).ok());
  }
  void SetGate(bool open) {
    ApplyRequest request;
    request.navmesh_id = "map";
    request.changes = {StateChange::Gate({7}, open)};
    ASSERT_TRUE(registry_->ApplyChanges(request, 0.0).ok());
  }
  // A route that reads gate 7 and one tile, planned now.
  WatchedRoute Route(uint64_t id) const {
    const auto view = registry_->View("map", {}, "", 0.0);
    return {id,
            view->version(),
            view->epoch(),
            {},
            {{DependencyKind::kGate, 7, 0}, {DependencyKind::kTile, 1000, 0}}};
  }

  std::unique_ptr<NavMeshRegistry> registry_;
};

TEST_F(WatchedRoutesTest, TellsAStaleRouteOnce) {
  WatchedRoutes watch(*registry_, {"map", {}, ""});
  watch.Add(Route(1), 0.0);
  EXPECT_TRUE(watch.Check(0.0).stale.empty());
  SetGate(false);
  const auto report = watch.Check(0.0);
  ASSERT_EQ(report.stale.size(), 1u);
  EXPECT_EQ(report.stale[0].reason, Reason::kChanged);
  EXPECT_EQ(report.stale[0].thing.kind, DependencyKind::kGate);
  EXPECT_TRUE(watch.Check(0.0).stale.empty());
  EXPECT_EQ(watch.dependency_count(), 0u);
}

TEST_F(WatchedRoutesTest, SeesThatAStateChangedAndCameBackBeforeTheRouteWasWatched) {
  const WatchedRoute route = Route(1);
  SetGate(false);
  SetGate(true);
  WatchedRoutes watch(*registry_, {"map", {}, ""});
  watch.Add(route, 0.0);
  ASSERT_EQ(watch.Check(0.0).stale.size(), 1u);
}

TEST_F(WatchedRoutesTest, SaysThatARouteIsTooOldToTell) {
  const WatchedRoute route = Route(1);
  for (int i = 0; i < 10; ++i) SetGate(i % 2 == 1);
  WatchedRoutes watch(*registry_, {"map", {}, ""});
  watch.Add(route, 0.0);
  const auto report = watch.Check(0.0);
  ASSERT_EQ(report.stale.size(), 1u);
  EXPECT_EQ(report.stale[0].reason, Reason::kTooOld);
}

// Its epochs count other changes: nobody knows what the things that it was read from were then.
TEST_F(WatchedRoutesTest, ARouteOfAnotherLifeOrOfAnEpochToComeIsOfUnknownState) {
  ASSERT_TRUE(registry_->CreateWorld("map", "match", {}, 0.0).ok());
  const auto view = registry_->View("map", {}, "match", 0.0);
  WatchedRoute current = Route(1), other_life = Route(2), to_come = Route(3);
  for (WatchedRoute* route : {&current, &other_life, &to_come}) {
    route->life = view->life();
    route->world_life = view->world_life();
    route->world_epoch = view->world_epoch();
  }
  WatchedRoute other_world = current, world_to_come = current, reads_nothing = current;
  other_life.life = {view->life().value + 1000};
  ++to_come.epoch.value;
  other_world.id = 4;
  other_world.world_life = {view->world_life().value + 1000};
  world_to_come.id = 5;
  ++world_to_come.world_epoch.value;
  reads_nothing = other_life;
  reads_nothing.id = 6;
  reads_nothing.reads.clear();
  WatchedRoutes watch(*registry_, {"map", {}, "match"});
  for (const WatchedRoute& route :
       {current, other_life, to_come, other_world, world_to_come, reads_nothing})
    watch.Add(route, 0.0);
  const auto report = watch.Check(0.0);
  std::vector<uint64_t> stale;
  for (const StaleRoute& route : report.stale) {
    EXPECT_EQ(route.reason, Reason::kUnknownState) << route.id;
    stale.push_back(route.id);
  }
  EXPECT_EQ(stale, (std::vector<uint64_t>{2, 3, 4, 5}));
  EXPECT_EQ(watch.route_count(), 2u);
  EXPECT_EQ(report.life, view->life());
  EXPECT_EQ(report.world_life, view->world_life());
  // Without a world its life does not matter.
  WatchedRoutes navmesh(*registry_, {"map", {}, ""});
  navmesh.Add(other_world, 0.0);
  EXPECT_TRUE(navmesh.Check(0.0).stale.empty());
}

TEST_F(WatchedRoutesTest, FollowsTheActiveVersionUnlessOneIsNamed) {
  WatchedRoutes active(*registry_, {"map", {}, ""}), pinned(*registry_, {"map", {1}, ""});
  active.Add(Route(1), 0.0);
  pinned.Add(Route(1), 0.0);
  Publish(2);
  EXPECT_EQ(active.Check(0.0).stale.size(), 1u);
  EXPECT_TRUE(pinned.Check(0.0).stale.empty());
  ASSERT_TRUE(registry_->Retire("map", {1}).ok());
  const auto report = pinned.Check(0.0);
  ASSERT_EQ(report.stale.size(), 1u);
  EXPECT_EQ(report.stale[0].reason, Reason::kVersionGone);
  EXPECT_TRUE(report.failure.has_value());
  // As of the navmesh's epoch, though its version cannot be viewed.
  EXPECT_EQ(report.epoch, registry_->View("map", {}, "", 0.0)->epoch());
}

TEST_F(WatchedRoutesTest, ForgetsRoutesThatAreRemoved) {
  WatchedRoutes watch(*registry_, {"map", {}, ""});
  watch.Add(Route(1), 0.0);
  watch.Add(Route(2), 0.0);
  watch.Add(Route(2), 0.0);
  EXPECT_EQ(watch.route_count(), 2u);
  watch.Remove(1);
  watch.Remove(9);
  SetGate(false);
  const auto report = watch.Check(0.0);
  ASSERT_EQ(report.stale.size(), 1u);
  EXPECT_EQ(report.stale[0].id, 2u);
}

TEST_F(WatchedRoutesTest, ARouteThatReadsWhatIsNotThereIsStaleAtOnce) {
  WatchedRoutes watch(*registry_, {"map", {}, ""});
  WatchedRoute route = Route(1);
  route.reads.push_back({DependencyKind::kGate, 99, 0});
  watch.Add(route, 0.0);
  ASSERT_EQ(watch.Check(0.0).stale.size(), 1u);
}

}  // namespace
}  // namespace arclane
