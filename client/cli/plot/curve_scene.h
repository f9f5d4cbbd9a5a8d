// SPDX-License-Identifier: Apache-2.0
// Everything that a picture of a plan along a curve shows.
#ifndef ARCLANE_CLIENT_CLI_PLOT_CURVE_SCENE_H_
#define ARCLANE_CLIENT_CLI_PLOT_CURVE_SCENE_H_

#include "absl/status/statusor.h"
#include "arclane/v1/planner.pb.h"
#include "client/cli/plot/scene.h"

namespace arclane {

// The curve becomes straight segments that follow it within what a picture resolves; its stops
// become corners. Samples may come in any order. Errors as for PlotCurve.
absl::StatusOr<Scene> BuildScene(const v1::PlanSplineRequest& request,
                                 const v1::PlanSplineResponse& response);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_CURVE_SCENE_H_
