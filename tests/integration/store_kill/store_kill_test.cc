// SPDX-License-Identifier: Apache-2.0
// A process that publishes and changes navmeshes is killed at random instants. What it had
// acknowledged must be there afterwards, and of the operation under way all or nothing. 20 rounds,
// 200 with ARCLANE_FULL_TESTS=1; ARCLANE_KILL_ROUNDS sets another number.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "server/navmesh/registry.h"
#include "server/navmesh/sqlite_store.h"
#include "tests/support/grid_mesh.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;

RegistryOptions Options() {
  RegistryOptions options;
  options.max_versions = 6;
  return options;
}

NeutralMesh MeshOf(uint64_t seed) {
  NeutralMesh mesh = GridMesh({.width = 8, .height = 8, .tile = 4, .first_id = seed * 1000});
  mesh.gates = {{{1}, "g", {{{seed * 1000}, {seed * 1000 + 1}}}, true}};
  return mesh;
}

// Operation number `i`: the same on every registry that has seen the operations before it. Some
// fail, always alike.
void Operate(NavMeshRegistry& registry, uint64_t i) {
  std::mt19937_64 random(i * 7919 + 1);
  const auto pick = [&](uint64_t n) { return random() % n; };
  const std::string world = "world" + std::to_string(pick(4));
  switch (pick(10)) {
    case 0: {
      const NeutralMesh mesh = MeshOf(i + 1);
      PublishRequest request;
      request.navmesh_id = "map";
      request.version = {i + 1};
      request.neutral = &mesh;
      request.activate = pick(2) == 0;
      (void)registry.Publish(request);
      break;
    }
    case 1: {
      NeutralMesh mesh =
          GridMesh({.width = 4, .height = 4, .tile = 4, .first_id = (i + 1) * 1000 + 500});
      mesh.neighbour.clear();
      const int x = static_cast<int>(pick(2)), y = static_cast<int>(pick(2));
      for (double& v : mesh.x) v += 4 * x;
      for (double& v : mesh.y) v += 4 * y;
      mesh.tiles = {{static_cast<uint64_t>(1000 + 2 * y + x), {x, y, 0}}};
      UpdateTilesRequest request;
      request.navmesh_id = "map";
      request.version = {i + 1};
      request.neutral = &mesh;
      (void)registry.UpdateTiles(request);
      break;
    }
    case 2:
      (void)registry.CreateWorld("map", world, {}, 0.0);
      break;
    case 3:
      (void)registry.DeleteWorld("map", world);
      break;
    case 4: {
      const auto description = registry.Get("map");
      if (!description.ok()) break;
      const NavMeshVersion version =
          description->versions[pick(description->versions.size())].version;
      if (pick(2) == 0)
        (void)registry.Retire("map", version);
      else
        (void)registry.Activate("map", version);
      break;
    }
    default: {
      ApplyRequest request;
      request.navmesh_id = "map";
      const std::string id = "request" + std::to_string(i);
      request.request_id = id;
      if (pick(3) != 0) request.world_id = world;
      request.changes = {StateChange::Gate({1}, pick(2) == 0),
                         StateChange::AreaCost({pick(5)}, 1.0 + static_cast<double>(pick(9)))};
      (void)registry.ApplyChanges(request, 0.0);
    }
  }
}

// Everything that a client can see, as text.
std::string Seen(const NavMeshRegistry& registry) {
  std::string text;
  const auto states = [&](const std::vector<StateChange>& changes) {
    for (const StateChange& c : changes) {
      text += " " + std::to_string(static_cast<int>(c.kind)) + ":" + std::to_string(c.id) + "=" +
              std::to_string(c.open) + "," + std::to_string(c.cost);
    }
    text += "\n";
  };
  const auto map = registry.Get("map");
  if (map.ok()) {
    text += "epoch " + std::to_string(map->epoch.value) + " active " +
            std::to_string(map->active.value) + "\n";
    for (const VersionDescription& v : map->versions) {
      text += "version " + std::to_string(v.version.value) + " " + v.digest.ToHex() + " base " +
              std::to_string(v.base_version.value) + " retired " + std::to_string(v.retired) +
              " worlds " + std::to_string(v.world_count) + v.damage;
      states(v.states);
    }
  }
  for (const WorldDescription& w : registry.ListWorlds("map", 1000, "").worlds) {
    text += "world " + w.world_id + " " + std::to_string(w.version.value) + " epoch " +
            std::to_string(w.epoch.value);
    states(w.states);
  }
  return text;
}

