// SPDX-License-Identifier: Apache-2.0
// Planned routes into messages.
#ifndef ARCLANE_SERVER_CODEC_ROUTE_CODEC_H_
#define ARCLANE_SERVER_CODEC_ROUTE_CODEC_H_

#include "arclane/v1/route.pb.h"
#include "server/codec/frame_codec.h"
#include "server/planning/corridor/corridor.h"
#include "server/planning/route/route_plan.h"

namespace arclane {

// Everything but the samples and the corridor. The origin is added again.
void EncodeRoute(const RoutePlan& plan, const PlanFrame& frame, v1::Route* route);

// The corridor as planned in: portals with derived sides, cells.
void EncodeCorridor(const Corridor& corridor, const PlanFrame& frame, v1::Route* route);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_ROUTE_CODEC_H_
