// SPDX-License-Identifier: Apache-2.0
// Reading a Detour file takes at most four times its size in memory, also where the file is cut off
// or damaged: no count in it is believed before it is checked. Counts what operator new gives.
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/navmesh/mset_reader.h"
#include "server/navmesh/snapshot.h"
#include "tests/support/reference_data.h"

namespace {

std::atomic<size_t> held{0};
std::atomic<size_t> peak{0};

void* Counted(size_t size) {
  void* memory = std::malloc(std::max<size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc();
  const size_t now = held.fetch_add(malloc_usable_size(memory)) + malloc_usable_size(memory);
  size_t before = peak.load();
  while (before < now && !peak.compare_exchange_weak(before, now)) continue;
  return memory;
}

void Release(void* memory) {
  if (memory != nullptr) held.fetch_sub(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return Counted(size); }
void* operator new[](size_t size) { return Counted(size); }
void operator delete(void* memory) noexcept { Release(memory); }
void operator delete[](void* memory) noexcept { Release(memory); }
void operator delete(void* memory, size_t) noexcept { Release(memory); }
void operator delete[](void* memory, size_t) noexcept { Release(memory); }

namespace arclane {
namespace {

constexpr double kMostOfSize = 4.0;
// What an error that lists its violations may take, for files of any size.
constexpr double kReport = 64 << 10;

// The most that reading the file and putting its tiles together takes at once, in bytes.
double PeakOf(const std::string& file) {
  const size_t before = held.load();
  peak.store(before);
  auto read = ReadMset(file, {.keep_stored = true});
  if (read.ok()) {
    MeshInfo info;
    info.params = read->params;
    std::vector<std::shared_ptr<const Tile>> tiles;
    for (const ReadTile& tile : read->tiles) tiles.push_back(tile.tile);
    std::atomic<uint64_t> stamp{1};
    (void)NavMeshSnapshot::Assemble(info, std::move(tiles),
                                    std::make_shared<GateTable>(std::vector<GateDefinition>{}),
                                    nullptr, stamp);
  }
  return static_cast<double>(peak.load() - before);
}

TEST(MsetMemoryTest, TakesAtMostFourTimesTheFile) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  const uint64_t seed = 20240609;
  std::mt19937_64 random(seed);
  double worst = 0.0;
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir + "/detour")) {
    if (entry.path().extension() != ".bin") continue;
    ++files;
    const std::string file = testing::ReadFile(entry.path());
    const auto size = static_cast<double>(file.size());
    const double whole = PeakOf(file);
    worst = std::max(worst, whole / size);
    EXPECT_LE(whole, kMostOfSize * size) << entry.path();
    for (int i = 0; i < 200; ++i) {
      std::string damaged = file;
      damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
      if (i % 4 == 0) damaged.resize(1 + random() % damaged.size());
      ASSERT_LE(PeakOf(damaged), kMostOfSize * static_cast<double>(damaged.size()) + kReport)
          << entry.path() << " damage " << i << " seed " << seed;
    }
  }
  std::printf("%zu files, at most %.2f times their size\n", files, worst);
  EXPECT_GT(files, 0u);
}

}  // namespace
}  // namespace arclane
