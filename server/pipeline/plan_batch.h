// SPDX-License-Identifier: Apache-2.0
// A batch of plans from its bytes to its messages of answers, for any number of threads. Free of
// gRPC.
//
//   bytes -> split into items, unparsed -> ranges of items -> [each thread: plan, encode into
//   pieces]
//         -> pieces in the order of the items -> messages
#ifndef ARCLANE_SERVER_PIPELINE_PLAN_BATCH_H_
#define ARCLANE_SERVER_PIPELINE_PLAN_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "arclane/v1/planner.pb.h"
#include "server/codec/failure.h"
#include "server/codec/request_limits.h"
#include "server/pipeline/plan_item.h"

namespace arclane {

// Encoded answers of successive items: fields `answers` of a PlanBatchResponse, or, first in a
// message, its field `first_index`.
struct EncodedPiece {
  std::unique_ptr<uint8_t[]> bytes;
  size_t size = 0;
};

// One PlanBatchResponse as pieces; concatenated they are the message.
struct BatchMessage {
  std::vector<EncodedPiece> pieces;
  size_t size = 0;
  uint32_t item_count = 0;
};

// The largest message that a stream or a batch sends where the request asks for `asked`; 0 is the
// default.
uint32_t ChunkBytes(uint32_t asked);
// Nothing, or why a request may not ask for messages of this size.
std::optional<FieldViolation> CheckChunkBytes(uint32_t asked);

// Nothing, or why what the items of a batch or a stream share is refused as a whole.
std::optional<FieldViolation> CheckSharedCacheMode(const v1::PlanShared& shared);

// The failure of an answer that does not fit into one message.
Failure LargerThanMessages(size_t bytes, size_t most);

// Items [begin, end).
struct ItemRange {
  uint32_t begin = 0;
  uint32_t end = 0;
};

// Thread-safe after Begin. Bounded: what is planned and not taken as a message holds little more
// than two messages or 2 MiB, whichever is more, except for the answer of the item at hand on each
// thread; ranges further on are then not handed out. What is kept for equal items holds at most 16
// MiB, and what is waited for.
class BatchPlan {
 public:
  // Splits the request; its own fields are checked, the items' are not. `encoded` outlives the
  // batch. O(items), without a look into them.
  static std::optional<Failure> Read(std::string_view encoded, const RequestLimits& limits,
                                     std::unique_ptr<BatchPlan>* batch);

  uint32_t item_count() const { return static_cast<uint32_t>(items_.size()); }
  const v1::PlanShared& shared() const { return shared_; }
  double time_budget_s() const { return time_budget_s_; }
  size_t chunk_bytes() const { return chunk_bytes_; }
  std::string_view item(uint32_t index) const { return items_[index]; }

  // To be called once, before the first range is taken. Finds equal items, O(bytes). `view`,
  // `store` and `prepared` as in SharedOfItems.
  void Begin(const NavMeshView* view, AnswerStore* store, int thread_count,
             PreparedPlans* prepared = nullptr);

  // The next items, at most `most`, for a thread that has time; nullopt when all are handed out, or
  // as long as too much is planned that was not taken.
  std::optional<ItemRange> TakeRange(uint32_t most);
  // Plans the items of a range that was taken, until `pause` says so behind one of them; what is
  // left is handed out again. `observe` is told of each item that was planned, and how many others
  // its answer is copied to. Returns how many items are answered, at least 1.
  uint32_t PlanRange(
      ItemRange range, ItemPlanner& planner, StopSignal stop, absl::FunctionRef<bool()> pause,
      absl::FunctionRef<void(const ItemAnswer&, const PlanTrace&, uint32_t copies)> observe);

  // The next message once `least_bytes` of it are there, or as much as fits into one, or
  // everything.
  std::optional<BatchMessage> TakeMessage(size_t least_bytes);
  // Not every item was handed out: TakeRange gives none for want of room.
  bool has_more_ranges() const;
  // Every answer was taken.
  bool done() const;

 private:
  struct Segment {
    EncodedPiece piece;
    size_t capacity = 0;
    uint32_t first = 0;
    uint32_t count = 0;
    std::optional<uint32_t> twin_of;  // To be copied from this item once its turn has come.
  };
  struct Block {
    std::vector<Segment> segments;
    uint32_t end = 0;
    size_t bytes = 0;
  };
  // An item that others are equal to.
  struct Original {
    enum class State { kUnplanned, kKept, kDropped };
    State state = State::kUnplanned;
    uint32_t uses_left = 0;
    bool is_waited_for = false;
    ItemTwin twin;
  };

  BatchPlan(const RequestLimits& limits) : limits_(limits) {}
  std::optional<Failure> Split(std::string_view encoded);
  void FindEqualItems();
  SharedOfItems Shared() const {
    return {shared_, view_, limits_, store_, nullptr, shared_may_hold_negative_zero_, prepared_};
  }
  std::string PathOf(uint32_t index) const { return "items[" + std::to_string(index) + "]"; }
  // Bytes of an answer within a message.
  static size_t EntrySize(const ItemAnswer& answer);
  void Append(const ItemAnswer& answer, uint32_t index, Block& block) const;
  // Those of the range, from its first on, that are planned together.
  std::span<const std::string_view> Together(ItemRange range) const;
  // How many other items the answer is kept for.
  uint32_t AppendPlanned(const ItemAnswer& planned, uint32_t index, Block& block);
  // Whether the item's answer is there, or will be, without planning it.
  bool AppendTwin(uint32_t index, Block& block);
  uint32_t KeepForTwins(uint32_t index, const ItemAnswer& answer);
  void Release(uint32_t original) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Finish(uint32_t begin, Block block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const RequestLimits& limits_;
  std::vector<std::string_view> items_;
  v1::PlanShared shared_;
  bool shared_may_hold_negative_zero_ = false;
  size_t chunk_bytes_ = 0;
  double time_budget_s_ = 0;
  const NavMeshView* view_ = nullptr;
  AnswerStore* store_ = nullptr;
  PreparedPlans* prepared_ = nullptr;
  uint32_t range_items_ = 1;
  std::vector<uint32_t> original_of_;  // Of each item, itself unless equal; empty: all differ.

  mutable absl::Mutex mutex_;
  uint32_t next_range_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint32_t, uint32_t> returned_ ABSL_GUARDED_BY(mutex_);  // Ranges by their begin.
  std::map<uint32_t, Block> finished_ ABSL_GUARDED_BY(mutex_);     // By the first item.
  uint32_t ordered_end_ ABSL_GUARDED_BY(mutex_) = 0;  // All before are in ordered_, or taken.
  std::deque<Segment> ordered_ ABSL_GUARDED_BY(mutex_);
  size_t ordered_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t untaken_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // Of ordered_ and finished_.
  absl::flat_hash_map<uint32_t, Original> originals_ ABSL_GUARDED_BY(mutex_);
  size_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_PLAN_BATCH_H_
