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
constexpr std::array<std::string_view, 4> kStages = {"queue", "parse", "plan", "encode"};
constexpr std::string_view kOutcomePrefix = "OUTCOME_";

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
  return labels;
}

std::string_view MethodName(MethodId method) { return kMethods[LabelIndex(method)]; }

size_t LabelIndex(v1::Outcome outcome) {
  return v1::Outcome_IsValid(outcome) ? static_cast<size_t>(outcome) : 0;
}

}  // namespace arclane
