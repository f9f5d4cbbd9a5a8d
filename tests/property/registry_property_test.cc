// SPDX-License-Identifier: Apache-2.0
// Random publishing, updating, changing and planning from many threads against a naive model.
// Whatever the cache answers must be what planning afresh gives on the state that the view names,
// and that state must be what the log of changes says it is. ARCLANE_PROPERTY_STEPS and
// ARCLANE_PROPERTY_SEED set the number of steps and the seed.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "server/cache/route_cache.h"
#include "server/navmesh/corridor_refs.h"
#include "server/navmesh/registry.h"
#include "tests/support/grid_mesh.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;

constexpr int kThreads = 8;
constexpr uint32_t kWidth = 8, kHeight = 8, kTile = 4;
constexpr size_t kMaxPolygons = 100;

uint64_t FromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

// The naive answer: written out in full from the view's own state, with everything that a plan
// could see.
std::string PlanAfresh(const NavMeshView& view, const std::vector<PolygonRef>& refs) {
  const NavMeshSnapshot& mesh = view.snapshot();
  std::string text;
  for (size_t i = 0; i < refs.size(); ++i) {
    const auto at = mesh.Find(refs[i]);
    if (!at) return "unknown";
    const Tile& tile = *mesh.tile(at->slot)->tile;
    text +=
        std::to_string(refs[i].value) + "c" + std::to_string(view.CostOf({tile.area[at->polygon]}));
    for (const uint32_t v : tile.vertices_of(at->polygon))
      text += "," + std::to_string(tile.vertices[v].x) + "/" + std::to_string(tile.vertices[v].z);
    if (mesh.is_link(*at)) text += view.IsEnabled(refs[i]) ? "+" : "-";
    if (i == 0) continue;
    const auto before = mesh.Find(refs[i - 1]);
    const auto crossing = mesh.CrossingBetween(*before, *at);
    if (!crossing) return "apart";
    text +=
        "p" + std::to_string(crossing->ends.left.x) + "," + std::to_string(crossing->ends.right.y);
    for (const GateDefinition& gate : mesh.gates().gates()) {
      for (const GateBorder& border : gate.borders) {
        const bool here = (border.a == refs[i - 1] && border.b == refs[i]) ||
                          (border.b == refs[i - 1] && border.a == refs[i]);
        if (here) text += "g" + std::to_string(gate.id.value) + (view.IsOpen(gate.id) ? "o" : "x");
      }
    }
  }
  return text;
}

// A walk over the mesh, from any polygon to neighbours.
std::vector<PolygonRef> RandomCorridor(const NavMeshSnapshot& mesh, std::mt19937_64& random) {
  uint32_t slot = 0;
  do slot = static_cast<uint32_t>(random() % mesh.slot_count());
  while (mesh.tile(slot) == nullptr);
  // Few starts, so that corridors come again.
  PolygonLocation at{slot, static_cast<uint32_t>(random() % 3)};
  std::vector<PolygonRef> refs = {mesh.RefOf(at)};
  const size_t length = 1 + random() % 4;
  while (refs.size() < length) {
    std::vector<PolygonLocation> next;
    mesh.ForEachLink(at, [&](const PolygonLink& link) {
      if (mesh.CrossingBetween(at, link.to)) next.push_back(link.to);
    });
    if (next.empty()) break;
    at = next[random() % next.size()];
    refs.push_back(mesh.RefOf(at));
  }
  return refs;
}

class Model {
 public:
  explicit Model(uint64_t seed) : seed_(seed) {
    RegistryOptions options;
    options.max_versions = 6;
    options.navmesh_log_records = 1 << 20;
    options.world_log_records = 1 << 20;
    registry_ = *NavMeshRegistry::Open(options, std::make_shared<InMemoryStore>(), 0.0);
    Publish(1);
  }

