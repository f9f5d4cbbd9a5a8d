// SPDX-License-Identifier: Apache-2.0
// A picture of one route: the map, and its speed and accelerations as charts below.
#ifndef ARCLANE_CLIENT_CLI_PLOT_ROUTE_PLOT_H_
#define ARCLANE_CLIENT_CLI_PLOT_ROUTE_PLOT_H_

#include <string>

#include "absl/status/statusor.h"
#include "arclane/v1/planner.pb.h"
#include "client/cli/plot/plot_page.h"

namespace arclane {

// Returns an SVG document; the same plan gives the same bytes. Works for answers without a route,
// too: the map then shows the corridor and what blocks it. kInvalidArgument when the messages hold
// columns that do not fit together or numbers that are not finite.
absl::StatusOr<std::string> PlotRoute(const v1::PlanCorridorRequest& request,
                                      const v1::PlanCorridorResponse& response,
                                      const RoutePlotOptions& options);
absl::StatusOr<std::string> PlotRoute(const v1::PlanWaypointsRequest& request,
                                      const v1::PlanWaypointsResponse& response,
                                      const RoutePlotOptions& options);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_ROUTE_PLOT_H_
