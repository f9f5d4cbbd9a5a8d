// SPDX-License-Identifier: Apache-2.0
// Publishing, retiring and opening again; changes and worlds.
#include "server/navmesh/registry.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/navmesh/registry_state.h"
#include "tests/unit/navmesh/registry_fixture.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;
using ::testing::ElementsAre;

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

}  // namespace
}  // namespace arclane
