// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/registry.h"

#include <memory>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/navmesh/registry_state.h"
#include "tests/support/grid_mesh.h"
#include "tests/support/reference_data.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;
using ::arclane::testing::GridOptions;
using ::arclane::testing::ReadFile;
using ::testing::ElementsAre;
using Type = WatchEvent::Type;

// 6 x 4 squares in tiles of 2 x 2; gate 1 between squares 1 and 2 (tiles 1000 and 1001), gate 2
// closed between 0 and 6 (both in tile 1000); link 100 from square 0 to square 23.
NeutralMesh TestMesh(uint64_t first_id = 0) {
  NeutralMesh mesh = GridMesh({.width = 6, .height = 4, .tile = 2, .first_id = first_id});
  mesh.gates = {{{1}, "front", {{{first_id + 1}, {first_id + 2}}}, true},
                {{2}, "back", {{{first_id}, {first_id + 6}}}, false}};
  mesh.links = {{.id = first_id + 100,
                 .start = {0.5, 0.5, 0},
                 .end = {5.5, 3.5, 0},
                 .start_polygon = first_id,
                 .end_polygon = first_id + 23}};
  return mesh;
}

// One tile of the grid anew: squares of tile (x, y) with ids from `first_id`, numbered within the
// tile.
NeutralMesh TileMesh(int32_t x, int32_t y, uint64_t first_id) {
  NeutralMesh mesh = GridMesh({.width = 2, .height = 2, .tile = 2, .first_id = first_id});
  for (double& v : mesh.x) v += 2 * x;
  for (double& v : mesh.y) v += 2 * y;
  mesh.neighbour.clear();
  mesh.tiles = {{static_cast<uint64_t>(1000 + y * 3 + x), {x, y, 0}}};
  return mesh;
}

class RegistryTest : public ::testing::Test {
 protected:
  void SetUp() override { Reopen(); }
  void Reopen() {
    registry_.reset();
    auto opened = NavMeshRegistry::Open(options_, store_, 0.0);
    ASSERT_TRUE(opened.ok()) << opened.status();
    registry_ = *std::move(opened);
  }
  NavMeshResult<PublishResult> Publish(uint64_t version, const NeutralMesh& mesh,
                                       bool activate = true) {
    PublishRequest request;
    request.navmesh_id = "map";
    request.version = {version};
    request.neutral = &mesh;
    request.activate = activate;
    return registry_->Publish(request);
  }
  NavMeshResult<PublishResult> Update(uint64_t version, const NeutralMesh& mesh,
                                      std::vector<GateDefinition> gates = {}) {
    UpdateTilesRequest request;
    request.navmesh_id = "map";
    request.version = {version};
    request.neutral = &mesh;
    request.gates = std::move(gates);
    return registry_->UpdateTiles(request);
  }
  NavMeshResult<PublishResult> UpdateFrom(uint64_t base, uint64_t version,
                                          const NeutralMesh& mesh) {
    UpdateTilesRequest request;
    request.navmesh_id = "map";
    request.base_version = {base};
    request.version = {version};
    request.neutral = &mesh;
    request.activate = false;
    return registry_->UpdateTiles(request);
  }
  NavMeshResult<ApplyResult> Apply(std::vector<StateChange> changes, std::string world = "",
                                   std::string id = "",
                                   std::optional<uint64_t> expected = std::nullopt) {
    ApplyRequest request;
    request.navmesh_id = "map";
    request.world_id = world;
    request.request_id = id;
    if (expected) request.expected_epoch = Epoch{*expected};
    request.changes = std::move(changes);
    return registry_->ApplyChanges(request, 0.0);
  }
  NavMeshView View(uint64_t version = 0, std::string world = "") {
    auto view = registry_->View("map", {version}, world, 0.0);
    EXPECT_TRUE(view.ok()) << view.status();
    return *std::move(view);
  }
  NavMeshReason ReasonOf(uint64_t version, std::string world = "", std::string id = "map") {
    const auto view = registry_->View(id, {version}, world, 0.0);
    EXPECT_FALSE(view.ok());
    return view.ok() ? NavMeshReason::kMalformed : view.failure().reason;
  }

  RegistryOptions options_;
  std::shared_ptr<NavMeshStore> store_ = std::make_shared<InMemoryStore>();
  std::unique_ptr<NavMeshRegistry> registry_;
};

