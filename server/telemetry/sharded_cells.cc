// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/sharded_cells.h"

#include <algorithm>
#include <new>

namespace arclane {
namespace {

constexpr size_t kCellsPerLine = 64 / sizeof(std::atomic<uint64_t>);

size_t WholeLines(size_t cells) {
  return std::max<size_t>(1, (cells + kCellsPerLine - 1) / kCellsPerLine) * kCellsPerLine;
}

std::atomic<uint64_t>* NewCells(size_t count, size_t alignment) {
  void* memory =
      ::operator new (count * sizeof(std::atomic<uint64_t>), std::align_val_t{alignment});
  auto* cells = static_cast<std::atomic<uint64_t>*>(memory);
  for (size_t i = 0; i < count; ++i) new (&cells[i]) std::atomic<uint64_t>(0);
  return cells;
}

}  // namespace

ShardedCells::ShardedCells(size_t cell_count)
    : stride_(WholeLines(cell_count)), cells_(NewCells(kShards * stride_, kCacheLine)) {}

void ShardedCells::Free::operator()(std::atomic<uint64_t>* cells) const {
  ::operator delete (cells, std::align_val_t{kCacheLine});
}

size_t ShardedCells::NextShard() {
  static std::atomic<size_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed) % kShards;
}

}  // namespace arclane
