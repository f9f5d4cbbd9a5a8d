// SPDX-License-Identifier: Apache-2.0
// Numbers that many threads add to all the time and one reads now and then.
//
// Each shard holds every cell, and a thread adds to the cells of one shard: a few threads share a
// shard at most, so that adding is an uncontended atomic instruction as long as there are no more
// than kShards busy threads, and right however many there are.
#ifndef ARCLANE_SERVER_TELEMETRY_SHARDED_CELLS_H_
#define ARCLANE_SERVER_TELEMETRY_SHARDED_CELLS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace arclane {

// Thread-safe. Takes 8 bytes a cell and shard.
class ShardedCells {
 public:
  static constexpr size_t kShards = 16;  // A power of two.

  // All cells are 0.
  explicit ShardedCells(size_t cell_count);

  // Modulo 2^64: adding ~0 takes 1 away. A few nanoseconds.
  void Add(size_t cell, uint64_t amount) {
    cells_[ThreadShard() * stride_ + cell].fetch_add(amount, std::memory_order_relaxed);
  }
  // What was added by all threads; additions that are made meanwhile are in it or not.
  uint64_t Sum(size_t cell) const {
    uint64_t sum = 0;
    for (size_t shard = 0; shard < kShards; ++shard)
      sum += cells_[shard * stride_ + cell].load(std::memory_order_relaxed);
    return sum;
  }

 private:
  static constexpr size_t kCacheLine = 64;
  struct Free {
    void operator()(std::atomic<uint64_t>* cells) const;
  };

  // The shard of this thread: given at its first addition, in turn.
  static size_t ThreadShard() {
    thread_local size_t shard_plus_one = 0;
    if (shard_plus_one == 0) [[unlikely]]
      shard_plus_one = NextShard() + 1;
    return shard_plus_one - 1;
  }
  static size_t NextShard();

  const size_t stride_;  // Cells from one shard to the next: whole cache lines.
  const std::unique_ptr<std::atomic<uint64_t>[], Free> cells_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_SHARDED_CELLS_H_