TEST_F(RegistryTest, PublishesTheSameContentOnce) {
  const NeutralMesh mesh = TestMesh();
  const auto first = Publish(1, mesh);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(first->already_published);
  const auto again = Publish(1, mesh);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->already_published);
  EXPECT_EQ(again->digest, first->digest);
  EXPECT_EQ(again->epoch, first->epoch);
  const auto other = Publish(1, GridMesh({}));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.failure().reason, NavMeshReason::kVersionExists);
  EXPECT_EQ(other.status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(RegistryTest, NamesWhatIsUnknown) {
  EXPECT_EQ(ReasonOf(0), NavMeshReason::kUnknownNavMesh);
  ASSERT_TRUE(Publish(1, TestMesh(), false).ok());
  EXPECT_EQ(ReasonOf(0), NavMeshReason::kNoActiveVersion);
  EXPECT_EQ(ReasonOf(2), NavMeshReason::kUnknownVersion);
  EXPECT_EQ(ReasonOf(1, "match"), NavMeshReason::kUnknownWorld);
  EXPECT_EQ(View(1).version(), NavMeshVersion{1});
}

TEST_F(RegistryTest, RetiresAndDeletesButNotTheActive) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(Publish(2, TestMesh(1000)).ok());
  EXPECT_EQ(registry_->Retire("map", {2}).failure().reason, NavMeshReason::kActiveVersion);
  EXPECT_EQ(registry_->Delete("map", {2}).failure().reason, NavMeshReason::kActiveVersion);
  const Epoch epoch = *registry_->Retire("map", {1});
  EXPECT_EQ(*registry_->Retire("map", {1}), epoch);
  EXPECT_EQ(ReasonOf(1), NavMeshReason::kRetiredVersion);
  EXPECT_EQ(registry_->Activate("map", {1}).failure().reason, NavMeshReason::kRetiredVersion);
  ASSERT_TRUE(registry_->Delete("map", {1}).ok());
  EXPECT_EQ(ReasonOf(1), NavMeshReason::kUnknownVersion);
}

TEST_F(RegistryTest, KeepsVersionsByCountAndTheActiveAlways) {
  options_.max_versions = 3;
  Reopen();
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  for (uint64_t v = 2; v <= 5; ++v) ASSERT_TRUE(Publish(v, TestMesh(1000 * v), false).ok());
  const auto description = *registry_->Get("map");
  std::vector<uint64_t> versions;
  for (const auto& v : description.versions) versions.push_back(v.version.value);
  EXPECT_THAT(versions, ElementsAre(1, 4, 5));
  ASSERT_TRUE(registry_->CreateWorld("map", "a", {4}, 0).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "b", {5}, 0).ok());
  ASSERT_TRUE(Publish(6, TestMesh(9000)).ok()) << "version 1 is active no more and goes";
  EXPECT_EQ(ReasonOf(1), NavMeshReason::kUnknownVersion);
  EXPECT_EQ(Publish(7, TestMesh(9500), false).failure().reason, NavMeshReason::kLimitExceeded);
  EXPECT_EQ(registry_->Delete("map", {4}).failure().reason, NavMeshReason::kVersionInUse);
  ASSERT_TRUE(registry_->DeleteWorld("map", "a").ok());
  EXPECT_TRUE(Publish(7, TestMesh(9500), false).ok());
  EXPECT_EQ(ReasonOf(4), NavMeshReason::kUnknownVersion);
}

TEST_F(RegistryTest, KeepsVersionsByBytes) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  options_.max_bytes = registry_->Get("map")->bytes * 5 / 2;
  Reopen();
  for (uint64_t v = 2; v <= 4; ++v) ASSERT_TRUE(Publish(v, TestMesh(1000 * v)).ok());
  const auto description = *registry_->Get("map");
  EXPECT_LE(description.bytes, options_.max_bytes);
  EXPECT_EQ(description.versions.size(), 2u);
  const NeutralMesh large = GridMesh({.width = 40, .height = 40});
  EXPECT_EQ(Publish(9, large).failure().reason, NavMeshReason::kLimitExceeded);
  EXPECT_EQ(ReasonOf(9), NavMeshReason::kUnknownVersion);
}

TEST_F(RegistryTest, AppliesAllChangesOrNone) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  EXPECT_TRUE(View().IsOpen({1}));
  EXPECT_FALSE(View().IsOpen({2}));
  const auto bad = Apply({StateChange::Gate({1}, false), StateChange::Gate({3}, true),
                          StateChange::Link({5}, true), StateChange::Link({999}, true),
                          StateChange::AreaCost({0}, -1)});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.failure().violations.size(), 4u);
  EXPECT_TRUE(View().IsOpen({1}));
  const auto good = Apply({StateChange::Gate({1}, false), StateChange::Gate({2}, true),
                           StateChange::Link({100}, false), StateChange::AreaCost({3}, 2.5)});
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_EQ(View().epoch(), good->epoch);
  EXPECT_FALSE(View().IsOpen({1}));
  EXPECT_TRUE(View().IsOpen({2}));
  EXPECT_FALSE(View().IsEnabled({100}));
  EXPECT_EQ(View().CostOf({3}), 2.5);
  EXPECT_EQ(View().CostOf({4}), 1.0);
}

TEST_F(RegistryTest, AnswersARequestThatIsSentAgain) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "match", {}, 0).ok());
  for (const std::string world : {"", "match"}) {
    const auto first = Apply({StateChange::Gate({1}, false)}, world, "r1");
    ASSERT_TRUE(first.ok()) << first.status();
    ASSERT_TRUE(Apply({StateChange::Gate({1}, true)}, world, "r2").ok());
    const auto again = Apply({StateChange::Gate({1}, false)}, world, "r1");
    ASSERT_TRUE(again.ok());
    EXPECT_TRUE(again->replayed);
    EXPECT_EQ(again->epoch, first->epoch);
    EXPECT_TRUE(View(0, world).IsOpen({1}));
    EXPECT_EQ(Apply({StateChange::Gate({2}, false)}, world, "r1").failure().reason,
              NavMeshReason::kRequestIdReused);
  }
}

