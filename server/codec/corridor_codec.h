// SPDX-License-Identifier: Apache-2.0
// PlanCorridor requests from messages: columns are borrowed, scalars copied, every field outside
// the corridor's geometry checked here; the geometry is checked where it is built
// (planning/corridor/corridor_builder.h).
#ifndef ARCLANE_SERVER_CODEC_CORRIDOR_CODEC_H_
#define ARCLANE_SERVER_CODEC_CORRIDOR_CODEC_H_

#include <cstdint>
#include <optional>

#include "arclane/v1/planner.pb.h"
#include "server/codec/frame_codec.h"
#include "server/codec/request_limits.h"
#include "server/planning/geometry/violation.h"
#include "server/planning/route/corridor_planner.h"

namespace arclane {

// A gate that the request says is closed and that the corridor depends on.
struct ClosedGate {
  uint32_t portal_index = 0;
  uint64_t gate_id = 0;
};

struct DecodedCorridorRequest {
  PlanFrame frame;
  CorridorPlanRequest plan;               // Borrows from the message.
  std::optional<ClosedGate> closed_gate;  // The first along the corridor.
};

// The geometry that a corridor's refs stand for, found before the request is read.
struct ResolvedCorridor {
  UpAxis up_axis = UpAxis::kZ;
  CoordinatePrecision precision;  // Where the request's frame gives none.
  PolygonColumns polygons;
  PortalColumns portals;
};

// Adds every violation found; the result is to be planned only when there are none. `resolved`: for
// a corridor by reference, otherwise null. Message and geometry must outlive the result.
DecodedCorridorRequest ReadCorridorRequest(const v1::PlanCorridorRequest& request,
                                           const ResolvedCorridor* resolved,
                                           const RequestLimits& limits, Violations& violations);

// The builder's field paths ("portals.left.x[3]", "start.x") as paths within the request.
std::string RequestFieldPath(std::string_view builder_path);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_CORRIDOR_CODEC_H_