  void Run(uint64_t steps) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([this, t, steps] {
        std::mt19937_64 random(seed_ * 1000 + t);
        for (uint64_t i = 0; i < steps / kThreads && !::testing::Test::HasFailure(); ++i)
          Step(random);
      });
    }
    std::thread watcher([this] { Watch(); });
    for (std::thread& thread : threads) thread.join();
    done_ = true;
    watcher.join();
  }

  void RunAlone(uint64_t steps) {
    std::mt19937_64 random(seed_);
    for (uint64_t i = 0; i < steps && !::testing::Test::HasFailure(); ++i) Step(random);
  }

  NavMeshRegistry& registry() { return *registry_; }
  RouteCache& cache() { return cache_; }
  uint64_t plans() const { return plans_; }
  uint64_t hits() const { return hits_; }
  uint64_t needless() const { return needless_; }

 private:
  void Publish(uint64_t n) {
    NeutralMesh mesh =
        GridMesh({.width = kWidth, .height = kHeight, .tile = kTile, .first_id = n * 1000});
    for (uint32_t i = 0; i < kWidth * kHeight; ++i) mesh.area.push_back(i % 3);
    for (uint64_t g = 0; g < 6; ++g)
      mesh.gates.push_back({{g}, "", {{{n * 1000 + 9 * g}, {n * 1000 + 9 * g + 1}}}, g % 2 == 0});
    mesh.links = {{.id = n * 1000 + 900,
                   .start = {0.5, 0.5, 0},
                   .end = {7.5, 7.5, 0},
                   .start_polygon = n * 1000,
                   .end_polygon = n * 1000 + 63,
                   .radius = 0.5}};
    PublishRequest request;
    request.navmesh_id = "map";
    request.version = {n};
    request.neutral = &mesh;
    const auto result = registry_->Publish(request);
    EXPECT_TRUE(result.ok() || result.failure().reason == NavMeshReason::kLimitExceeded)
        << result.status();
  }

  void UpdateTile(std::mt19937_64& random) {
    const uint64_t n = ++versions_;
    NeutralMesh mesh =
        GridMesh({.width = kTile, .height = kTile, .tile = kTile, .first_id = n * 1000});
    const int x = static_cast<int>(random() % 2), y = static_cast<int>(random() % 2);
    for (double& v : mesh.x) v += kTile * x;
    for (double& v : mesh.y) v += kTile * y;
    mesh.neighbour.clear();
    mesh.area.assign(kTile * kTile, random() % 3);
    mesh.tiles = {{static_cast<uint64_t>(1000 + 2 * y + x), {x, y, 0}}};
    UpdateTilesRequest request;
    request.navmesh_id = "map";
    request.version = {n};
    request.neutral = &mesh;
    for (uint64_t g = 0; g < 6; ++g) request.gates.push_back({{g}, "", {}, g % 2 == 0});
    request.gates[random() % 6].borders = {{{n * 1000}, {n * 1000 + 1}}};
    const auto result = registry_->UpdateTiles(request);
    EXPECT_TRUE(result.ok() || result.failure().reason == NavMeshReason::kLimitExceeded)
        << result.status();
  }

  static std::string WorldName(std::mt19937_64& random) {
    return "world" + std::to_string(random() % 5);
  }

  void Change(std::mt19937_64& random) {
    ApplyRequest request;
    request.navmesh_id = "map";
    const std::string world = WorldName(random);
    if (random() % 2 == 0) request.world_id = world;
    request.changes = {
        StateChange::Gate({random() % 6}, random() % 2 == 0),
        StateChange::AreaCost({random() % 3}, 1.0 + static_cast<double>(random() % 2))};
    (void)registry_->ApplyChanges(request, 0.0);
  }

  void Step(std::mt19937_64& random) {
    switch (random() % 400) {
      case 0:
        Publish(++versions_);
        return;
      case 1:
      case 2:
        UpdateTile(random);
        return;
      case 3: {
        const auto description = registry_->Get("map");
        if (description.ok())
          (void)registry_->Activate(
              "map", description->versions[random() % description->versions.size()].version);
        return;
      }
      case 4:
        (void)registry_->DeleteWorld("map", WorldName(random));
        return;
      case 5:
      case 6:
        (void)registry_->CreateWorld("map", WorldName(random), {}, 0.0);
        return;
      case 7:
        (void)registry_->MoveWorld("map", WorldName(random), {});
        return;
      default:
        break;
    }
    if (random() % 20 == 0)
      Change(random);
    else
      Plan(random);
  }

  void Plan(std::mt19937_64& random) {
    const std::string world = random() % 2 == 0 ? WorldName(random) : "";
    const auto view = registry_->View("map", {}, world, 0.0);
    if (!view.ok()) {
      EXPECT_EQ(view.failure().reason, NavMeshReason::kUnknownWorld) << view.status();
      return;
    }
    const std::vector<PolygonRef> refs = RandomCorridor(view->snapshot(), random);
    const std::string expected = PlanAfresh(*view, refs);
    std::string request(reinterpret_cast<const char*>(refs.data()),
                        refs.size() * sizeof(PolygonRef));
    const CacheKey key = MakeCacheKey("map", view->lineage().value, request);
    const auto begun = cache_.Begin(key, *view, 1e300, [expected](const FlightOutcome& outcome) {
      EXPECT_EQ(outcome.kind, FlightOutcome::Kind::kValue);
      EXPECT_EQ(static_cast<const EncodedAnswer&>(*outcome.value).bytes(), expected);
    });
    if (begun.value != nullptr) {
      ++hits_;
      EXPECT_EQ(static_cast<const EncodedAnswer&>(*begun.value).bytes(), expected)
          << "version " << view->version().value << " epoch " << view->epoch().value << " world "
          << world;
      return;
    }
    if (!begun.ticket.leads) return;
    const auto corridor = ResolveCorridor(*view, refs, kMaxPolygons);
    ASSERT_TRUE(corridor.ok()) << corridor.status();
    ++plans_;
    NotePlan(key, corridor->read_set);
    cache_.Finish(*begun.ticket.flight, corridor->read_set.dependencies,
                  std::make_shared<EncodedAnswer>(expected));
  }

  // No plan twice for the same request under the same stamps, for nothing is ever evicted here,
  // save that two states with these stamps may have been planned on at the same time.
  void NotePlan(const CacheKey& key, const ReadSet& reads) {
    std::string name = std::to_string(key.lineage) + ":" + std::string(key.request);
    for (const Dependency& d : reads.dependencies)
      name += std::to_string(d.id) + "@" + std::to_string(d.stamp) + ";";
    MutexLock lock(mutex_);
    needless_ += !planned_.insert(std::move(name)).second;
  }

  // Epochs without a gap, and a mirror of gates kept by changes alone equal to the snapshot at the
  // end.
  void Watch() {
    auto watcher = *registry_->Watch({"map", "", std::nullopt}, nullptr);
    uint64_t known = 0;
    std::map<uint64_t, std::map<std::pair<int, uint64_t>, uint64_t>> states;
    for (bool last = false; !last;) {
      last = done_;
      for (auto events = watcher->Poll(64); !events.empty(); events = watcher->Poll(64)) {
        for (const WatchEvent& event : events) {
          ASSERT_NE(event.type, WatchEvent::Type::kCutOff);
          if (event.type == WatchEvent::Type::kSnapshot) {
            known = event.epoch.value;
            for (const auto& v : event.navmesh->versions) {
              for (const StateChange& c : v.states)
                states[v.version.value][{static_cast<int>(c.kind), c.id}] = StampOf(c);
            }
          }
          if (event.type != WatchEvent::Type::kChange) continue;
          ASSERT_EQ(event.epoch.value, ++known);
          const ChangeRecord& record = *event.change;
          if (record.type == ChangeType::kTilesUpdated)
            states[record.version.value] = states[record.base_version.value];
          if (record.type == ChangeType::kStateChanged) {
            for (const StateChange& c : record.changes)
              states[record.version.value][{static_cast<int>(c.kind), c.id}] = StampOf(c);
          }
        }
      }
      std::this_thread::yield();
    }
    const auto end = *registry_->Get("map");
    EXPECT_EQ(end.epoch.value, known);
    for (const VersionDescription& version : end.versions) {
      std::map<std::pair<int, uint64_t>, uint64_t> found;
      for (const StateChange& c : version.states)
        found[{static_cast<int>(c.kind), c.id}] = StampOf(c);
      EXPECT_EQ(found, states[version.version.value]) << version.version.value;
    }
  }

  const uint64_t seed_;
  std::unique_ptr<NavMeshRegistry> registry_;
  RouteCache cache_{{.capacity_bytes = size_t{1} << 30, .shard_count = 8}};
  std::atomic<uint64_t> versions_{1}, plans_{0}, hits_{0}, needless_{0};
  std::atomic<bool> done_{false};
  Mutex mutex_;
  std::set<std::string> planned_ ABSL_GUARDED_BY(mutex_);
};

