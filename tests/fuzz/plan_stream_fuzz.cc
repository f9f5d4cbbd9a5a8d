// SPDX-License-Identifier: Apache-2.0
// Any bytes as a PlanStreamRequest: refused with a reason, or each item gets one answer that can be
// parsed, within the bound.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/pipeline/plan_stream.h"
#include "tests/fuzz/small_requests.h"

using arclane::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const arclane::RequestLimits limits = arclane::fuzz::SmallLimits();
  const std::string_view encoded(reinterpret_cast<const char*>(data), size);
  arclane::StreamMessage message;
  if (const auto failure = arclane::ReadStreamMessage(encoded, &message)) {
    arclane::fuzz::RequireTold(*failure);
    return 0;
  }
  arclane::v1::PlanStreamRequest parsed;
  if (parsed.ParseFromArray(data, static_cast<int>(size))) {
    Require(static_cast<size_t>(parsed.items_size()) == message.items.size(), "as many items");
    for (size_t i = 0; i < message.items.size(); ++i) {
      Require(parsed.items(static_cast<int>(i)).correlation_id() == message.items[i].correlation_id,
              "the items' ids");
    }
  }
  const arclane::v1::PlanShared none;
  const arclane::SharedOfItems shared = {message.shared ? *message.shared : none, nullptr, limits};
  arclane::ItemPlanner planner;
  constexpr size_t kMostItems = 20;
  for (size_t i = 0; i < message.items.size() && i < kMostItems; ++i) {
    arclane::GlanceAtItem(message.items[i].encoded, shared.message);
    const arclane::ItemAnswer& answer =
        planner.Plan(message.items[i].encoded, "item", shared, arclane::fuzz::Never);
    const size_t most = arclane::ChunkBytes(message.max_chunk_bytes);
    const arclane::EncodedPiece piece =
        arclane::EncodeStreamAnswer(message.items[i].correlation_id, answer, most);
    arclane::v1::PlanStreamResponse response;
    Require(response.ParseFromArray(piece.bytes.get(), static_cast<int>(piece.size)),
            "an answer that can be parsed");
    Require(response.answers_size() == 1, "one answer");
    Require(response.answers(0).correlation_id() == message.items[i].correlation_id, "its id");
  }
  return 0;
}
