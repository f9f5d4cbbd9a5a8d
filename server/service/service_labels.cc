// SPDX-License-Identifier: Apache-2.0
#include "server/service/service_labels.h"

#include <algorithm>
#include <array>
#include <string>

namespace arclane {
namespace {

constexpr std::array<std::string_view, 26> kMethods = {
    "PlanCorridor",      "PlanWaypoints", "PlanSpline",      "PlanSpeed",
    "GetLimits",         "Ping",          "PingStream",      "PublishNavMesh",
    "UpdateTiles",       "ApplyChanges",  "ActivateNavMesh", "RetireNavMesh",
    "DeleteNavMesh",     "GetNavMesh",    "ListNavMeshes",   "ReadNavMesh",
    "CreateWorld",       "MoveWorld",     "ListWorlds",      "DeleteWorld",
    "InvalidateNavMesh", "WatchNavMesh",  "WatchRoutes",     "Follow",
    "PlanBatch",         "PlanStream"};
constexpr std::array<std::string_view, 6> kShedReasons = {
    "queue_full", "admitted_bytes", "expired", "cancelled", "deadline", "overload"};
constexpr std::array<std::string_view, kStageCount> kStages = {
    "queue", "validate", "corridor", "funnel", "corners", "speed", "sample", "encode"};
constexpr std::array<std::string_view, 17> kCodes = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};
constexpr std::string_view kPackagePrefix = "/arclane.v1.";
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

size_t MethodIndexOf(std::string_view path) {
  if (path.substr(0, kPackagePrefix.size()) != kPackagePrefix) return kMethods.size();
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return static_cast<size_t>(std::find(kMethods.begin(), kMethods.end(), name) - kMethods.begin());
}

std::string_view StageName(size_t stage) { return kStages[stage]; }

std::string_view CodeName(int code) {
  constexpr int kUnknown = 2;
  return kCodes[code >= 0 && code < static_cast<int>(kCodes.size()) ? code : kUnknown];
}

size_t LabelIndex(v1::Outcome outcome) {
  return v1::Outcome_IsValid(outcome) ? static_cast<size_t>(outcome) : 0;
}

}  // namespace arclane