TEST_F(RegistryTest, AbortsWhenTheStateHasMovedOn) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  const uint64_t seen = View().epoch().value;
  const auto first = Apply({StateChange::Gate({1}, false)}, "", "", seen);
  ASSERT_TRUE(first.ok());
  const auto late = Apply({StateChange::Gate({1}, true)}, "", "", seen);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.failure().reason, NavMeshReason::kEpochMismatch);
  EXPECT_THAT(late.failure().metadata,
              ElementsAre(::testing::Pair("current_epoch", std::to_string(first->epoch.value))));
  // A change of another version is none of this one's business.
  ASSERT_TRUE(Publish(2, TestMesh(1000), false).ok());
  EXPECT_TRUE(Apply({StateChange::Gate({1}, true)}, "", "", first->epoch.value).ok());
}

// Such an epoch was told by a former life of the server, in which other things had happened.
TEST_F(RegistryTest, AbortsWhenTheExpectedEpochIsStillToCome) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "match", {}, 0).ok());
  for (const std::string world : {"", "match"}) {
    const NavMeshView now = View(0, world);
    const uint64_t current = (world.empty() ? now.epoch() : now.world_epoch()).value;
    const auto ahead = Apply({StateChange::Gate({1}, false)}, world, "", current + 1);
    ASSERT_FALSE(ahead.ok()) << world;
    EXPECT_EQ(ahead.failure().reason, NavMeshReason::kEpochMismatch);
    EXPECT_THAT(ahead.failure().metadata,
                ElementsAre(::testing::Pair("current_epoch", std::to_string(current))));
    EXPECT_TRUE(Apply({StateChange::Gate({1}, false)}, world, "", current).ok());
  }
}

TEST_F(RegistryTest, GivesEachWorldItsOwnDoors) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "a", {}, 0).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "b", {}, 0).ok());
  EXPECT_EQ(View(0, "a").state_id(), View(0, "b").state_id());
  EXPECT_EQ(View(0, "a").state_id(), View().state_id());
  ASSERT_TRUE(Apply({StateChange::Gate({1}, false)}, "a").ok());
  EXPECT_FALSE(View(0, "a").IsOpen({1}));
  EXPECT_TRUE(View(0, "b").IsOpen({1}));
  EXPECT_NE(View(0, "a").state_id(), View(0, "b").state_id());
  EXPECT_EQ(View(0, "a").state_id(), View(0, "a").state_id());
  // What a world does not say follows the version.
  ASSERT_TRUE(Apply({StateChange::Gate({2}, true)}).ok());
  EXPECT_TRUE(View(0, "a").IsOpen({2}));
  EXPECT_FALSE(View(0, "a").IsOpen({1}));
  // Worlds that agree have equal stamps.
  EXPECT_EQ(View(0, "a").Stamp(DependencyKind::kGate, 2),
            View(0, "b").Stamp(DependencyKind::kGate, 2));
}

TEST_F(RegistryTest, ExpiresIdleWorlds) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "a", {}, 0).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "b", {}, 0).ok());
  EXPECT_EQ(registry_->ExpireWorlds(options_.world_idle_s - 1), 0u);
  ASSERT_TRUE(registry_->View("map", {}, "a", 10).ok());
  EXPECT_EQ(registry_->ExpireWorlds(options_.world_idle_s + 1), 1u);
  EXPECT_EQ(ReasonOf(0, "b"), NavMeshReason::kUnknownWorld);
  EXPECT_EQ(View(0, "a").world_id(), "a");
}

TEST_F(RegistryTest, NeverRepeatsAnEpochOfAWorld) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "a", {}, 0).ok());
  const Epoch last = Apply({StateChange::Gate({1}, false)}, "a")->epoch;
  ASSERT_TRUE(registry_->DeleteWorld("map", "a").ok());
  Reopen();
  const auto again = registry_->CreateWorld("map", "a", {}, 0);
  EXPECT_GT(again->epoch, last);
  EXPECT_TRUE(View(0, "a").IsOpen({1}));
}

TEST_F(RegistryTest, SharesUnchangedTilesAndKeepsTheirStamps) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  const NavMeshView before = View();
  const auto updated = Update(2, TileMesh(2, 1, 5000));
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_THAT(updated->replaced_tiles, ElementsAre(TileCoordinates{2, 1, 0}));
  const NavMeshView after = View();
  EXPECT_EQ(after.lineage(), before.lineage());
  for (uint64_t tile = 1000; tile < 1006; ++tile) {
    const uint64_t a = before.Stamp(DependencyKind::kTile, tile),
                   b = after.Stamp(DependencyKind::kTile, tile);
    EXPECT_EQ(a != b, tile == 1005) << tile;
  }
  EXPECT_EQ(after.snapshot().tile(0)->tile, before.snapshot().tile(0)->tile);
  EXPECT_EQ(after.snapshot().tile(3), before.snapshot().tile(3));
  EXPECT_EQ(after.snapshot().CountLinks(), before.snapshot().CountLinks());
  // The new squares are linked to the old ones around them.
  EXPECT_TRUE(after.snapshot().CrossingBetween(*after.snapshot().Find({5000}),
                                               *after.snapshot().Find({10})));
}

