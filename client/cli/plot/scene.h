// SPDX-License-Identifier: Apache-2.0
// Everything that a picture of one plan shows, in the plane of travel.
#ifndef ARCLANE_CLIENT_CLI_PLOT_SCENE_H_
#define ARCLANE_CLIENT_CLI_PLOT_SCENE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "arclane/v1/planner.pb.h"
#include "client/cli/plot/route_trace.h"

namespace arclane {

struct ScenePortal {
  PlanePoint left;
  PlanePoint right;
  bool blocked = false;
};

struct SceneCorner {
  PlanePoint position;
  int kind = 0;    // v1::CornerKind.
  int reason = 0;  // v1::CornerReason.
  bool blocked = false;
};

struct SceneStop {
  double distance = 0;
  double time_s = 0;      // Arrival.
  double duration_s = 0;  // Of the turn in place; 0 without one.
};

struct Extent {
  PlanePoint low;
  PlanePoint high;
};

struct Scene {
  PlaneAxes axes{v1::UP_AXIS_Z};
  std::vector<std::vector<PlanePoint>> cells;
  std::vector<std::pair<PlanePoint, PlanePoint>> links;
  std::vector<ScenePortal> portals;
  std::vector<SceneCorner> corners;
  std::vector<PlanePoint> samples;
  PlanePoint start;  // As asked for.
  PlanePoint goal;
  double body_radius = 0;
  RouteTrace trace;
  // Where the agent is at rest between start and goal, from the speed plan.
  std::vector<SceneStop> stops;
  std::optional<PlanePoint> rest;  // End of a braking path.
  Extent extent;                   // Of all of the above; high >= low.

  // Whether any corner is driven on an arc.
  bool HasArcs() const;
};

// Reads a request and its answer. Cells come from the request's polygons, else from the answer's,
// else from the hulls of successive portals. kInvalidArgument for columns that do not fit together
// and for coordinates that are not finite, naming them.
absl::StatusOr<Scene> BuildScene(const v1::PlanCorridorRequest& request,
                                 const v1::PlanCorridorResponse& response);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_SCENE_H_
