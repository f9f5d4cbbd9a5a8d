// SPDX-License-Identifier: Apache-2.0
// Where the parts of a page are, for the pages of plans and of followed routes. Pixels.
#ifndef ARCLANE_CLIENT_CLI_PLOT_PAGE_LAYOUT_H_
#define ARCLANE_CLIENT_CLI_PLOT_PAGE_LAYOUT_H_

namespace arclane {

inline constexpr double kSmallestPageWidth = 500;
inline constexpr double kPageLeft = 66;  // Tick labels of the map and of the charts.
inline constexpr double kPageRight = 20;
inline constexpr double kPageHeaderHeight = 84;  // Title, subtitle, and the map's axis title.
inline constexpr double kPageLegendWidth = 172;
inline constexpr double kPageLegendGap = 20;
inline constexpr double kLowestMap = 340;  // The legend needs this much.
inline constexpr double kHighestMap = 640;

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_PAGE_LAYOUT_H_