TEST_F(RegistryTest, NeverLetsARefComeBackForOtherGeometry) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(Update(2, TileMesh(2, 1, 5000)).ok());
  const NavMeshSnapshot& now = View().snapshot();
  EXPECT_FALSE(now.Find({17}));
  EXPECT_EQ(now.Explain({17}, "refs[3]").reason, NavMeshReason::kReplacedTile);
  EXPECT_EQ(now.Explain({777}, "refs[3]").reason, NavMeshReason::kUnknownPolygon);
  EXPECT_TRUE(View(1).snapshot().Find({17}));
  NeutralMesh reused = TileMesh(1, 1, 5100);
  reused.polygon_id[0] = 17;
  const auto refused = Update(3, reused);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().reason, NavMeshReason::kBrokenMesh);
  NeutralMesh same = TileMesh(2, 1, 5000);  // The content that is there already.
  same.x[4] += 0.25;                        // No longer.
  EXPECT_FALSE(Update(3, same).ok());
  Reopen();
  EXPECT_EQ(View().snapshot().Explain({17}, "refs[3]").reason, NavMeshReason::kReplacedTile);
  EXPECT_FALSE(Update(3, reused).ok());
}

std::vector<std::string> Described(const NavMeshFailure& failure) {
  std::vector<std::string> all;
  for (const MeshViolation& violation : failure.violations) all.push_back(violation.description);
  return all;
}

// What was learnt from one version must not plan on other geometry in another, whichever way the
// versions come from one another.
TEST_F(RegistryTest, NeverLetsARefComeBackInAnotherBranch) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  const NeutralMesh tile = TileMesh(2, 1, 5000);
  NeutralMesh other = tile;
  other.x[4] += 0.25;
  ASSERT_TRUE(UpdateFrom(1, 2, tile).ok());
  const auto refused = UpdateFrom(1, 3, other);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().reason, NavMeshReason::kBrokenMesh);
  EXPECT_THAT(Described(refused.failure()),
              ElementsAre("polygon id 5000 named a polygon of a tile of other content",
                          "polygon id 5001 named a polygon of a tile of other content",
                          "polygon id 5002 named a polygon of a tile of other content",
                          "polygon id 5003 named a polygon of a tile of other content"));
  EXPECT_TRUE(UpdateFrom(1, 3, tile).ok()) << "the same content";
  // It counts that the version was there, not that it is.
  ASSERT_TRUE(registry_->Delete("map", {2}).ok());
  ASSERT_TRUE(registry_->Delete("map", {3}).ok());
  EXPECT_FALSE(UpdateFrom(1, 4, other).ok());
  Reopen();
  EXPECT_TRUE(registry_->damage().empty());
  EXPECT_FALSE(UpdateFrom(1, 4, other).ok());
  EXPECT_TRUE(UpdateFrom(1, 4, tile).ok());
  // A version that is published as a whole may reuse refs, and go on with them.
  ASSERT_TRUE(Publish(10, TestMesh(5000), false).ok());
  EXPECT_TRUE(UpdateFrom(10, 11, TileMesh(2, 1, 7000)).ok());
}

TEST_F(RegistryTest, ATileRefThatWasGivenUpNeverNamesOtherContent) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  const auto tile = [](uint64_t ref, uint64_t first_id) {
    NeutralMesh mesh = TileMesh(2, 1, first_id);
    mesh.tiles[0].id = ref;
    return mesh;
  };
  ASSERT_TRUE(UpdateFrom(1, 2, tile(2000, 5000)).ok());
  ASSERT_TRUE(UpdateFrom(2, 3, tile(2001, 5100)).ok());
  for (const uint64_t given_up : {1005, 2000}) {
    const auto refused = UpdateFrom(3, 4, tile(given_up, 5200));
    ASSERT_FALSE(refused.ok()) << given_up;
    EXPECT_THAT(Described(refused.failure()),
                ElementsAre("its ref " + std::to_string(given_up) +
                            " named a tile of other content; a new build needs a new ref"));
  }
  EXPECT_FALSE(UpdateFrom(1, 4, tile(2000, 5200)).ok()) << "a branch that never had it";
  ASSERT_TRUE(UpdateFrom(3, 4, tile(2000, 5000)).ok()) << "the same content";
  EXPECT_TRUE(View(4).snapshot().Find({5000}));
  EXPECT_EQ(View(4).snapshot().Explain({5100}, "refs[0]").reason, NavMeshReason::kReplacedTile);
  // The ref of a place goes on with what is there.
  EXPECT_TRUE(UpdateFrom(3, 5, tile(2001, 5300)).ok());
}

