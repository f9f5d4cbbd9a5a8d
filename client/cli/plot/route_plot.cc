// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/route_plot.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/plot/scene.h"

namespace arclane {
namespace {

std::string OutcomeHeading(const v1::Route& route) {
  switch (route.outcome()) {
    case v1::OUTCOME_COMPLETE:
      return "Route to the goal";
    case v1::OUTCOME_PARTIAL:
      return "Route to the end of a partial corridor";
    case v1::OUTCOME_CANNOT_STOP:
      return "Cannot stop in time: braking path";
    case v1::OUTCOME_START_OFF_ROUTE:
      return "Starts off the route: braking path";
    case v1::OUTCOME_GATE_CLOSED:
      return "No route: a gate is closed";
    case v1::OUTCOME_NEEDS_MOTION_PLANNING:
      return "No route: a corner cannot be driven";
    case v1::OUTCOME_GOAL_SPEED_UNREACHABLE:
      return "Route to the goal, slower there than asked";
    default:
      return absl::StrCat("Outcome ", route.outcome());
  }
}

std::string Plural(size_t count, const char* noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

std::string Subheading(const v1::Route& route, const Scene& scene) {
  if (route.has_blocked()) return route.blocked().detail();
  size_t rounded = 0;
  for (const SceneCorner& corner : scene.corners) {
    if (corner.kind == v1::CORNER_KIND_ROUNDED || corner.kind == v1::CORNER_KIND_MERGED) ++rounded;
  }
  std::string text = absl::StrFormat("length %.6g, %.4g s, ", route.length(), route.duration_s());
  absl::StrAppend(&text, Plural(scene.corners.size(), "corner"));
  if (rounded > 0) absl::StrAppend(&text, " (", rounded, " rounded)");
  absl::StrAppend(&text, ", ", Plural(scene.stops.size(), "stop"));
  if (route.has_braking() && route.braking().overrun() > 0) {
    absl::StrAppendFormat(&text, ", %.4g too far", route.braking().overrun());
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> PlotRoute(const v1::PlanCorridorRequest& request,
                                      const v1::PlanCorridorResponse& response,
                                      const RoutePlotOptions& options) {
  const absl::StatusOr<Scene> scene = BuildScene(request, response);
  if (!scene.ok()) return scene.status();
  return DrawPage(*scene, OutcomeHeading(response.route()), Subheading(response.route(), *scene),
                  options);
}

absl::StatusOr<std::string> PlotRoute(const v1::PlanWaypointsRequest& request,
                                      const v1::PlanWaypointsResponse& response,
                                      const RoutePlotOptions& options) {
  const absl::StatusOr<Scene> scene = BuildScene(request, response);
  if (!scene.ok()) return scene.status();
  const bool is_whole_loop = request.closed() && response.route().outcome() == v1::OUTCOME_COMPLETE;
  const std::string heading = is_whole_loop ? "Closed route" : OutcomeHeading(response.route());
  return DrawPage(*scene, heading, Subheading(response.route(), *scene), options);
}

}  // namespace arclane
