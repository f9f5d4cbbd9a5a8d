// SPDX-License-Identifier: Apache-2.0
// Versions made of others by new tiles, and refs that never come back.
#include "server/navmesh/registry.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/navmesh/registry_state.h"
#include "tests/support/reference_data.h"
#include "tests/unit/navmesh/registry_fixture.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;
using ::arclane::testing::ReadFile;
using ::testing::ElementsAre;

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
  ASSERT_EQ(lost.failure().violations.size(), 2u) << lost.status();
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(lost.failure().violations[i].place, "request.gates");
    EXPECT_THAT(lost.failure().violations[i].description,
                ::testing::StartsWith(absl::StrCat("gate ", i + 1, " of the base version: ")));
  }
  const auto moved =
      Update(2, TileMesh(0, 0, 5000),
             {{{1}, "front", {{{5001}, {2}}}, true}, {{2}, "back", {{{5000}, {5002}}}, false}});
  ASSERT_TRUE(moved.ok()) << moved.status();
}

// What is missing is an active version, not a version 0.
TEST_F(RegistryTest, NeedsAnActiveVersionWhereNoneIsNamed) {
  ASSERT_TRUE(Publish(1, TestMesh(), /*activate=*/false).ok());
  ASSERT_TRUE(registry_->CreateWorld("map", "match", {1}, 0).ok());
  const auto expect = [](const NavMeshFailure& failure) {
    EXPECT_EQ(failure.reason, NavMeshReason::kNoActiveVersion);
    EXPECT_EQ(failure.message, "navmesh 'map' has no active version");
  };
  expect(Update(2, TileMesh(2, 1, 5000)).failure());
  expect(Apply({StateChange::Gate({1}, false)}).failure());
  expect(registry_->CreateWorld("map", "other", {}, 0).failure());
  expect(registry_->MoveWorld("map", "match", {}).failure());
  expect(registry_->View("map", {}, "", 0).failure());
  // Of a version that was published as a whole there is no base that could be meant.
  expect(Update(1, TileMesh(2, 1, 5000)).failure());
  ASSERT_TRUE(registry_->Activate("map", {1}).ok());
  EXPECT_EQ(Update(1, TileMesh(2, 1, 5000)).failure().reason, NavMeshReason::kVersionExists);
  EXPECT_EQ(registry_->MoveWorld("map", "match", {9}).failure().reason,
            NavMeshReason::kUnknownVersion);
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
