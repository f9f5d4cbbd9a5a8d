// SPDX-License-Identifier: Apache-2.0
// PlanWaypoints requests from messages.
#ifndef ARCLANE_SERVER_CODEC_WAYPOINTS_CODEC_H_
#define ARCLANE_SERVER_CODEC_WAYPOINTS_CODEC_H_

#include "arclane/v1/planner.pb.h"
#include "server/codec/frame_codec.h"
#include "server/codec/request_limits.h"
#include "server/planning/geometry/violation.h"
#include "server/planning/route/waypoint_planner.h"

namespace arclane {

struct DecodedWaypointsRequest {
  PlanFrame frame;
  WaypointPlanRequest plan;
};

// Adds every violation found; the result is to be planned only when there are none.
DecodedWaypointsRequest ReadWaypointsRequest(const v1::PlanWaypointsRequest& request,
                                             const RequestLimits& limits, Violations& violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_WAYPOINTS_CODEC_H_
