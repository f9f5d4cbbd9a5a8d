// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/plot_page.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/cli/plot/chart_panel.h"
#include "client/cli/plot/color_ramp.h"
#include "client/cli/plot/map_legend.h"
#include "client/cli/plot/map_panel.h"
#include "client/cli/plot/map_projection.h"
#include "client/cli/plot/page_layout.h"
#include "client/cli/plot/svg_writer.h"

namespace arclane {
namespace {

constexpr double kMapFooter = 44;  // Tick labels and scale bar.

// Says what the dashes of the charts are, at their upper right.
void DrawChartKey(const PanelArea& area, SvgWriter& svg) {
  const double y = area.y + 22;
  const double x = area.x + area.width;
  svg.Text({x, y + 4}, "limit", "class=\"legend\" text-anchor=\"end\"");
  svg.Line({x - 64, y}, {x - 36, y}, "class=\"limit\"");
  svg.Text({x - 74, y + 4}, "planned", "class=\"legend\" text-anchor=\"end\"");
  svg.Line({x - 160, y}, {x - 132, y}, "class=\"curve\"");
}

}  // namespace

std::string PlotStyleSheet() {
  const std::string ink = kInkColor;
  const std::string faint = kFaintInkColor;
  const std::string curve = kCurveColor;
  const std::string limit = kLimitColor;
  const std::string portal = kPortalColor;
  return absl::StrCat(
      "text{font-family:'DejaVu Sans',Verdana,Helvetica,Arial,sans-serif;fill:", ink, "}\n",
      ".heading{font-size:18px;font-weight:bold}\n", ".subheading{font-size:13px;fill:", faint,
      "}\n", ".axis{font-size:11px;fill:", faint, "}\n", ".axis-title,.legend{font-size:12px}\n",
      ".label{font-size:11px;paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}"
      "\n",
      ".end{font-weight:bold}\n", ".reject{fill:", limit, "}\n", ".page{fill:#fff}\n",
      ".panel{fill:#fafafa}\n", ".frame{fill:none;stroke:#999}\n", ".tick{stroke:#999}\n",
      ".grid{stroke:#e6e6e6}\n", ".bar{stroke:", ink, ";stroke-width:1.5}\n",
      ".cell polygon,.cell "
      "rect{fill:#dfe8ef;stroke:#8fa3b3;stroke-width:0.8;stroke-linejoin:round}\n",
      ".link line{stroke:", ink, ";stroke-width:1.5;stroke-dasharray:1.5 4;stroke-linecap:round}\n",
      ".portal line{stroke:", portal, ";stroke-width:1.3;stroke-dasharray:5 4}\n",
      ".portal .blocked{stroke:", limit, ";stroke-width:4;stroke-dasharray:none}\n",
      ".body{fill:none;stroke:#7a8894;stroke-opacity:0.28;stroke-linecap:round;stroke-linejoin:"
      "round}\n",
      ".taut{fill:none;stroke:", ink, ";stroke-width:1;stroke-dasharray:2 3}\n",
      ".casing{fill:none;stroke:", ink,
      ";stroke-width:5.4;stroke-linecap:round;stroke-linejoin:round}\n",
      ".route path{fill:none;stroke-width:3.6;stroke-linecap:round;stroke-linejoin:round}\n",
      ".sample circle{fill:#fff;stroke:", ink, ";stroke-width:0.7}\n", ".stop{fill:", limit,
      ";stroke:#fff;stroke-width:1.4}\n", ".cross{stroke:", limit,
      ";stroke-width:3.5;stroke-linecap:round}\n",
      ".speed-sample circle{stroke:#fff;stroke-width:1}\n",
      ".control-line{fill:none;stroke:", faint,
      ";stroke-width:1;stroke-opacity:0.45;stroke-dasharray:4 3}\n",
      ".control rect{fill:#fff;stroke:", faint, ";stroke-opacity:0.7}\n",
      ".rounded{fill:#fff;fill-opacity:0.6;stroke:", ink, ";stroke-width:1.2}\n",
      ".passed{fill:", faint, "}\n", ".start{fill:", ink, ";stroke:#fff;stroke-width:1.6}\n",
      ".goal{fill:#fff;stroke:", ink, ";stroke-width:2.2}\n", ".goal-dot{fill:", ink, "}\n",
      ".zero{stroke:#999}\n", ".curve{fill:none;stroke:", curve,
      ";stroke-width:1.8;stroke-linejoin:round}\n", ".area{fill:", curve, ";fill-opacity:0.12}\n",
      ".limit{fill:none;stroke:", limit, ";stroke-width:1.4;stroke-dasharray:6 4}\n",
      ".standing{fill:", ink, ";fill-opacity:0.1}\n", ".halt{stroke:", ink,
      ";stroke-opacity:0.45;stroke-dasharray:2 3}\n");
}

std::string DrawPage(const Scene& scene, const std::string& default_title,
                     const std::string& subtitle, const RoutePlotOptions& options) {
  const double width = std::max(options.width, kSmallestPageWidth);
  PanelArea map = {kPageLeft, kPageHeaderHeight,
                   width - kPageLeft - kPageRight - kPageLegendGap - kPageLegendWidth, 0};
  map.height = MapHeight(scene.extent, map.width, kLowestMap, kHighestMap);
  const PanelArea legend = {map.x + map.width + kPageLegendGap, map.y, kPageLegendWidth,
                            map.height};
  const PanelArea charts = {kPageLeft, map.y + map.height + kMapFooter,
                            width - kPageLeft - kPageRight,
                            options.charts ? ChartsHeight(scene) : 0};
  const double height = charts.y + charts.height + 8;

  const std::string title = options.title.empty() ? default_title : options.title;
  SvgWriter svg(width, height, title, subtitle, PlotStyleSheet());
  svg.Rect({0, 0}, width, height, "class=\"page\"");
  svg.Text({20, 32}, title, "class=\"heading\"");
  svg.Text({20, 54}, subtitle, "class=\"subheading\"");
  DrawMap(scene, map, svg);
  DrawMapLegend(scene, map, legend, svg);
  if (charts.height > 0) {
    DrawCharts(scene, charts, svg);
    if (scene.has_speed) DrawChartKey(charts, svg);
  }
  return svg.Finish();
}

}  // namespace arclane
