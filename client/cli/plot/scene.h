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
  std::vector<double> sample_speeds;  // As many as samples, or none: then dots have no colour.
  std::vector<PlanePoint> guide;      // The line before its corners were rounded.
  std::string guide_name;
  std::vector<PlanePoint> control;          // Control points of a curve.
  std::vector<PlanePoint> control_polygon;  // Through them; a closed one ends at its first point.
  // Of a curve: its motion at the ends of the trace's segments, one more than those. Empty for a
  // route, whose phases lie on its segments.
  std::vector<TracePoint> curve_points;
  std::optional<PlanePoint> start;  // As asked for.
  std::optional<PlanePoint> goal;
  bool has_speed = true;  // Else the trace's points tell distance and curvature alone.
  bool is_loop = false;   // Start and goal are one mark.
  double body_radius = 0;
  RouteTrace trace;
  // Where the agent is at rest between start and goal, from the speed plan.
  std::vector<SceneStop> stops;
  std::optional<PlanePoint> rest;  // End of a braking path.
  Extent extent;                   // Of all of the above; high >= low.

  // Whether any corner is driven on an arc.
  bool HasArcs() const;
  bool IsCurve() const { return !curve_points.empty(); }
};

// Reads a request and its answer. Cells come from the request's polygons, else from the answer's,
// else from the hulls of successive portals. kInvalidArgument for columns that do not fit together
// and for coordinates that are not finite, naming them.
absl::StatusOr<Scene> BuildScene(const v1::PlanCorridorRequest& request,
                                 const v1::PlanCorridorResponse& response);
// Likewise; cells are the polygons that were to contain the arcs.
absl::StatusOr<Scene> BuildScene(const v1::PlanWaypointsRequest& request,
                                 const v1::PlanWaypointsResponse& response);

// What the plan's columns have wrong with them, as an error of the caller's input.
absl::Status AsArgumentError(const absl::Status& status);

// Parts that all scenes are built of; each adds to `scene`, whose axes and trace are there.
absl::Status AddCorners(const v1::Route& route, Scene& scene);
absl::Status AddSamples(const v1::Route& route, Scene& scene);
absl::Status AddPolygons(const v1::Polygons& polygons, const char* name, Scene& scene);
// Where the trace's agent is at rest inside: turns in place, and boundaries of phases with speed 0.
std::vector<SceneStop> FindStops(const RouteTrace& trace);
// Sets the extent. kInvalidArgument when a coordinate is not finite. The last part.
absl::Status MeasureExtent(Scene& scene);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_SCENE_H_
