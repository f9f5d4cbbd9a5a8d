// SPDX-License-Identifier: Apache-2.0
// The charts below the map: speed, acceleration and lateral acceleration with their limits, over
// distance and over time; for curves their curvature, too.
#ifndef ARCLANE_CLIENT_CLI_PLOT_CHART_PANEL_H_
#define ARCLANE_CLIENT_CLI_PLOT_CHART_PANEL_H_

#include "client/cli/plot/map_projection.h"
#include "client/cli/plot/scene.h"
#include "client/cli/plot/svg_writer.h"

namespace arclane {

// Height of all charts of this scene, titles included; 0 when there is nothing to show. The
// lateral chart is there only when the route has arcs; a curve without speed plan has its curvature
// alone.
double ChartsHeight(const Scene& scene);

// Draws them into `area`: distance on the left, time on the right if there is a speed plan.
void DrawCharts(const Scene& scene, const PanelArea& area, SvgWriter& svg);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_CHART_PANEL_H_