// Directories that an older server has written have neither lives nor a ledger.
TEST_F(RegistryTest, TakesOverDirectoriesOfOlderServers) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "match", {}, 0).ok());
  ASSERT_TRUE(Update(2, TileMesh(2, 1, 5000)).ok());
  ASSERT_TRUE(Update(3, TileMesh(2, 1, 5100)).ok());
  ASSERT_TRUE(registry_->Delete("map", {2}).ok());
  StoreBatch older;
  ASSERT_TRUE(store_
                  ->ForEach([&](std::string_view key, std::string_view, bool) {
                    if (key[0] == store_key::kLife || key[0] == store_key::kRefs)
                      older.Remove(std::string(key));
                  })
                  .ok());
  EXPECT_EQ(older.operations.size(), 4u);
  ASSERT_TRUE(store_->Commit(older).ok());
  Reopen();
  EXPECT_TRUE(registry_->damage().empty());
  const NavMeshView before = View(0, "match");
  EXPECT_NE(before.life(), LifeToken{});
  EXPECT_NE(before.world_life(), LifeToken{});
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(View(0, "match").life(), before.life());
    EXPECT_EQ(View(0, "match").world_life(), before.world_life());
    NeutralMesh other = TileMesh(2, 1, 5100);
    other.x[4] += 0.25;
    EXPECT_FALSE(UpdateFrom(1, 9, other).ok());
    // Of a version that is gone: nobody knows its content any more.
    EXPECT_FALSE(UpdateFrom(3, 9, TileMesh(2, 1, 5000)).ok());
    Reopen();
  }
  EXPECT_TRUE(UpdateFrom(1, 9, TileMesh(2, 1, 5100)).ok());
}

TEST_F(RegistryTest, RefusesToLoseAGateWithItsTile) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  const auto lost = Update(2, TileMesh(0, 0, 5000));
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.failure().violations.size(), 2u) << lost.status();
  const auto moved =
      Update(2, TileMesh(0, 0, 5000),
             {{{1}, "front", {{{5001}, {2}}}, true}, {{2}, "back", {{{5000}, {5002}}}, false}});
  ASSERT_TRUE(moved.ok()) << moved.status();
}

// Each wrong update is refused by name and leaves everything as it was.
TEST_F(RegistryTest, NamesWhatIsWrongWithAnUpdate) {
  NeutralMesh base = TestMesh();
  base.baked_radius = 0.5;
  ASSERT_TRUE(Publish(1, base).ok());
  UpdateTilesRequest good;
  good.navmesh_id = "map";
  good.version = {2};
  const NeutralMesh tile = TileMesh(2, 1, 5000);
  const auto expect = [&](const UpdateTilesRequest& request, NavMeshReason reason,
                          const std::string& place) {
    const auto refused = registry_->UpdateTiles(request);
    ASSERT_FALSE(refused.ok()) << place;
    EXPECT_EQ(refused.failure().reason, reason) << refused.status();
    if (!place.empty()) {
      ASSERT_FALSE(refused.failure().violations.empty()) << refused.status();
      EXPECT_EQ(refused.failure().violations[0].place, place) << refused.status();
    }
    const auto map = registry_->Get("map");
    EXPECT_EQ(map->versions.size(), 1u);
    EXPECT_EQ(map->active, NavMeshVersion{1});
  };
  expect(good, NavMeshReason::kInvalidArgument, "request.content_bytes");
  UpdateTilesRequest request = good;
  request.removed_tiles = {{2, 1, 0}, {7, 7, 0}};
  expect(request, NavMeshReason::kInvalidArgument, "request.removed_tiles.x[1]");
  request = good;
  request.removed_refs = {{1005}, {77}};
  expect(request, NavMeshReason::kInvalidArgument, "request.removed_tile_refs[1]");
  request.removed_refs = {{1005}, {1005}};
  expect(request, NavMeshReason::kInvalidArgument, "request.removed_tile_refs[1]");
  request.removed_refs = {{1005}};
  request.removed_tiles = {{2, 1, 0}};
  expect(request, NavMeshReason::kInvalidArgument, "request.removed_tile_refs[0]");
  request = good;
  request.removed_gates = {{99}};
  expect(request, NavMeshReason::kInvalidArgument, "request.removed_gates[0]");
  request = good;
  request.neutral = &tile;
  request.base_version = {9};
  expect(request, NavMeshReason::kUnknownVersion, "");
  request = good;
  request.neutral = &tile;
  request.navmesh_id = "elsewhere";
  expect(request, NavMeshReason::kUnknownNavMesh, "");
  NeutralMesh twice = tile;
  twice.tiles.push_back({2000, {2, 1, 0}});
  request = good;
  request.neutral = &twice;
  expect(request, NavMeshReason::kBrokenMesh, "tiles.x[1]");
  NeutralMesh other = tile;
  other.baked_radius = 0.75;
  request.neutral = &other;
  expect(request, NavMeshReason::kInvalidArgument, "request.content");
  other = GridMesh({.width = 2, .height = 2, .tile = 2, .up = MeshUpAxis::kY, .first_id = 5000});
  request.neutral = &other;
  expect(request, NavMeshReason::kInvalidArgument, "request.content");
  request = good;
  request.mset = "no tiles";
  expect(request, NavMeshReason::kMalformed, "");
  request = good;
  request.neutral = &tile;
  EXPECT_TRUE(registry_->UpdateTiles(request).ok());
}

