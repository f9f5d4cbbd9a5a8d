// SPDX-License-Identifier: Apache-2.0
// Messages of PlanStream: split without parsing the items, and answers encoded. Free of gRPC.
#ifndef ARCLANE_SERVER_PIPELINE_PLAN_STREAM_H_
#define ARCLANE_SERVER_PIPELINE_PLAN_STREAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "arclane/v1/planner.pb.h"
#include "server/codec/failure.h"
#include "server/pipeline/plan_batch.h"
#include "server/pipeline/plan_item.h"

namespace arclane {

struct StreamItem {
  uint64_t correlation_id = 0;
  std::optional<uint64_t> agent_id;
  double time_budget_s = 0;  // 0: none.
  std::string_view encoded;  // A PlanItem.
};

// A PlanStreamRequest; borrows from its bytes.
struct StreamMessage {
  std::unique_ptr<v1::PlanShared> shared;  // Null: as before.
  std::vector<uint64_t> cancelled;
  std::vector<StreamItem> items;
  uint32_t max_chunk_bytes = 0;  // 0: as before.
};

// What is wrong with the message itself; faults of items are told by their answers. O(items),
// without a look into them.
std::optional<Failure> ReadStreamMessage(std::string_view encoded, StreamMessage* message);

// What is wrong with an item beside its plan.
std::optional<Failure> CheckStreamItem(const StreamItem& item);

// One field `answers` of a PlanStreamResponse. An answer that is larger than `most` bytes becomes
// RESOURCE_EXHAUSTED, which tells its size.
EncodedPiece EncodeStreamAnswer(uint64_t correlation_id, const ItemAnswer& answer, size_t most);
// The field `going_away` of the last message.
EncodedPiece EncodeGoingAway(std::string_view detail);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_PLAN_STREAM_H_
