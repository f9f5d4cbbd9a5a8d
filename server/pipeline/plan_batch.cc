// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_batch.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "server/codec/canonical_request.h"
#include "server/codec/field_checks.h"

namespace arclane {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr uint32_t kDefaultChunkBytes = 4'000'000;
constexpr uint32_t kLeastChunkBytes = 1024;
constexpr uint32_t kMostChunkBytes = 16 << 20;
// Tag and value of first_index, at most.
constexpr size_t kMessageHeadBytes = 6;
// A piece that is being filled. Below malloc's threshold for pages of their own.
constexpr size_t kPieceBytes = 64 << 10;
// A range that has made this much is cut: threads further on wait for its place in the order.
constexpr size_t kBlockBytes = 256 << 10;
constexpr uint32_t kMostRangeItems = 32;
// Items up to this size are planned together.
constexpr size_t kSmallItemBytes = 4 << 10;
constexpr uint32_t kRangesPerThread = 4;
constexpr size_t kLeastWindowBytes = 2 << 20;
constexpr size_t kMostTwinBytes = 16 << 20;

constexpr uint32_t kAnswersTag = WireFormatLite::MakeTag(v1::PlanBatchResponse::kAnswersFieldNumber,
                                                         WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
constexpr uint32_t kFirstIndexTag = WireFormatLite::MakeTag(
    v1::PlanBatchResponse::kFirstIndexFieldNumber, WireFormatLite::WIRETYPE_VARINT);

EncodedPiece NewPiece(size_t capacity) {
  return {std::make_unique_for_overwrite<uint8_t[]>(capacity), 0};
}

EncodedPiece FirstIndexPiece(uint32_t first) {
  EncodedPiece piece = NewPiece(kMessageHeadBytes);
  uint8_t* end = CodedOutputStream::WriteVarint32ToArray(kFirstIndexTag, piece.bytes.get());
  end = CodedOutputStream::WriteVarint32ToArray(first, end);
  piece.size = static_cast<size_t>(end - piece.bytes.get());
  return piece;
}

Failure Malformed() {
  Failure failure;
  failure.reason = FailureReason::kMalformedMessage;
  failure.message = "the bytes are no " + v1::PlanBatchRequest::descriptor()->full_name();
  return failure;
}

Failure TooManyItems(size_t count, uint32_t most) {
  Failure failure;
  failure.reason = FailureReason::kTooLarge;
  failure.message = "the batch has " + std::to_string(count) +
                    " items, the limit max_batch_items is " + std::to_string(most);
  failure.metadata = {{"limit", "max_batch_items"},
                      {"maximum", std::to_string(most)},
                      {"requested", std::to_string(count)}};
  return failure;
}

Failure Stopped(FailureReason reason) {
  Failure failure;
  failure.reason = reason;
  failure.message = reason == FailureReason::kDeadlineExceeded
                        ? "the batch's time was over before this item was planned"
                        : "the batch was given up before this item was planned";
  return failure;
}

}  // namespace

Failure LargerThanMessages(size_t bytes, size_t most) {
  Failure failure;
  failure.reason = FailureReason::kTooLarge;
  failure.message = "the answer has " + std::to_string(bytes) +
                    " bytes, messages may have max_chunk_bytes = " + std::to_string(most) +
                    "; ask for larger messages, or for fewer samples or columns";
  failure.metadata = {{"limit", "max_chunk_bytes"},
                      {"maximum", std::to_string(most)},
                      {"requested", std::to_string(bytes)}};
  return failure;
}

uint32_t ChunkBytes(uint32_t asked) {
  return std::min(asked == 0 ? kDefaultChunkBytes : asked, kMostChunkBytes);
}

std::optional<FieldViolation> CheckChunkBytes(uint32_t asked) {
  if (asked == 0 || asked >= kLeastChunkBytes) return std::nullopt;
  return FieldViolation{"max_chunk_bytes", "must be 0 or at least " +
                                               std::to_string(kLeastChunkBytes) + ", got " +
                                               std::to_string(asked)};
}

std::optional<FieldViolation> CheckSharedCacheMode(const v1::PlanShared& shared) {
  if (v1::CacheMode_IsValid(shared.cache_mode())) return std::nullopt;
  return FieldViolation{"shared.cache_mode",
                        "unknown value " + std::to_string(shared.cache_mode())};
}

std::optional<Failure> BatchPlan::Read(std::string_view encoded, const RequestLimits& limits,
                                       std::unique_ptr<BatchPlan>* batch) {
  std::unique_ptr<BatchPlan> made(new BatchPlan(limits));
  if (auto failure = made->Split(encoded)) return failure;
  *batch = std::move(made);
  return std::nullopt;
}

std::optional<Failure> BatchPlan::Split(std::string_view encoded) {
  using Request = v1::PlanBatchRequest;
  CodedInputStream in(reinterpret_cast<const uint8_t*>(encoded.data()),
                      static_cast<int>(encoded.size()));
  uint32_t chunk_bytes = 0;
  size_t item_count = 0;
  uint64_t budget_bits = 0;
  while (const uint32_t tag = in.ReadTag()) {
    if (tag == WireFormatLite::MakeTag(Request::kItemsFieldNumber,
                                       WireFormatLite::WIRETYPE_LENGTH_DELIMITED) ||
        tag == WireFormatLite::MakeTag(Request::kSharedFieldNumber,
                                       WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      uint32_t length = 0;
      if (!in.ReadVarint32(&length)) return Malformed();
      const auto begin = static_cast<size_t>(in.CurrentPosition());
      if (length > encoded.size() - begin) return Malformed();
      const std::string_view piece = encoded.substr(begin, length);
      in.Skip(static_cast<int>(length));
      if (WireFormatLite::GetTagFieldNumber(tag) == Request::kSharedFieldNumber) {
        v1::PlanShared shared;
        if (!shared.ParseFromArray(piece.data(), static_cast<int>(piece.size())))
          return Malformed();
        shared_.MergeFrom(shared);
        shared_may_hold_negative_zero_ |= MayHoldNegativeZero(piece);
      } else if (++item_count <= limits_.max_batch_items) {
        items_.push_back(piece);
      }
    } else if (tag == WireFormatLite::MakeTag(Request::kMaxChunkBytesFieldNumber,
                                              WireFormatLite::WIRETYPE_VARINT)) {
      if (!in.ReadVarint32(&chunk_bytes)) return Malformed();
    } else if (tag == WireFormatLite::MakeTag(Request::kTimeBudgetSFieldNumber,
                                              WireFormatLite::WIRETYPE_FIXED64)) {
      if (!in.ReadLittleEndian64(&budget_bits)) return Malformed();
    } else if (!WireFormatLite::SkipField(&in, tag)) {
      return Malformed();
    }
  }
  if (!in.ConsumedEntireMessage()) return Malformed();
  if (item_count > limits_.max_batch_items)
    return TooManyItems(item_count, limits_.max_batch_items);

  std::vector<FieldViolation> violations;
  if (auto violation = CheckSharedCacheMode(shared_)) violations.push_back(*std::move(violation));
  if (auto violation = CheckChunkBytes(chunk_bytes)) violations.push_back(*std::move(violation));
  time_budget_s_ = std::bit_cast<double>(budget_bits);
  if (!(time_budget_s_ >= 0) || !std::isfinite(time_budget_s_)) {
    violations.push_back(
        {"time_budget_s", "must be >= 0 and finite, got " + NumberText(time_budget_s_)});
  }
  if (!violations.empty()) return InvalidFields(std::move(violations));
  chunk_bytes_ = ChunkBytes(chunk_bytes);
  return std::nullopt;
}

void BatchPlan::Begin(const NavMeshView* view, AnswerStore* store, int thread_count,
                      PreparedPlans* prepared) {
  view_ = view;
  store_ = store;
  prepared_ = prepared;
  range_items_ = std::clamp(
      item_count() / (kRangesPerThread * static_cast<uint32_t>(std::max(thread_count, 1))), 1u,
      kMostRangeItems);
  FindEqualItems();
}

void BatchPlan::FindEqualItems() {
  absl::MutexLock lock(&mutex_);
  absl::flat_hash_map<std::string_view, uint32_t> first;
  first.reserve(items_.size());
  for (uint32_t i = 0; i < item_count(); ++i) {
    const auto [found, is_new] = first.try_emplace(items_[i], i);
    if (is_new) continue;
    if (original_of_.empty()) {
      original_of_.resize(items_.size());
      for (uint32_t k = 0; k < item_count(); ++k) original_of_[k] = k;
    }
    original_of_[i] = found->second;
    ++originals_[found->second].uses_left;
  }
}

std::optional<ItemRange> BatchPlan::TakeRange(uint32_t most) {
  absl::MutexLock lock(&mutex_);
  const bool from_returned = !returned_.empty();
  const uint32_t begin = from_returned ? returned_.begin()->first : next_range_;
  if (begin == item_count()) return std::nullopt;
  // Whatever comes next in the order is always planned: the window opens only behind it.
  const size_t window = std::max(kLeastWindowBytes, 2 * chunk_bytes_);
  if (untaken_bytes_ >= window && begin != ordered_end_) return std::nullopt;
  if (untaken_bytes_ >= window && ordered_bytes_ > 0) return std::nullopt;
  ItemRange range = {begin, from_returned ? returned_.begin()->second : item_count()};
  range.end = std::min(range.end, begin + std::min(most, range_items_));
  if (!from_returned) {
    next_range_ = range.end;
    return range;
  }
  const uint32_t returned_end = returned_.begin()->second;
  returned_.erase(returned_.begin());
  if (range.end < returned_end) returned_[range.end] = returned_end;
  return range;
}

uint32_t BatchPlan::PlanRange(
    ItemRange range, ItemPlanner& planner, StopSignal stop, absl::FunctionRef<bool()> pause,
    absl::FunctionRef<void(const ItemAnswer&, const PlanTrace&, uint32_t)> observe) {
  Block block;
  std::optional<ItemAnswer> stopped;
  bool is_paused = false;
  const auto pauses = [&] { return is_paused = pause(); };
  uint32_t next = range.begin;
  while (next < range.end && block.bytes < kBlockBytes && !is_paused) {
    if (const auto reason = stop()) {
      if (!stopped) stopped.emplace().SetFailure(Stopped(*reason));
      Append(*stopped, next, block);
      KeepForTwins(next, *stopped);
      ++next;
    } else if (AppendTwin(next, block)) {
      ++next;
      pauses();
    } else {
      const uint32_t begin = next;
      next += static_cast<uint32_t>(planner.PlanTogether(
          Together({begin, range.end}), [&](size_t i) { return PathOf(begin + i); }, Shared(), stop,
          pauses,
          [&](size_t i, const ItemAnswer& answer, const PlanTrace& trace) {
            observe(answer, trace, AppendPlanned(answer, begin + static_cast<uint32_t>(i), block));
          }));
    }
  }
  block.end = next;
  absl::MutexLock lock(&mutex_);
  if (next < range.end) returned_[next] = range.end;
  Finish(range.begin, std::move(block));
  return next - range.begin;
}

std::span<const std::string_view> BatchPlan::Together(ItemRange range) const {
  uint32_t end = range.begin + 1;
  const uint32_t most =
      std::min(range.end, range.begin + static_cast<uint32_t>(ItemPlanner::kMostTogether));
  // Large items are planned alone, and those that are copied are not planned.
  while (end < most && items_[end - 1].size() <= kSmallItemBytes &&
         items_[end].size() <= kSmallItemBytes &&
         (original_of_.empty() || original_of_[end] == end)) {
    ++end;
  }
  return {items_.data() + range.begin, end - range.begin};
}

uint32_t BatchPlan::AppendPlanned(const ItemAnswer& planned, uint32_t index, Block& block) {
  const size_t bytes = EntrySize(planned) + kMessageHeadBytes;
  if (bytes <= chunk_bytes_) {
    Append(planned, index, block);
    return KeepForTwins(index, planned);
  }
  ItemAnswer refusal;
  refusal.SetFailure(LargerThanMessages(bytes, chunk_bytes_));
  Append(refusal, index, block);
  return KeepForTwins(index, refusal);
}

size_t BatchPlan::EntrySize(const ItemAnswer& answer) {
  const size_t size = answer.size();
  return 1 + CodedOutputStream::VarintSize32(static_cast<uint32_t>(size)) + size;
}

void BatchPlan::Append(const ItemAnswer& answer, uint32_t index, Block& block) const {
  const size_t size = EntrySize(answer);
  auto& segments = block.segments;
  const bool fits = !segments.empty() && !segments.back().twin_of &&
                    segments.back().piece.size + size <= segments.back().capacity;
  if (!fits) {
    // Room for a range of answers like this one, within what a piece and a message may hold.
    const size_t most = std::min(kPieceBytes, chunk_bytes_ - kMessageHeadBytes);
    Segment& added = segments.emplace_back();
    added.capacity = std::max(size, std::min(most, size * (range_items_ + 1)));
    added.piece = NewPiece(added.capacity);
    added.first = index;
  }
  Segment& segment = segments.back();
  uint8_t* out = segment.piece.bytes.get() + segment.piece.size;
  static_assert(kAnswersTag < 0x80);
  *out++ = static_cast<uint8_t>(kAnswersTag);
  out = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(answer.size()), out);
  answer.WriteTo(out);
  segment.piece.size += size;
  ++segment.count;
  block.bytes += size;
}

bool BatchPlan::AppendTwin(uint32_t index, Block& block) {
  if (original_of_.empty() || original_of_[index] == index) return false;
  const uint32_t original = original_of_[index];
  absl::MutexLock lock(&mutex_);
  Original& state = originals_[original];
  switch (state.state) {
    case Original::State::kDropped:
      Release(original);
      return false;
    case Original::State::kKept: {
      ItemAnswer answer;
      state.twin.AnswerFor(PathOf(index), Shared(), answer);
      Append(answer, index, block);
      Release(original);
      return true;
    }
    case Original::State::kUnplanned:
      break;
  }
  // It comes before this item in the order, so it is there when this one's turn comes.
  state.is_waited_for = true;
  Segment& segment = block.segments.emplace_back();
  segment.first = index;
  segment.count = 1;
  segment.twin_of = original;
  return true;
}

uint32_t BatchPlan::KeepForTwins(uint32_t index, const ItemAnswer& answer) {
  if (original_of_.empty()) return 0;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = originals_.find(index);
    if (found == originals_.end()) return 0;
  }
  ItemTwin twin(answer);
  absl::MutexLock lock(&mutex_);
  Original& state = originals_[index];
  if (!state.is_waited_for && kept_bytes_ + twin.ByteSize() > kMostTwinBytes) {
    state.state = Original::State::kDropped;
    return 0;
  }
  kept_bytes_ += twin.ByteSize();
  state.twin = std::move(twin);
  state.state = Original::State::kKept;
  return state.uses_left;
}