TEST_F(RegistryTest, RestampsTilesWhoseGatesChange) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  const NavMeshView before = View();
  UpdateTilesRequest request;
  request.navmesh_id = "map";
  request.version = {2};
  request.gates = {{{3}, "new", {{{3}, {4}}}, true}};  // Between tiles 1001 and 1002.
  ASSERT_TRUE(registry_->UpdateTiles(request).ok());
  const NavMeshView after = View();
  for (uint64_t tile = 1000; tile < 1006; ++tile) {
    EXPECT_EQ(after.Stamp(DependencyKind::kTile, tile) != before.Stamp(DependencyKind::kTile, tile),
              tile == 1001 || tile == 1002)
        << tile;
  }
}

TEST_F(RegistryTest, CarriesStatesOverToTheNewVersion) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(Apply({StateChange::Gate({1}, false), StateChange::AreaCost({2}, 7)}).ok());
  ASSERT_TRUE(Update(2, TileMesh(2, 1, 5000)).ok());
  EXPECT_FALSE(View().IsOpen({1}));
  EXPECT_EQ(View().CostOf({2}), 7);
}

TEST_F(RegistryTest, SurvivesBeingReopened) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(Update(2, TileMesh(2, 1, 5000)).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "match", {}, 0).ok());
  ASSERT_TRUE(Apply({StateChange::Gate({1}, false)}, "match", "r1").ok());
  const auto applied = Apply({StateChange::Gate({2}, true)}, "", "r2");
  const auto before = *registry_->Get("map");
  Reopen();
  EXPECT_TRUE(registry_->damage().empty());
  const auto after = *registry_->Get("map");
  EXPECT_EQ(after.epoch, before.epoch);
  EXPECT_EQ(after.active, before.active);
  ASSERT_EQ(after.versions.size(), before.versions.size());
  for (size_t i = 0; i < after.versions.size(); ++i) {
    EXPECT_EQ(after.versions[i].digest, before.versions[i].digest);
    EXPECT_EQ(after.versions[i].states, before.versions[i].states);
    EXPECT_EQ(after.versions[i].world_count, before.versions[i].world_count);
    EXPECT_EQ(after.versions[i].lineage, before.versions[i].lineage);
  }
  EXPECT_EQ(after.bytes, before.bytes) << "tiles are shared again";
  EXPECT_FALSE(View(0, "match").IsOpen({1}));
  EXPECT_TRUE(Apply({StateChange::Gate({1}, false)}, "match", "r1")->replayed);
  EXPECT_EQ(Apply({StateChange::Gate({2}, true)}, "", "r2")->epoch, applied->epoch);
  EXPECT_TRUE(Update(2, TileMesh(2, 1, 5000))->already_published);
}

TEST_F(RegistryTest, SetsDamagedVersionsAsideAndServesTheOthers) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(Publish(2, TestMesh(1000)).ok());
  const ContentDigest tile = View(2).snapshot().tile(3)->tile->digest;
  StoreBatch damage;
  damage.Put(store_key::Tile("map", tile), "not what it was");
  ASSERT_TRUE(store_->Commit(damage).ok());
  Reopen();
  ASSERT_EQ(registry_->damage().size(), 1u);
  EXPECT_EQ(registry_->damage()[0].version, NavMeshVersion{2});
  EXPECT_EQ(ReasonOf(2), NavMeshReason::kDamagedVersion);
  EXPECT_EQ(ReasonOf(0), NavMeshReason::kDamagedVersion);
  EXPECT_EQ(View(1).version(), NavMeshVersion{1});
  // Publishing the content again repairs it.
  ASSERT_TRUE(Publish(2, TestMesh(1000)).ok());
  EXPECT_EQ(View(2).version(), NavMeshVersion{2});
}

TEST_F(RegistryTest, ListsPageByPage) {
  const NeutralMesh mesh = TestMesh();
  for (const std::string id : {"b", "d", "a", "c", "e"}) {
    PublishRequest request;
    request.navmesh_id = id;
    request.version = {1};
    request.neutral = &mesh;
    ASSERT_TRUE(registry_->Publish(request).ok());
  }
  std::string found, token;
  do {
    const NavMeshPage page = registry_->List(2, token);
    for (const auto& navmesh : page.navmeshes) found += navmesh.navmesh_id;
    token = page.next_page_token;
    found += "|";
  } while (!token.empty());
  EXPECT_EQ(found, "ab|cd|e|");
  for (const std::string id : {"z", "x", "y"})
    ASSERT_TRUE(registry_->CreateWorld("b", id, {}, 0).ok());
  const WorldPage page = registry_->ListWorlds("b", 2, "");
  ASSERT_EQ(page.worlds.size(), 2u);
  EXPECT_EQ(page.worlds[1].world_id, "y");
  EXPECT_EQ(page.next_page_token, "y");
  EXPECT_EQ(registry_->ListWorlds("b", 2, "y").worlds[0].world_id, "z");
}

