// SPDX-License-Identifier: Apache-2.0
// The colours of a picture. All are told apart by people with any of the common colour
// deficiencies: marks use hues of the Okabe-Ito set ("Color Universal Design", 2008), speed uses a
// ramp whose lightness grows steadily, between anchors of viridis (Smith and van der Walt, 2015).
#ifndef ARCLANE_CLIENT_CLI_PLOT_COLOR_RAMP_H_
#define ARCLANE_CLIENT_CLI_PLOT_COLOR_RAMP_H_

#include <string>

namespace arclane {

inline constexpr char kCurveColor[] = "#0072b2";   // Blue: quantities.
inline constexpr char kLimitColor[] = "#d55e00";   // Vermilion: limits, stops, what blocks.
inline constexpr char kPortalColor[] = "#009e73";  // Bluish green: portals.
inline constexpr char kInkColor[] = "#222222";
inline constexpr char kFaintInkColor[] = "#666666";

// "#rrggbb"; fraction 0 is dark violet, 1 yellow. Clamped; NaN counts as 0.
std::string RampColor(double fraction);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_COLOR_RAMP_H_
