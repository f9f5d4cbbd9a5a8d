// SPDX-License-Identifier: Apache-2.0
// What the marks and colours of a map mean.
#ifndef ARCLANE_CLIENT_CLI_PLOT_MAP_LEGEND_H_
#define ARCLANE_CLIENT_CLI_PLOT_MAP_LEGEND_H_

#include "client/cli/plot/map_projection.h"
#include "client/cli/plot/scene.h"
#include "client/cli/plot/svg_writer.h"

namespace arclane {

// What the marks mean, and the colours of speed; only what the map drawn into `map` shows. From the
// top of `area`.
void DrawMapLegend(const Scene& scene, const PanelArea& map, const PanelArea& area, SvgWriter& svg);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_MAP_LEGEND_H_