std::vector<Type> Types(const std::vector<WatchEvent>& events) {
  std::vector<Type> types;
  for (const WatchEvent& event : events) types.push_back(event.type);
  return types;
}

TEST_F(RegistryTest, TellsWatchersWhatTheyMissed) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  const Epoch known = View().epoch();
  ASSERT_TRUE(Apply({StateChange::Gate({1}, false)}).ok());
  ASSERT_TRUE(Update(2, TileMesh(2, 1, 5000)).ok());
  int ready = 0;
  auto watcher = *registry_->Watch({"map", "", known}, [&] { ++ready; });
  auto events = watcher->Poll(100);
  EXPECT_THAT(Types(events),
              ElementsAre(Type::kChange, Type::kChange, Type::kChange, Type::kSynced));
  EXPECT_EQ(events[0].change->type, ChangeType::kStateChanged);
  EXPECT_EQ(events[1].change->type, ChangeType::kTilesUpdated);
  EXPECT_EQ(events[2].change->type, ChangeType::kActivated);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(events[i].epoch.value, known.value + 1 + i);
  EXPECT_TRUE(watcher->Poll(100).empty());
  EXPECT_EQ(ready, 0);
  ASSERT_TRUE(Apply({StateChange::Gate({1}, true)}).ok());
  EXPECT_EQ(ready, 1);
  EXPECT_THAT(Types(watcher->Poll(100)), ElementsAre(Type::kChange, Type::kSynced));
}

TEST_F(RegistryTest, ALifeLastsAsLongAsItsData) {
  options_.draw_life = [last = std::make_shared<uint64_t>(500)] { return ++*last; };
  Reopen();
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "a", {}, 0).ok());
  EXPECT_EQ(View(0, "a").life(), LifeToken{501});
  EXPECT_EQ(View(0, "a").world_life(), LifeToken{502});
  EXPECT_EQ(View().world_life(), LifeToken{});
  Reopen();
  ASSERT_TRUE(registry_->CreateWorld("map", "a", {}, 0).ok());
  EXPECT_EQ(View(0, "a").life(), LifeToken{501});
  EXPECT_EQ(View(0, "a").world_life(), LifeToken{502});
  ASSERT_TRUE(registry_->DeleteWorld("map", "a").ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "a", {}, 0).ok());
  EXPECT_EQ(View(0, "a").world_life(), LifeToken{503});
  store_ = std::make_shared<InMemoryStore>();
  Reopen();
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  EXPECT_EQ(View().life(), LifeToken{504});
}

TEST_F(RegistryTest, ResyncsWatchersOfAnotherLife) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "a", {}, 0).ok());
  const NavMeshView now = View(0, "a");
  for (const std::string world : {"", "a"}) {
    const Epoch known = world.empty() ? now.epoch() : now.world_epoch();
    const LifeToken life = world.empty() ? now.life() : now.world_life();
    for (const LifeToken told : {life, LifeToken{}}) {
      const auto events = (*registry_->Watch({"map", world, known, told}, nullptr))->Poll(100);
      EXPECT_THAT(Types(events), ElementsAre(Type::kSynced));
      EXPECT_EQ(events[0].life, life);
    }
    const auto events =
        (*registry_->Watch({"map", world, known, {life.value + 1000}}, nullptr))->Poll(100);
    ASSERT_THAT(Types(events), ElementsAre(Type::kSnapshot, Type::kSynced));
    EXPECT_TRUE(events[0].resync);
    EXPECT_EQ(events[0].life, life);
    EXPECT_EQ(events[0].epoch, known);
  }
}

TEST_F(RegistryTest, NamesTheWorldThatDoesNotStandOnTheVersion) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "a", {}, 0).ok());
  ASSERT_TRUE(Publish(2, TestMesh(1000)).ok());
  ApplyRequest apply;
  apply.navmesh_id = "map";
  apply.world_id = "a";
  apply.version = {2};
  apply.changes = {StateChange::Gate({1}, false)};
  for (const NavMeshFailure& failure : {registry_->View("map", {2}, "a", 0).failure(),
                                        registry_->ApplyChanges(apply, 0).failure()}) {
    EXPECT_EQ(failure.reason, NavMeshReason::kInvalidArgument);
    ASSERT_EQ(failure.violations.size(), 1u);
    EXPECT_EQ(failure.violations[0].place, "world_id");
    EXPECT_EQ(failure.violations[0].description, "world 'a' stands on version 1, not 2");
  }
}

