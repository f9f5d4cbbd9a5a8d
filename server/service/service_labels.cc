// SPDX-License-Identifier: Apache-2.0
#include "server/service/service_labels.h"

#include <array>
#include <string>

namespace arclane {
namespace {

constexpr std::array<std::string_view, 24> kMethods = {
    "PlanCorridor",      "PlanWaypoints", "PlanSpline",      "PlanSpeed",
    "GetLimits",         "Ping",          "PingStream",      "PublishNavMesh",
    "UpdateTiles",       "ApplyChanges",  "ActivateNavMesh", "RetireNavMesh",
    "DeleteNavMesh",     "GetNavMesh",    "ListNavMeshes",   "ReadNavMesh",
    "CreateWorld",       "MoveWorld",     "ListWorlds",      "DeleteWorld",
    "InvalidateNavMesh", "WatchNavMesh",  "WatchRoutes",     "Follow"};
constexpr std::array<std::string_view, 4> kShedReasons = {"queue_full", "admitted_bytes", "expired",
                                                          "cancelled"};
constexpr std::array<std::string_view, kStageCount> kStages = {
    "queue", "validate", "corridor", "funnel", "corners", "speed", "sample", "encode"};
constexpr std::string_view kOutcomePrefix = "OUTCOME_";
constexpr std::string_view kCornerKindPrefix = "CORNER_KIND_";
constexpr std::string_view kCornerReasonPrefix = "CORNER_REASON_";
// The domain's enums of corners are those of the messages; that of kinds lacks the unset value.
static_assert(static_cast<int>(CornerAction::kPassed) + 1 == v1::CORNER_KIND_PASSED);
static_assert(static_cast<int>(CornerCause::kWorkBudget) == v1::CORNER_REASON_WORK_BUDGET);
static_assert(v1::CornerKind_MAX == v1::CORNER_KIND_PASSED);
static_assert(v1::CornerReason_MAX == v1::CORNER_REASON_WORK_BUDGET);

}  // namespace

MetricLabels ServiceLabels() {
  MetricLabels labels;
  labels.methods.assign(kMethods.begin(), kMethods.end());
  labels.shed_reasons.assign(kShedReasons.begin(), kShedReasons.end());
  labels.stages.assign(kStages.begin(), kStages.end());
  for (int outcome = 0; outcome < v1::Outcome_ARRAYSIZE; ++outcome) {
    const std::string& name = v1::Outcome_Name(outcome);
    labels.outcomes.push_back(name.empty() ? std::to_string(outcome)
                                           : name.substr(kOutcomePrefix.size()));
  }
  for (int kind = 1; kind < v1::CornerKind_ARRAYSIZE; ++kind) {
    labels.corner_kinds.push_back(v1::CornerKind_Name(kind).substr(kCornerKindPrefix.size()));
  }
  for (int reason = 1; reason < v1::CornerReason_ARRAYSIZE; ++reason) {
    labels.corner_stop_reasons.push_back(
        v1::CornerReason_Name(reason).substr(kCornerReasonPrefix.size()));
  }
  return labels;
}

std::string_view MethodName(MethodId method) { return kMethods[LabelIndex(method)]; }

size_t LabelIndex(v1::Outcome outcome) {
  return v1::Outcome_IsValid(outcome) ? static_cast<size_t>(outcome) : 0;
}

}  // namespace arclane
