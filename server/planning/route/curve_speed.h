// SPDX-License-Identifier: Apache-2.0
// The speed along a curve: its curvature refined into a profile, a wish for the speed merged in,
// stops where the direction jumps, and the exact plan over that.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_CURVE_SPEED_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_CURVE_SPEED_H_

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "server/planning/route/agent_profile.h"
#include "server/planning/speed/curvature_profile.h"
#include "server/planning/spline/arc_length.h"
#include "server/planning/spline/curvature_knots.h"

namespace arclane {

enum class WishOver : uint8_t { kNothing, kDistance, kTime };

// Speeds at increasing distances or times (as many as speeds, finite, speeds >= 0), with constant
// acceleration between them; constant before the first and behind the last.
struct WishedSpeed {
  WishOver over = WishOver::kNothing;
  std::span<const double> at;
  std::span<const double> speed;
};

struct CurveSpeedRequest {
  AgentProfile agent;
  double start_speed = 0.0;
  double end_speed = 0.0;
  bool flying_lap = false;  // Of a closed curve.
  WishedSpeed wish;
};

struct CurveSpeed {
  std::vector<double> distance;   // Nodes of the profile, strictly increasing.
  std::vector<double> curvature;  // At the nodes.
  std::vector<double> cap;        // The wish at the nodes; empty without one.
  std::vector<CurveStop> stops;   // Where the direction jumps.
  std::vector<SpeedStop> node_stops;
  CurvatureSpeedPlan plan;
};

// Refines the curvature of the map's curve and finds where its direction jumps. RESOURCE_EXHAUSTED
// when the curve needs more nodes than the refinement allows.
absl::Status RefineProfile(const ArcLengthMap& map, CurveSpeed& result);

// Plans over a refined profile. A curve without length has no phases; its plan is kOk with duration
// 0.
void PlanCurveSpeed(const CurveSpeedRequest& request, CurvatureWorkspace& workspace,
                    CurveSpeed& result);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_CURVE_SPEED_H_
