// SPDX-License-Identifier: Apache-2.0
#include "server/service/stream_end.h"

#include "server/codec/failure.h"
#include "server/navmesh/result.h"
#include "server/service/status_mapping.h"

namespace arclane {

grpc::Status StatusOf(const v1::GoingAway& going_away) {
  Failure failure;
  failure.message = going_away.detail();
  switch (going_away.reason()) {
    case v1::STREAM_END_TOO_SLOW:
      failure.own_reason = "WATCHER_TOO_SLOW";
      failure.own_code = absl::StatusCode::kResourceExhausted;
      break;
    case v1::STREAM_END_WORLD_DELETED:
      failure.own_reason = NavMeshReasonName(NavMeshReason::kUnknownWorld);
      failure.own_code = NavMeshReasonCode(NavMeshReason::kUnknownWorld);
      break;
    default:
      failure.reason = FailureReason::kDraining;
      break;
  }
  return ToStatus(failure);
}

}  // namespace arclane
