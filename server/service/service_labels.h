// SPDX-License-Identifier: Apache-2.0
// The label values of this service's metrics, as the enums that its code uses.
#ifndef ARCLANE_SERVER_SERVICE_SERVICE_LABELS_H_
#define ARCLANE_SERVER_SERVICE_SERVICE_LABELS_H_

#include <cstddef>
#include <string_view>

#include "arclane/v1/route.pb.h"
#include "server/planning/route/plan_stage.h"
#include "server/planning/route/route_plan.h"
#include "server/telemetry/metrics.h"

namespace arclane {

enum class MethodId {
  kPlanCorridor,
  kPlanWaypoints,
  kPlanSpline,
  kPlanSpeed,
  kGetLimits,
  kPing,
  kPingStream,
  kPublishNavMesh,
  kUpdateTiles,
  kApplyChanges,
  kActivateNavMesh,
  kRetireNavMesh,
  kDeleteNavMesh,
  kGetNavMesh,
  kListNavMeshes,
  kReadNavMesh,
  kCreateWorld,
  kMoveWorld,
  kListWorlds,
  kDeleteWorld,
  kInvalidateNavMesh,
  kWatchNavMesh,
  kWatchRoutes,
  kFollow,
  kPlanBatch,
  kPlanStream,
};
enum class ShedReason {
  kQueueFull,      // Too many plans waited.
  kAdmittedBytes,  // The requests in the server were too large together.
  kExpired,        // The deadline passed while the plan waited.
  kCancelled,      // The caller went away while the plan waited.
  kDeadline,       // It could not have been answered in time.
  kOverload,       // More came in than could be planned: the queue stood.
};

// Every label value, in the order of the enums.
MetricLabels ServiceLabels();
std::string_view MethodName(MethodId method);
// Of a path /arclane.v1.Service/Method; for others, such as health's, one beyond the last method.
size_t MethodIndexOf(std::string_view path);
// Of an index of stages.
std::string_view StageName(size_t stage);
// Upper-snake-case name of a gRPC status code, such as INVALID_ARGUMENT.
std::string_view CodeName(int code);
constexpr size_t LabelIndex(MethodId method) { return static_cast<size_t>(method); }
constexpr size_t LabelIndex(ShedReason reason) { return static_cast<size_t>(reason); }
constexpr size_t LabelIndex(Stage stage) { return static_cast<size_t>(stage); }
constexpr size_t LabelIndex(CornerAction action) { return static_cast<size_t>(action); }
// Of the reason of a stop; not kNone.
constexpr size_t LabelIndex(CornerCause cause) { return static_cast<size_t>(cause) - 1; }
// Outcomes that the proto does not know count as UNSPECIFIED.
size_t LabelIndex(v1::Outcome outcome);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_SERVICE_LABELS_H_
