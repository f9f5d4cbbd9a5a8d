// SPDX-License-Identifier: Apache-2.0
// Publishing, changing, viewing and resolving: what a game server waits for.
#include <malloc.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "server/navmesh/corridor_refs.h"
#include "server/navmesh/registry.h"
#include "server/navmesh/sqlite_store.h"
#include "tests/support/grid_mesh.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;

// Squares in tiles of 16 x 16, one gate a tile.
NeutralMesh MeshOf(uint32_t polygons, uint64_t first_id = 0) {
  const auto side = static_cast<uint32_t>(std::ceil(std::sqrt(polygons)));
  NeutralMesh mesh = GridMesh({.width = side, .height = side, .tile = 16, .first_id = first_id});
  for (uint64_t g = 0; g * 256 + 1 < uint64_t{side} * side; ++g) {
    if ((g * 256 + 1) % side != 0)
      mesh.gates.push_back({{g}, "", {{{first_id + g * 256}, {first_id + g * 256 + 1}}}, true});
  }
  return mesh;
}

class Directory {
 public:
  Directory() {
    path_ =
        std::filesystem::temp_directory_path() / ("arclane_benchmark_" + std::to_string(getpid()));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::unique_ptr<NavMeshRegistry> OpenWith(std::shared_ptr<NavMeshStore> store) {
  return *NavMeshRegistry::Open({}, std::move(store), 0.0);
}
void PublishTo(NavMeshRegistry& registry, const NeutralMesh& mesh, uint64_t version) {
  PublishRequest request;
  request.navmesh_id = "map";
  request.version = {version};
  request.neutral = &mesh;
  if (!registry.Publish(request).ok()) std::abort();
}

void BM_Publish_Durable(benchmark::State& state) {
  Directory directory;
  auto registry = OpenWith(*SqliteStore::Open(directory.path()));
  uint64_t version = 0;
  for (auto _ : state) {
    state.PauseTiming();
    ++version;
    const NeutralMesh mesh = MeshOf(static_cast<uint32_t>(state.range(0)), version << 32);
    state.ResumeTiming();
    PublishTo(*registry, mesh, version);
  }
  state.counters["bytes_a_version"] =
      static_cast<double>((*registry->Get("map")).versions.back().bytes);
}
BENCHMARK(BM_Publish_Durable)
    ->Arg(20'000)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(12)
    ->UseRealTime();

void BM_UpdateTiles_OneOf(benchmark::State& state) {
  auto registry = OpenWith(std::make_shared<NullStore>());
  PublishTo(*registry, MeshOf(static_cast<uint32_t>(state.range(0))), 1);
  uint64_t version = 1;
  for (auto _ : state) {
    state.PauseTiming();
    ++version;
    NeutralMesh mesh = GridMesh({.width = 16, .height = 16, .tile = 16, .first_id = version << 32});
    for (double& v : mesh.x) v += 32;
    for (double& v : mesh.y) v += 32;
    mesh.neighbour.clear();
    const auto view = *registry->View("map", {}, "", 0);
    mesh.tiles = {
        {view.snapshot().tile(*view.snapshot().SlotAt({2, 2, 0}))->tile->ref.value, {2, 2, 0}}};
    UpdateTilesRequest request;
    request.navmesh_id = "map";
    request.version = {version};
    request.neutral = &mesh;
    for (const GateDefinition& gate : view.snapshot().gates().gates()) {
      const auto at = view.snapshot().Find(gate.borders.empty() ? PolygonRef{} : gate.borders[0].a);
      const auto to = view.snapshot().Find(gate.borders.empty() ? PolygonRef{} : gate.borders[0].b);
      const uint32_t slot = *view.snapshot().SlotAt({2, 2, 0});
      if (!gate.borders.empty() && ((at && at->slot == slot) || (to && to->slot == slot)))
        request.gates.push_back({gate.id, "", {}, true});
    }
    state.ResumeTiming();
    if (!registry->UpdateTiles(request).ok()) std::abort();
  }
}
BENCHMARK(BM_UpdateTiles_OneOf)->Arg(20'000)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_ApplyChanges_Gate(benchmark::State& state) {
  Directory directory;
  const bool durable = state.range(0) != 0;
  auto registry =
      OpenWith(durable ? std::shared_ptr<NavMeshStore>(*SqliteStore::Open(directory.path()))
                       : std::make_shared<NullStore>());
  PublishTo(*registry, MeshOf(20'000), 1);
  bool open = false;
  for (auto _ : state) {
    ApplyRequest request;
    request.navmesh_id = "map";
    request.changes = {StateChange::Gate({3}, open = !open)};
    if (!registry->ApplyChanges(request, 0).ok()) std::abort();
  }
}
BENCHMARK(BM_ApplyChanges_Gate)
    ->ArgName("durable")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

std::unique_ptr<NavMeshRegistry> shared_registry;

void BM_View(benchmark::State& state) {
  if (state.thread_index() == 0) {
    shared_registry = OpenWith(std::make_shared<NullStore>());
    PublishTo(*shared_registry, MeshOf(20'000), 1);
  }
  for (auto _ : state) benchmark::DoNotOptimize(shared_registry->View("map", {}, "", 0));
  if (state.thread_index() == 0) shared_registry.reset();
}
BENCHMARK(BM_View)->ThreadRange(1, 2)->UseRealTime();

void BM_ResolveCorridor_Row(benchmark::State& state) {
  auto registry = OpenWith(std::make_shared<NullStore>());
  PublishTo(*registry, MeshOf(20'000), 1);
  const auto view = *registry->View("map", {}, "", 0);
  std::vector<PolygonRef> refs;
  for (int64_t i = 0; i < state.range(0); ++i) refs.push_back({static_cast<uint64_t>(i)});
  for (auto _ : state) benchmark::DoNotOptimize(ResolveCorridor(view, refs, 1000));
}
BENCHMARK(BM_ResolveCorridor_Row)->Arg(8)->Arg(32)->Arg(128);

// Bytes in allocations, their overhead included; resident memory would not show what freed memory
// is used again.
size_t AllocatedBytesNow() { return mallinfo2().uordblks; }

// Memory of worlds over one mesh: counters bytes_untouched and bytes_touched (one gate closed) a
// world.
void BM_Worlds(benchmark::State& state) {
  const int count = static_cast<int>(state.range(0));
  for (auto _ : state) {
    auto registry = OpenWith(std::make_shared<NullStore>());
    PublishTo(*registry, MeshOf(20'000), 1);
    const size_t before = AllocatedBytesNow();
    for (int i = 0; i < count; ++i) {
      if (!registry->CreateWorld("map", "match-" + std::to_string(i), {}, 0).ok()) std::abort();
    }
    const size_t untouched = AllocatedBytesNow();
    for (int i = 0; i < count; ++i) {
      const std::string world = "match-" + std::to_string(i);
      ApplyRequest request;
      request.navmesh_id = "map";
      request.world_id = world;
      request.changes = {StateChange::Gate({3}, false)};
      if (!registry->ApplyChanges(request, 0).ok()) std::abort();
    }
    state.counters["bytes_untouched"] = static_cast<double>(untouched - before) / count;
    state.counters["bytes_touched"] = static_cast<double>(AllocatedBytesNow() - before) / count;
  }
}
BENCHMARK(BM_Worlds)->Arg(50'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace arclane
