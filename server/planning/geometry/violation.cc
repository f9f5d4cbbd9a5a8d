// SPDX-License-Identifier: Apache-2.0
#include "server/planning/geometry/violation.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace arclane {

const char* ViolationReasonName(ViolationReason reason) {
  switch (reason) {
    case ViolationReason::kRequired:
      return "REQUIRED";
    case ViolationReason::kNotFinite:
      return "NOT_FINITE";
    case ViolationReason::kOutOfRange:
      return "OUT_OF_RANGE";
    case ViolationReason::kLengthMismatch:
      return "LENGTH_MISMATCH";
    case ViolationReason::kLimitExceeded:
      return "LIMIT_EXCEEDED";
    case ViolationReason::kTooFewVertices:
      return "TOO_FEW_VERTICES";
    case ViolationReason::kNotConvex:
      return "NOT_CONVEX";
    case ViolationReason::kSelfCrossing:
      return "SELF_CROSSING";
    case ViolationReason::kDegenerate:
      return "DEGENERATE";
    case ViolationReason::kGap:
      return "GAP";
    case ViolationReason::kMixedOrder:
      return "MIXED_ORDER";
    case ViolationReason::kOffCorridor:
      return "OFF_CORRIDOR";
    case ViolationReason::kUnknownValue:
      return "UNKNOWN_VALUE";
    case ViolationReason::kConflict:
      return "CONFLICT";
  }
  return "UNKNOWN";
}

void Violations::Add(ViolationReason reason, std::string field, std::string description) {
  ++total_;
  if (kept_.size() < capacity_) {
    kept_.push_back({std::move(field), std::move(description), reason});
  }
}

void Violations::clear() {
  total_ = 0;
  kept_.clear();
}

std::string Violations::ToString() const {
  std::string text;
  for (const Violation& violation : kept_) {
    if (!text.empty()) text += "; ";
    absl::StrAppend(&text, violation.field, ": ", violation.description);
  }
  if (total_ > kept_.size()) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", "and ", total_ - kept_.size(), " more");
  }
  return text;
}

}  // namespace arclane
