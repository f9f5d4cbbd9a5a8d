// SPDX-License-Identifier: Apache-2.0
// The stages of a plan, and how planning tells that one has ended. Planning knows no clock: whoever
// wants times takes them when told.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_PLAN_STAGE_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_PLAN_STAGE_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"

namespace arclane {

// In the order of a request's way; planning itself tells of kCorridor to kSpeed.
enum class Stage : uint8_t {
  kQueue,     // Waiting for a thread.
  kValidate,  // Parsing the message, reading and checking its fields.
  kCorridor,  // Building the geometry that is planned in: the corridor; a curve and its arc
              // lengths.
  kFunnel,    // The shortest line, and the distance to the walls where one is to be kept.
  kCorners,   // Rounding or stopping at corners, the proof, heights.
  kSpeed,     // The speed plan.
  kSample,    // Samples into their columns.
  kEncode,    // The rest of the answer, and the message as bytes.
};
inline constexpr size_t kStageCount = 8;

// Called when a stage has ended that began when the one before it ended. A stage may end several
// times; its time is then the sum.
using StageMark = absl::FunctionRef<void(Stage)>;

inline void IgnoreStage(Stage) {}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_PLAN_STAGE_H_
