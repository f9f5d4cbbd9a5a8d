// SPDX-License-Identifier: Apache-2.0
// Any bytes as a PlanBatchRequest: it is refused with a reason, or every item is answered once, in
// order, in messages within their bound. What the reader takes for the items is what Protobuf does.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/pipeline/plan_batch.h"
#include "tests/fuzz/small_requests.h"

using arclane::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const arclane::RequestLimits limits = arclane::fuzz::SmallLimits();
  const std::string_view encoded(reinterpret_cast<const char*>(data), size);
  std::unique_ptr<arclane::BatchPlan> batch;
  if (const auto failure = arclane::BatchPlan::Read(encoded, limits, &batch)) {
    arclane::fuzz::RequireTold(*failure);
    return 0;
  }
  // Items are split, not parsed, so that a message may be read here that Protobuf refuses; never
  // the other way round.
  arclane::v1::PlanBatchRequest parsed;
  if (parsed.ParseFromArray(data, static_cast<int>(size))) {
    Require(static_cast<uint32_t>(parsed.items_size()) == batch->item_count(), "as many items");
    Require(parsed.shared().SerializeAsString() == batch->shared().SerializeAsString(),
            "the same shared part");
  }
  batch->Begin(nullptr, nullptr, 1);
  arclane::ItemPlanner planner;
  uint32_t answers = 0;
  while (!batch->done()) {
    if (const auto range = batch->TakeRange(1000)) {
      batch->PlanRange(
          *range, planner, arclane::fuzz::Never, [] { return false; },
          [](const arclane::ItemAnswer&, const arclane::PlanTrace&, uint32_t) {});
    }
    while (const auto message = batch->TakeMessage(1)) {
      std::string bytes;
      for (const arclane::EncodedPiece& piece : message->pieces)
        bytes.append(reinterpret_cast<const char*>(piece.bytes.get()), piece.size);
      Require(bytes.size() <= batch->chunk_bytes(), "a message within its bound");
      arclane::v1::PlanBatchResponse response;
      Require(response.ParseFromString(bytes), "a message of answers");
      Require(response.first_index() == answers, "answers without gaps");
      answers += static_cast<uint32_t>(response.answers_size());
    }
  }
  Require(answers == batch->item_count(), "an answer for each item");
  return 0;
}
