// SPDX-License-Identifier: Apache-2.0
// The map of a plan: corridor, route coloured by speed, corners and ends, with axes and a scale
// bar.
#ifndef ARCLANE_CLIENT_CLI_PLOT_MAP_PANEL_H_
#define ARCLANE_CLIENT_CLI_PLOT_MAP_PANEL_H_

#include "client/cli/plot/map_projection.h"
#include "client/cli/plot/scene.h"
#include "client/cli/plot/svg_writer.h"

namespace arclane {

// Draws into `area`; tick labels stand to its left and below.
void DrawMap(const Scene& scene, const PanelArea& area, SvgWriter& svg);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_MAP_PANEL_H_
