// SPDX-License-Identifier: Apache-2.0
// The speed along a curve: its curvature as a profile that never lies below it, a wish for the
// speed merged in, stops where the direction jumps, and the exact plan over that.
//
// The plan keeps its limits on the curve itself, at every distance. The profile is fine only where
// the plan depends on it: a coarse one is planned first, and what its plan touches, or comes near
// to, is cut into so many parts that the time is above that of the curve itself by less than
// kCurveTimeShare. A constraint that a plan does not touch could be left out: refining it changes
// nothing.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_CURVE_SPEED_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_CURVE_SPEED_H_

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "server/planning/route/agent_profile.h"
#include "server/planning/route/wish_layout.h"
#include "server/planning/speed/curvature_profile.h"
#include "server/planning/spline/arc_length.h"
#include "server/planning/spline/curvature_knots.h"

namespace arclane {

struct CurveSpeedRequest {
  AgentProfile agent;
  double start_speed = 0.0;
  double end_speed = 0.0;
  bool flying_lap = false;  // Of a closed curve.
  // Over time since the start; on a flying lap it is laid out as if no limit held the agent back,
  // so that the lap ends as it begins.
  WishedSpeed wish;
  size_t max_nodes =
      size_t{1} << 20;  // Of the first profile; what the plan touches is cut further.
  // As CurvatureProfileRequest::most_extra_phases.
  size_t most_extra_phases = std::numeric_limits<size_t>::max() / 2;
};

// Independent and reserved limits: the time is above the least one of the curve by less than this
// part, unless more than kMostCurveParts parts would be needed. Under a coupled budget the plan is
// off by its own resolution; there the profile is held to a tenth of that.
inline constexpr double kCurveTimeShare = 1e-6;
inline constexpr size_t kMostCurveParts = size_t{1} << 14;

struct CurveSpeed {
  std::vector<double> distance;   // Nodes of the profile, strictly increasing.
  std::vector<double> curvature;  // At the nodes; in between the curve's own is nowhere larger.
  std::vector<double> cap;        // The wish at the nodes; empty without one.
  std::vector<CurveStop> stops;   // Where the direction jumps.
  std::vector<SpeedStop> node_stops;
  CurvatureSpeedPlan plan;

  // Work space: the wish as laid out, the curvature as refined so far, and what is known of its
  // intervals.
  WishLayout wish;
  CurvatureKnots knots;
  CurvatureKnots finer_knots;
  struct Interval {
    bool fine = false;     // As fine as it will be.
    bool touched = false;  // By the plan.
    double weight = 0.0;   // How much its deviation costs, seconds.
  };
  std::vector<Interval> intervals;
  std::vector<uint32_t> parts;
};

// Refines the curvature of the map's curve, as coarsely as the request allows, and finds where its
// direction jumps. RESOURCE_EXHAUSTED when the curve needs more than request.max_nodes.
absl::Status RefineProfile(const ArcLengthMap& map, const CurveSpeedRequest& request,
                           CurveSpeed& result);

// Plans over a refined profile, which becomes finer where it matters: two plans as a rule. A curve
// without length has no phases; its plan is kOk with duration 0. `stop` is asked once in a bounded
// number of steps; the plan is kStopped once it says so.
void PlanCurveSpeed(const ArcLengthMap& map, const CurveSpeedRequest& request,
                    CurvatureWorkspace& workspace, CurveSpeed& result, StopCheck stop = NeverStop);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_CURVE_SPEED_H_
