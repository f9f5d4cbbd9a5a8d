// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/map_axes.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "client/cli/plot/axis_scale.h"

namespace arclane {
namespace {

void DrawAxes(const PlaneAxes& axes, const MapProjection& projection, const PanelArea& area,
              SvgWriter& svg) {
  const Extent& visible = projection.visible();
  const double bottom = area.y + area.height;
  const AxisScale first(visible.low.first, visible.high.first,
                        std::max(2, static_cast<int>(area.width / 60)));
  const AxisScale second(visible.low.second, visible.high.second,
                         std::max(2, static_cast<int>(area.height / 45)));
  for (const double tick : first.ticks()) {
    const double x = projection({tick, visible.low.second}).x;
    svg.Line({x, bottom}, {x, bottom + 4}, "class=\"tick\"");
    svg.Text({x, bottom + 17}, first.Label(tick), "class=\"axis\" text-anchor=\"middle\"");
  }
  for (const double tick : second.ticks()) {
    const double y = projection({visible.low.first, tick}).y;
    svg.Line({area.x - 4, y}, {area.x, y}, "class=\"tick\"");
    svg.Text({area.x - 7, y + 4}, second.Label(tick), "class=\"axis\" text-anchor=\"end\"");
  }
  svg.Text({area.x + area.width, bottom + 32}, first.Title(axes.first_name()),
           "class=\"axis-title\" text-anchor=\"end\"");
  svg.Text({area.x, area.y - 7}, second.Title(axes.second_name()), "class=\"axis-title\"");
}

void DrawScaleBar(const MapProjection& projection, const PanelArea& area, SvgWriter& svg) {
  const double length = RoundStepBelow(0.22 * area.width / projection.pixels_per_unit());
  const double pixels = length * projection.pixels_per_unit();
  const double y = area.y + area.height + 26;
  const Pixel left = {area.x, y};
  const Pixel right = {area.x + pixels, y};
  for (const Pixel end : {left, right}) svg.Line({end.x, y - 4}, {end.x, y + 4}, "class=\"bar\"");
  svg.Line(left, right, "class=\"bar\"");
  svg.Text({right.x + 7, y + 4}, absl::StrFormat("%g", length), "class=\"axis\"");
}

}  // namespace

void DrawMapAxes(const PlaneAxes& axes, const MapProjection& projection, const PanelArea& area,
                 SvgWriter& svg) {
  DrawAxes(axes, projection, area, svg);
  DrawScaleBar(projection, area, svg);
}

}  // namespace arclane
