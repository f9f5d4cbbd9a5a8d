// SPDX-License-Identifier: Apache-2.0
// The frame of a map: what its axes and its scale are.
#ifndef ARCLANE_CLIENT_CLI_PLOT_MAP_AXES_H_
#define ARCLANE_CLIENT_CLI_PLOT_MAP_AXES_H_

#include "client/cli/plot/map_projection.h"
#include "client/cli/plot/scene.h"
#include "client/cli/plot/svg_writer.h"

namespace arclane {

// Ticks and titles of both axes, to the left of `area`, above and below it, and a scale bar below.
// Classes: tick, axis, axis-title, bar.
void DrawMapAxes(const PlaneAxes& axes, const MapProjection& projection, const PanelArea& area,
                 SvgWriter& svg);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_MAP_AXES_H_
