// SPDX-License-Identifier: Apache-2.0
// What marks the places of a map: corners, ends and stops, with words where there is room for them.
#ifndef ARCLANE_CLIENT_CLI_PLOT_MAP_MARKS_H_
#define ARCLANE_CLIENT_CLI_PLOT_MAP_MARKS_H_

#include "client/cli/plot/map_projection.h"
#include "client/cli/plot/scene.h"
#include "client/cli/plot/svg_writer.h"

namespace arclane {

// Of marks that hide each other one is drawn; labels that would overlap something are left out.
void DrawMarks(const Scene& scene, const MapProjection& projection, const PanelArea& area,
               SvgWriter& svg);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_MAP_MARKS_H_