void BatchPlan::Release(uint32_t original) {
  const auto found = originals_.find(original);
  if (--found->second.uses_left > 0) return;
  if (found->second.state == Original::State::kKept) kept_bytes_ -= found->second.twin.ByteSize();
  originals_.erase(found);
}

void BatchPlan::Finish(uint32_t begin, Block block) {
  untaken_bytes_ += block.bytes;
  finished_.emplace(begin, std::move(block));
  while (!finished_.empty() && finished_.begin()->first == ordered_end_) {
    Block next = std::move(finished_.begin()->second);
    finished_.erase(finished_.begin());
    for (Segment& segment : next.segments) {
      if (segment.twin_of) {
        ItemAnswer answer;
        originals_[*segment.twin_of].twin.AnswerFor(PathOf(segment.first), Shared(), answer);
        Block copied;
        Append(answer, segment.first, copied);
        Release(*segment.twin_of);
        segment = std::move(copied.segments[0]);
        untaken_bytes_ += segment.piece.size;
      }
      ordered_bytes_ += segment.piece.size;
      ordered_.push_back(std::move(segment));
    }
    ordered_end_ = next.end;
  }
}

std::optional<BatchMessage> BatchPlan::TakeMessage(size_t least_bytes) {
  absl::MutexLock lock(&mutex_);
  const size_t most = chunk_bytes_ - kMessageHeadBytes;
  const bool enough = ordered_bytes_ >= std::min(least_bytes, most);
  if (ordered_.empty() || (!enough && ordered_end_ < item_count())) return std::nullopt;
  BatchMessage message;
  message.pieces.push_back(FirstIndexPiece(ordered_.front().first));
  message.size = message.pieces[0].size;
  size_t bytes = 0;
  while (!ordered_.empty() && bytes + ordered_.front().piece.size <= most) {
    Segment& segment = ordered_.front();
    bytes += segment.piece.size;
    message.item_count += segment.count;
    message.pieces.push_back(std::move(segment.piece));
    ordered_.pop_front();
  }
  message.size += bytes;
  ordered_bytes_ -= bytes;
  untaken_bytes_ -= bytes;
  return message;
}

bool BatchPlan::has_more_ranges() const {
  absl::MutexLock lock(&mutex_);
  return !returned_.empty() || next_range_ < item_count();
}

bool BatchPlan::done() const {
  absl::MutexLock lock(&mutex_);
  return ordered_end_ == item_count() && ordered_.empty();
}

}  // namespace arclane