std::unique_ptr<NavMeshRegistry> OpenDurable(const std::string& directory) {
  auto store = SqliteStore::Open(directory);
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", std::string(store.status().message()).c_str());
    return nullptr;
  }
  auto registry = NavMeshRegistry::Open(Options(), *std::move(store), 0.0);
  return registry.ok() ? *std::move(registry) : nullptr;
}

// Works until it is killed; tells every operation that has returned.
int RunChild(const std::string& directory, uint64_t first, int acknowledge) {
  auto registry = OpenDurable(directory);
  if (registry == nullptr) return 1;
  for (uint64_t i = first;; ++i) {
    Operate(*registry, i);
    if (write(acknowledge, &i, sizeof(i)) != sizeof(i)) return 0;
  }
}

std::string self;

TEST(StoreKillTest, KeepsEveryAcknowledgedChange) {
  const char* wanted = std::getenv("ARCLANE_KILL_ROUNDS");
  const char* full = std::getenv("ARCLANE_FULL_TESTS");
  const int plain = full != nullptr && std::strcmp(full, "1") == 0 ? 200 : 20;
  const int rounds = wanted == nullptr ? plain : std::atoi(wanted);
  const std::string directory = ::testing::TempDir() + "/arclane_kill_" + std::to_string(getpid());
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const uint64_t seed = 977;
  std::printf("seed %lu, %d rounds\n", seed, rounds);
  std::mt19937_64 random(seed);
  // The same operations on a registry that nobody kills.
  auto model = *NavMeshRegistry::Open(Options(), std::make_shared<NullStore>(), 0.0);
  uint64_t done = 0, in_flight_kept = 0;
  for (int round = 0; round < rounds; ++round) {
    int fds[2];
    ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
    const std::string first = std::to_string(done);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      dup2(fds[1], 3);
      execl(self.c_str(), self.c_str(), "--child", directory.c_str(), first.c_str(), nullptr);
      _exit(127);
    }
    close(fds[1]);
    uint64_t acknowledged = done;
    const uint64_t operations =
        1 + random() % 60;  // Killed while one of the next operations is under way.
    uint64_t i = 0;
    while (acknowledged - done < operations && read(fds[0], &i, sizeof(i)) == sizeof(i))
      acknowledged = i + 1;
    ASSERT_EQ(acknowledged - done, operations) << "the child ended by itself";
    usleep(static_cast<useconds_t>(random() % 5000));
    kill(child, SIGKILL);
    while (read(fds[0], &i, sizeof(i)) == sizeof(i)) acknowledged = i + 1;
    close(fds[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));

    for (; done < acknowledged; ++done) Operate(*model, done);
    const auto registry = OpenDurable(directory);
    ASSERT_NE(registry, nullptr);
    EXPECT_TRUE(registry->damage().empty());
    const std::string found = Seen(*registry);
    if (found != Seen(*model)) {
      Operate(*model, done++);  // The operation that was under way.
      ++in_flight_kept;
      ASSERT_EQ(found, Seen(*model))
          << "round " << round << " after " << acknowledged << " acknowledged operations";
    }
  }
  std::printf("%lu operations; in %lu rounds the one under way had been stored\n", done,
              in_flight_kept);
  EXPECT_GT(done, static_cast<uint64_t>(rounds));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace arclane

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--child") == 0) {
    return arclane::RunChild(argv[2], std::strtoull(argv[3], nullptr, 10), 3);
  }
  ::testing::InitGoogleTest(&argc, argv);
  arclane::self = std::filesystem::canonical("/proc/self/exe");
  return RUN_ALL_TESTS();
}
