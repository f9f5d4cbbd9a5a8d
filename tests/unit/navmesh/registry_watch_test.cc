// SPDX-License-Identifier: Apache-2.0
// Watchers: what they missed, and lives.
#include "server/navmesh/registry.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/navmesh/registry_fixture.h"

namespace arclane {
namespace {

using ::testing::ElementsAre;
using Type = WatchEvent::Type;

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

}  // namespace
}  // namespace arclane
