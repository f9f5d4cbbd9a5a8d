// SPDX-License-Identifier: Apache-2.0
// Batches and streams of plans as bytes: items are put into requests, and answers counted, without
// building messages, so that the client costs little beside what it measures.
#ifndef ARCLANE_CLIENT_LOADGEN_PLAN_ITEM_WIRE_H_
#define ARCLANE_CLIENT_LOADGEN_PLAN_ITEM_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arclane {

// A serialised PlanBatchRequest of serialised items and a serialised PlanShared.
std::string BatchOfItems(const std::vector<std::string_view>& items, std::string_view shared);

// A serialised PlanStreamRequest that sets the shared part alone.
std::string StreamShared(std::string_view shared);
// A serialised PlanStreamRequest of one item without its correlation id: StreamItemId(id) must
// follow these bytes.
std::string StreamItemWithoutId(std::string_view item);
// Its last bytes; always kStreamIdBytes.
inline constexpr size_t kStreamIdBytes = 6;
std::string StreamItemId(uint32_t id);

// One answer of a batch or stream.
struct AnsweredItem {
  uint64_t correlation_id = 0;  // Of a stream.
  int code = 0;                 // Its status; 0: OK.
  size_t bytes = 0;             // Of its PlanItemAnswer.
};

// The answers in a serialised PlanBatchResponse or PlanStreamResponse, appended to `answers`; false
// when it is no such message, with what was read until then.
bool ReadBatchResponse(std::string_view bytes, std::vector<AnsweredItem>& answers);
bool ReadStreamResponse(std::string_view bytes, std::vector<AnsweredItem>& answers,
                        bool& going_away);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_PLAN_ITEM_WIRE_H_
