// SPDX-License-Identifier: Apache-2.0
// A picture of a plan along a curve: the curve through its samples with its control points, and
// curvature, speed and accelerations as charts below.
#ifndef ARCLANE_CLIENT_CLI_PLOT_CURVE_PLOT_H_
#define ARCLANE_CLIENT_CLI_PLOT_CURVE_PLOT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "arclane/v1/planner.pb.h"
#include "client/cli/plot/plot_page.h"

namespace arclane {

// Samples asked for where a request asks for none: on the widest map 3 pixels apart.
inline constexpr uint32_t kCurveSampleCount = 300;

// Makes the request ask for samples that a picture can be drawn from: evenly spaced ones where it
// has no rule; distance, position, tangent and curvature among its columns.
void AskForCurveSamples(v1::PlanSplineRequest& request);

// Returns an SVG document; the same plan gives the same bytes. Between two samples the curve is
// drawn as the cubic that has their positions and tangents, or straight without tangents.
// kInvalidArgument when the answer holds no samples with distance and position, columns that do not
// fit together, or numbers that are not finite.
absl::StatusOr<std::string> PlotCurve(const v1::PlanSplineRequest& request,
                                      const v1::PlanSplineResponse& response,
                                      const RoutePlotOptions& options);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_CURVE_PLOT_H_
