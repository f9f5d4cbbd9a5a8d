// SPDX-License-Identifier: Apache-2.0
// A picture of an agent that followed a route: its track over the map of the route, and its speed
// against the plan's ceiling over time.
#ifndef ARCLANE_CLIENT_CLI_PLOT_FOLLOW_PLOT_H_
#define ARCLANE_CLIENT_CLI_PLOT_FOLLOW_PLOT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "arclane/v1/planner.pb.h"
#include "client/cli/plot/plot_page.h"

namespace arclane {

struct FollowTrackPoint {
  double time_s = 0;
  PlanePoint position;
  double speed = 0;
  double ceiling = 0;  // The plan's highest speed at that place; infinite where there is none.
};

// An instant that is worth a mark.
struct FollowTrackEvent {
  double time_s = 0;
  PlanePoint position;
  std::string text;
};

struct FollowTrack {
  std::vector<FollowTrackPoint> points;  // At least one; ascending in time.
  std::vector<FollowTrackEvent> events;
  std::string title;
  std::string subtitle;
};

// Returns an SVG document; the same track gives the same bytes. Errors as of PlotRoute.
absl::StatusOr<std::string> PlotFollowTrack(const v1::PlanCorridorRequest& request,
                                            const v1::PlanCorridorResponse& response,
                                            const FollowTrack& track,
                                            const RoutePlotOptions& options);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_FOLLOW_PLOT_H_