TEST_F(RegistryTest, ResyncsWatchersThatAreTooFarBehind) {
  options_.navmesh_log_records = 4;
  Reopen();
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  const Epoch known = View().epoch();
  auto slow = *registry_->Watch({"map", "", known}, nullptr);
  EXPECT_THAT(Types(slow->Poll(100)), ElementsAre(Type::kSynced));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Apply({StateChange::Gate({1}, i % 2 == 0)}).ok());
  auto events = slow->Poll(100);
  ASSERT_THAT(Types(events), ElementsAre(Type::kCutOff));
  EXPECT_FALSE(events[0].reason.empty());
  EXPECT_TRUE(slow->Poll(100).empty());
  for (const std::optional<Epoch> stale :
       {std::optional<Epoch>(known), std::optional<Epoch>(Epoch{1'000'000}),
        std::optional<Epoch>()}) {
    auto watcher = *registry_->Watch({"map", "", stale}, nullptr);
    events = watcher->Poll(100);
    ASSERT_THAT(Types(events), ElementsAre(Type::kSnapshot, Type::kSynced));
    EXPECT_EQ(events[0].resync, stale.has_value());
    EXPECT_EQ(events[0].epoch, View().epoch());
  }
}

TEST_F(RegistryTest, TellsAWorldsWatchersOfItsChangesAndItsEnd) {
  ASSERT_TRUE(Publish(1, TestMesh()).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "a", {}, 0).ok());
  auto watcher = *registry_->Watch({"map", "a", std::nullopt}, nullptr);
  EXPECT_THAT(Types(watcher->Poll(100)), ElementsAre(Type::kSnapshot, Type::kSynced));
  ASSERT_TRUE(Apply({StateChange::Gate({1}, false)}, "a").ok());
  ASSERT_TRUE(Update(2, TileMesh(2, 1, 5000)).ok());
  ASSERT_TRUE(registry_->MoveWorld("map", "a", {2}).ok());
  const auto events = watcher->Poll(100);
  ASSERT_THAT(Types(events), ElementsAre(Type::kChange, Type::kChange, Type::kSynced));
  EXPECT_EQ(events[1].change->type, ChangeType::kMoved);
  EXPECT_FALSE(View(0, "a").IsOpen({1}));
  EXPECT_EQ(View(0, "a").version(), NavMeshVersion{2});
  ASSERT_TRUE(registry_->DeleteWorld("map", "a").ok());
  EXPECT_THAT(Types(watcher->Poll(100)), ElementsAre(Type::kGone));
}

TEST_F(RegistryTest, UpdatesTilesOfDetourFiles) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  const std::string file = ReadFile(dir + "/detour/nav_test_tiled_r0.6.bin");
  PublishRequest request;
  request.navmesh_id = "map";
  request.version = {1};
  request.mset = file;
  request.mset_digest = DigestOf(file);
  ASSERT_TRUE(registry_->Publish(request).ok());
  const NavMeshView before = View();
  // Each tile in turn as a file of its own, under a new salt: the same geometry, linked as before.
  const auto content = ReadMset(file);
  const uint32_t shift = content->params.polygon_bits() + content->params.tile_bits();
  size_t at = 40;
  for (size_t i = 0; i < 3; ++i) {
    uint32_t ref, size;
    std::memcpy(&ref, file.data() + at, 4);
    std::memcpy(&size, file.data() + at + 4, 4);
    std::string part = file.substr(0, 40) + file.substr(at, 8 + size);
    at += 8 + size;
    const int32_t one = 1;
    std::memcpy(part.data() + 8, &one, 4);
    UpdateTilesRequest update;
    update.navmesh_id = "map";
    update.version = {2 + i};
    update.mset = part;
    EXPECT_TRUE(registry_->UpdateTiles(update)->replaced_tiles.empty())
        << "the same tile again changes nothing";
    update.version = {100 + i};
    const uint32_t salted = ref + (1u << shift);
    std::memcpy(part.data() + 40, &salted, 4);
    const auto updated = registry_->UpdateTiles(update);
    ASSERT_TRUE(updated.ok()) << updated.status();
    const NavMeshView after = View();
    EXPECT_EQ(after.snapshot().CountLinks(), before.snapshot().CountLinks());
    EXPECT_FALSE(after.snapshot().Find({ref}));
    EXPECT_TRUE(after.snapshot().Find({salted}));
    EXPECT_EQ(after.snapshot().Explain({ref}, "r").reason, NavMeshReason::kReplacedTile);
    EXPECT_EQ(View(1).snapshot().Explain({salted}, "r").reason, NavMeshReason::kReplacedTile);
    std::memcpy(part.data() + 40, &ref, 4);
    // A ref that was given up may come back with the tile that it named, and with no other: the
    // polygons have other kinds of ground.
    update.version = {200 + i};
    update.activate = false;
    EXPECT_TRUE(registry_->UpdateTiles(update).ok());
    int32_t polygons, vertices;
    std::memcpy(&polygons, part.data() + 48 + 24, 4);
    std::memcpy(&vertices, part.data() + 48 + 28, 4);
    for (int32_t p = 0; p < polygons; ++p) part[48 + 100 + 12 * vertices + 32 * p + 31] ^= 1;
    update.version = {300 + i};
    const auto refused = registry_->UpdateTiles(update);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().violations[0].description,
              "its ref " + std::to_string(ref) +
                  " named a tile of other content; a new build needs a new ref");
  }
}

}  // namespace
}  // namespace arclane
