// SPDX-License-Identifier: Apache-2.0
// The symbols of a map, which its picture and its legend share.
#ifndef ARCLANE_CLIENT_CLI_PLOT_MAP_SYMBOLS_H_
#define ARCLANE_CLIENT_CLI_PLOT_MAP_SYMBOLS_H_

#include <string>

#include "client/cli/plot/map_projection.h"
#include "client/cli/plot/scene.h"
#include "client/cli/plot/svg_writer.h"

namespace arclane {

// The parts of the route of one speed have one of so many colours.
inline constexpr int kSpeedColors = 48;
// The colour of a speed, as an index and as the attribute of what is filled with it.
int SpeedColor(double speed, double largest);
std::string SpeedFill(double speed, double largest);

inline constexpr double kSampleRadius = 1.5;
inline constexpr double kSpeedDotRadius = 3.4;  // Of samples that show their speed.
// Whether dots at the samples can be told apart.
bool ShowsSamples(const Scene& scene, const MapProjection& projection);

// Pixels; 0 for a body that the line of the route hides.
double BodyWidth(const Scene& scene, const MapProjection& projection);

// A point that the curve is made from.
void DrawControlPoint(Pixel center, SvgWriter& svg);
// A stop: an octagon, as on roads.
void DrawStop(Pixel center, double radius, SvgWriter& svg);
// A place that cannot be driven.
void DrawCross(Pixel center, double radius, SvgWriter& svg);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_MAP_SYMBOLS_H_