TEST(RegistryPropertyTest, NeverAnswersWithAnotherState) {
  const uint64_t seed = FromEnvironment("ARCLANE_PROPERTY_SEED", 20240611);
  const uint64_t steps = FromEnvironment("ARCLANE_PROPERTY_STEPS", 100'000);
  std::printf("seed %lu, %lu steps, %d threads\n", seed, steps, kThreads);
  Model model(seed);
  model.Run(steps);
  const CacheCounters counters = model.cache().counters();
  std::printf("%lu hits, %lu plans (%lu twice), %lu coalesced, %lu stale, %lu entries\n",
              model.hits(), model.plans(), model.needless(), counters.coalesced, counters.stale,
              counters.entries);
  EXPECT_EQ(counters.evictions, 0u);
  EXPECT_EQ(model.cache().plans_in_progress(), 0u);
  EXPECT_GT(model.hits(), steps / 20);
  // Only states that differ in what the plan does not read, met at the same time, may plan the same
  // twice; and what 16 other states of the same request have displaced.
  EXPECT_LE(model.needless(), model.plans() / 50);
}

// On one thread, where no two plans meet, nothing is planned twice.
TEST(RegistryPropertyTest, PlansNothingTwiceWhileItFits) {
  Model model(FromEnvironment("ARCLANE_PROPERTY_SEED", 7));
  model.RunAlone(20'000);
  EXPECT_GT(model.hits(), 1000u);
  EXPECT_EQ(model.needless(), 0u);
}

// A version as the naive model of refs sees it: what each of its four tiles is, and its refs.
struct RefTile {
  std::string content;
  uint64_t ref = 0;
  std::vector<uint64_t> polygons;
};
using RefVersion = std::array<RefTile, 4>;

// Updates from any version with few refs and shapes, so that they meet again and again: refused
// exactly when a ref would name other content than in some update before, or than in its base.
TEST(RegistryPropertyTest, ARefNamesOneContentInAllUpdates) {
  const uint64_t seed = FromEnvironment("ARCLANE_PROPERTY_SEED", 11);
  std::mt19937_64 random(seed);
  RegistryOptions options;
  options.max_versions = 8;
  const auto store = std::make_shared<InMemoryStore>();
  auto registry = *NavMeshRegistry::Open(options, store, 0.0);
  std::map<uint64_t, RefVersion> versions;
  std::map<uint64_t, std::set<std::string>> tiles, polygons;  // By ref, what it has named.
  int accepted = 0, refused = 0;
  for (uint64_t n = 1; n <= 3000; ++n) {
    if (n % 100 == 0) registry = *NavMeshRegistry::Open(options, store, 0.0);
    if (n == 1 || random() % 200 == 0) {
      const uint64_t first = random() % 2 * 100;
      const NeutralMesh mesh = GridMesh({.first_id = first});
      PublishRequest publish;
      publish.navmesh_id = "map";
      publish.version = {n};
      publish.neutral = &mesh;
      ASSERT_TRUE(registry->Publish(publish).ok());
      for (uint64_t place = 0; place < 4; ++place) {
        const uint64_t corner = first + place / 2 * 8 + place % 2 * 2;
        versions[n][place] = {"whole" + std::to_string(corner),
                              1000 + place,
                              {corner, corner + 1, corner + 4, corner + 5}};
      }
      continue;
    }
    std::vector<uint64_t> there;
    const NavMeshDescription description = *registry->Get("map");
    for (const VersionDescription& v : description.versions) there.push_back(v.version.value);
    const uint64_t base = there[random() % there.size()];
    const uint64_t place = random() % 4, shape = random() % 2, first = 100 + 4 * (random() % 30);
    const uint64_t ref = random() % 3 == 0 ? 2000 + random() % 8 : 1000 + place;
    NeutralMesh mesh = GridMesh({.width = 2, .height = 2, .tile = 2, .first_id = first});
    for (double& x : mesh.x) x += static_cast<double>(2 * (place % 2));
    for (double& y : mesh.y) y += static_cast<double>(2 * (place / 2));
    mesh.x[4] += 0.25 * static_cast<double>(shape);
    mesh.neighbour.clear();
    mesh.tiles = {{ref, {static_cast<int32_t>(place % 2), static_cast<int32_t>(place / 2), 0}}};
    const RefTile tile = {std::to_string(place) + "," + std::to_string(shape) + "," +
                              std::to_string(first) + "," + std::to_string(ref),
                          ref,
                          {first, first + 1, first + 2, first + 3}};
    RefVersion& before = versions[base];
    bool expected = true;
    if (before[place].content != tile.content) {
      auto known_tiles = tiles, known_polygons = polygons;
      for (const RefTile& t : before) {
        known_tiles[t.ref].insert(t.content);
        for (const uint64_t p : t.polygons) known_polygons[p].insert(t.content);
      }
      const auto names_other = [&](const std::set<std::string>& contents) {
        return contents.size() > contents.count(tile.content);
      };
      if (before[place].ref != tile.ref) expected &= !names_other(known_tiles[tile.ref]);
      for (const uint64_t p : tile.polygons) expected &= !names_other(known_polygons[p]);
    }
    UpdateTilesRequest update;
    update.navmesh_id = "map";
    update.base_version = {base};
    update.version = {n};
    update.neutral = &mesh;
    update.activate = random() % 2 == 0;
    const auto result = registry->UpdateTiles(update);
    ASSERT_EQ(result.ok(), expected) << "seed " << seed << " step " << n << " " << tile.content
                                     << " from " << base << ": " << result.status();
    ++(expected ? accepted : refused);
    if (!expected) continue;
    RefVersion after = before;
    after[place] = tile;
    for (const RefVersion& version : {before, after}) {
      for (const RefTile& t : version) {
        tiles[t.ref].insert(t.content);
        for (const uint64_t p : t.polygons) polygons[p].insert(t.content);
      }
    }
    versions[n] = after;
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace arclane
