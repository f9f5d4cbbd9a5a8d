// SPDX-License-Identifier: Apache-2.0
// The page of every picture: title, map, legend and charts.
#ifndef ARCLANE_CLIENT_CLI_PLOT_PLOT_PAGE_H_
#define ARCLANE_CLIENT_CLI_PLOT_PLOT_PAGE_H_

#include <string>

#include "client/cli/plot/scene.h"

namespace arclane {

struct RoutePlotOptions {
  std::string title;    // Default: the outcome in words.
  double width = 1000;  // Pixels; at least 500.
  bool charts = true;
};

// The style sheet of every picture.
std::string PlotStyleSheet();

// Returns an SVG document; the same scene gives the same bytes.
std::string DrawPage(const Scene& scene, const std::string& default_title,
                     const std::string& subtitle, const RoutePlotOptions& options);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_PLOT_PAGE_H_
