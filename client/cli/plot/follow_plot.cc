// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/follow_plot.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/cli/plot/axis_scale.h"
#include "client/cli/plot/color_ramp.h"
#include "client/cli/plot/map_legend.h"
#include "client/cli/plot/map_panel.h"
#include "client/cli/plot/map_projection.h"
#include "client/cli/plot/page_layout.h"
#include "client/cli/plot/scene.h"
#include "client/cli/plot/svg_writer.h"

namespace arclane {
namespace {

constexpr double kTrackMapFooter = 60;
constexpr double kChartHeight = 200;
constexpr double kChartFooter = 44;
constexpr double kEventRow = 14;
constexpr int kEventRows = 4;

// Speed and the plan's ceiling over time.
class SpeedChart {
 public:
  SpeedChart(const FollowTrack& track, const PanelArea& area) : track_(track), area_(area) {
    for (const FollowTrackPoint& point : track.points) {
      end_ = std::max(end_, point.time_s);
      high_ = std::max(high_, point.speed);
      if (std::isfinite(point.ceiling)) high_ = std::max(high_, point.ceiling);
    }
    if (!(end_ > 0)) end_ = 1;
    high_ = high_ > 0 ? 1.08 * high_ : 1;
    // The names of events stand above the curves.
    const double names = kEventRow * std::min<double>(kEventRows, track.events.size());
    high_ *= area.height / (area.height - names);
  }

  void Draw(SvgWriter& svg) const {
    svg.Rect({area_.x, area_.y}, area_.width, area_.height, "class=\"panel\"");
    svg.ClipRect("follow-speed", {area_.x, area_.y}, area_.width, area_.height);
    DrawTicks(svg);
    svg.OpenGroup("clip-path=\"url(#follow-speed)\"");
    for (const FollowTrackEvent& event : track_.events) {
      svg.Line({X(event.time_s), area_.y}, {X(event.time_s), area_.y + area_.height},
               "class=\"halt\"");
    }
    std::vector<Pixel> curve;
    SvgPath ceiling;
    bool drawing = false;
    for (const FollowTrackPoint& point : track_.points) {
      curve.push_back({X(point.time_s), Y(point.speed)});
      if (!std::isfinite(point.ceiling)) {
        drawing = false;
      } else if (drawing) {
        ceiling.LineTo({X(point.time_s), Y(point.ceiling)});
      } else {
        ceiling.MoveTo({X(point.time_s), Y(point.ceiling)});
        drawing = true;
      }
    }
    std::vector<Pixel> outline = curve;
    outline.push_back({curve.back().x, Y(0)});
    outline.push_back({curve.front().x, Y(0)});
    svg.Polygon(outline, "class=\"area\"");
    svg.Polyline(curve, "class=\"curve\"");
    svg.Path(ceiling, "class=\"limit\"");
    svg.CloseGroup();
    svg.Rect({area_.x, area_.y}, area_.width, area_.height, "class=\"frame\"");
    svg.Text({area_.x, area_.y - 7}, "speed", "class=\"axis-title\"");
    DrawKey(svg);
    DrawEventNames(svg);
  }

 private:
  double X(double time_s) const { return area_.x + time_s / end_ * area_.width; }
  double Y(double speed) const { return area_.y + area_.height * (high_ - speed) / high_; }

  void DrawTicks(SvgWriter& svg) const {
    const double bottom = area_.y + area_.height;
    const AxisScale times(0, end_, std::max(2, static_cast<int>(area_.width / 55)));
    for (const double tick : times.ticks()) {
      svg.Line({X(tick), area_.y}, {X(tick), bottom}, "class=\"grid\"");
      svg.Text({X(tick), bottom + 16}, times.Label(tick), "class=\"axis\" text-anchor=\"middle\"");
    }
    svg.Text({area_.x + area_.width, bottom + 33}, times.Title("time (s)"),
             "class=\"axis-title\" text-anchor=\"end\"");
    const AxisScale speeds(0, high_, 6);
    for (const double tick : speeds.ticks()) {
      svg.Line({area_.x, Y(tick)}, {area_.x + area_.width, Y(tick)}, "class=\"grid\"");
      svg.Text({area_.x - 6, Y(tick) + 4}, speeds.Label(tick),
               "class=\"axis\" text-anchor=\"end\"");
    }
  }

  void DrawKey(SvgWriter& svg) const {
    const double y = area_.y - 11, x = area_.x + area_.width;
    svg.Text({x, y + 4}, "the plan's ceiling", "class=\"legend\" text-anchor=\"end\"");
    svg.Line({x - 136, y}, {x - 112, y}, "class=\"limit\"");
    svg.Text({x - 148, y + 4}, "driven", "class=\"legend\" text-anchor=\"end\"");
    svg.Line({x - 222, y}, {x - 196, y}, "class=\"curve\"");
  }

  // One below the other where they would overlap.
  void DrawEventNames(SvgWriter& svg) const {
    int row = 0;
    for (const FollowTrackEvent& event : track_.events) {
      const bool right = X(event.time_s) > area_.x + 0.7 * area_.width;
      svg.Text({X(event.time_s) + (right ? -5 : 5), area_.y + kEventRow * (1 + row++ % kEventRows)},
               event.text, right ? "class=\"label\" text-anchor=\"end\"" : "class=\"label\"");
    }
  }

  const FollowTrack& track_;
  PanelArea area_;
  double end_ = 0;
  double high_ = 0;
};

void DrawTrack(const FollowTrack& track, const Scene& scene, const PanelArea& map, SvgWriter& svg) {
  const MapProjection project(scene.extent, map);
  svg.ClipRect("follow-track", {map.x, map.y}, map.width, map.height);
  svg.OpenGroup("clip-path=\"url(#follow-track)\"");
  std::vector<Pixel> pixels;
  for (const FollowTrackPoint& point : track.points) {
    const Pixel pixel = project(point.position);
    const bool last = &point == &track.points.back();
    if (!pixels.empty() && !last &&
        std::hypot(pixel.x - pixels.back().x, pixel.y - pixels.back().y) < 0.3) {
      continue;
    }
    pixels.push_back(pixel);
  }
  svg.Polyline(pixels, absl::StrCat("fill=\"none\" stroke=\"", kLimitColor,
                                    "\" stroke-width=\"1.6\" stroke-linejoin=\"round\""));
  for (const FollowTrackEvent& event : track.events) {
    svg.Circle(project(event.position), 4, "class=\"rounded\"");
  }
  svg.Circle(pixels.back(), 5, "class=\"stop\"");
  svg.CloseGroup();
  svg.Line({map.x + map.width - 142, map.y - 10}, {map.x + map.width - 118, map.y - 10},
           absl::StrCat("stroke=\"", kLimitColor, "\" stroke-width=\"1.6\""));
  svg.Text({map.x + map.width, map.y - 6}, "the agent's track",
           "class=\"legend\" text-anchor=\"end\"");
}

}  // namespace

absl::StatusOr<std::string> PlotFollowTrack(const v1::PlanCorridorRequest& request,
                                            const v1::PlanCorridorResponse& response,
                                            const FollowTrack& track,
                                            const RoutePlotOptions& options) {
  const absl::StatusOr<Scene> scene = BuildScene(request, response);
  if (!scene.ok()) return scene.status();
  const double width = std::max(options.width, kSmallestPageWidth);
  PanelArea map = {kPageLeft, kPageHeaderHeight,
                   width - kPageLeft - kPageRight - kPageLegendGap - kPageLegendWidth, 0};
  map.height = MapHeight(scene->extent, map.width, kLowestMap, kHighestMap);
  const PanelArea legend = {map.x + map.width + kPageLegendGap, map.y, kPageLegendWidth,
                            map.height};
  const PanelArea chart = {kPageLeft, map.y + map.height + kTrackMapFooter + 24,
                           width - kPageLeft - kPageRight, kChartHeight};
  const double height = chart.y + chart.height + kChartFooter;
  const std::string title = options.title.empty() ? track.title : options.title;
  SvgWriter svg(width, height, title, track.subtitle, PlotStyleSheet());
  svg.Rect({0, 0}, width, height, "class=\"page\"");
  svg.Text({20, 32}, title, "class=\"heading\"");
  svg.Text({20, 54}, track.subtitle, "class=\"subheading\"");
  DrawMap(*scene, map, svg);
  DrawTrack(track, *scene, map, svg);
  DrawMapLegend(*scene, map, legend, svg);
  SpeedChart(track, chart).Draw(svg);
  return svg.Finish();
}

}  // namespace arclane
