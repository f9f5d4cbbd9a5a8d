// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/map_legend.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/plot/axis_scale.h"
#include "client/cli/plot/color_ramp.h"
#include "client/cli/plot/map_symbols.h"

namespace arclane {
namespace {

// One line of the legend after the other.
class Legend {
 public:
  Legend(const PanelArea& area, SvgWriter& svg) : x_(area.x), y_(area.y), svg_(svg) {}

  // `draw` gets the middle of a symbol of 26 pixels.
  template <typename Draw>
  void Entry(const std::string& text, Draw draw) {
    y_ += 10;
    draw(Pixel{x_ + 13, y_});
    svg_.Text({x_ + 36, y_ + 4}, text, "class=\"legend\"");
    y_ += 12;
  }
  void SpeedBar(double largest) {
    constexpr double kHeight = 110;
    constexpr int kSteps = kSpeedColors;
    svg_.Text({x_, y_ + 10}, "speed", "class=\"axis-title\"");
    y_ += 22;
    for (int k = 0; k < kSteps; ++k) {
      svg_.Rect({x_, y_ + kHeight * (kSteps - 1 - k) / kSteps}, 16, kHeight / kSteps + 0.5,
                absl::StrCat("fill=\"", RampColor((k + 0.5) / kSteps), "\""));
    }
    svg_.Rect({x_, y_}, 16, kHeight, "class=\"frame\"");
    const AxisScale scale(0, largest, 6);
    for (const double tick : scale.ticks()) {
      const double at = y_ + kHeight * (1 - tick / largest);
      svg_.Line({x_ + 16, at}, {x_ + 20, at}, "class=\"tick\"");
      svg_.Text({x_ + 24, at + 4}, scale.Label(tick), "class=\"axis\"");
    }
    y_ += kHeight + 14;
  }

 private:
  double x_, y_;
  SvgWriter& svg_;
};

bool HasCorner(const Scene& scene, std::initializer_list<int> kinds) {
  return std::any_of(scene.corners.begin(), scene.corners.end(), [&](const SceneCorner& corner) {
    return !corner.blocked && std::find(kinds.begin(), kinds.end(), corner.kind) != kinds.end();
  });
}

bool HasBlocked(const Scene& scene) {
  return std::any_of(scene.corners.begin(), scene.corners.end(),
                     [](const SceneCorner& corner) { return corner.blocked; });
}

}  // namespace

void DrawMapLegend(const Scene& scene, const PanelArea& map, const PanelArea& area,
                   SvgWriter& svg) {
  const MapProjection projection(scene.extent, map);
  Legend legend(area, svg);
  if (scene.trace.largest_speed > 0) legend.SpeedBar(scene.trace.largest_speed);
  const auto line = [&svg](const char* attributes) {
    return [&svg, attributes](Pixel at) {
      svg.Line({at.x - 13, at.y}, {at.x + 13, at.y}, attributes);
    };
  };
  if (scene.start) {
    legend.Entry(scene.is_loop ? "start and end" : "start",
                 [&](Pixel at) { svg.Circle(at, 6, "class=\"start\""); });
  }
  if (scene.goal && !scene.is_loop) {
    legend.Entry(scene.IsCurve() ? "end" : "goal", [&](Pixel at) {
      svg.Circle(at, 7, "class=\"goal\"");
      svg.Circle(at, 3, "class=\"goal-dot\"");
    });
  }
  if (HasCorner(scene, {v1::CORNER_KIND_STOP}) || scene.rest) {
    legend.Entry("stop", [&](Pixel at) { DrawStop(at, 5.5, svg); });
  }
  if (HasCorner(scene, {v1::CORNER_KIND_ROUNDED, v1::CORNER_KIND_MERGED})) {
    legend.Entry("rounded corner", [&](Pixel at) { svg.Circle(at, 3.5, "class=\"rounded\""); });
  }
  if (HasCorner(scene, {v1::CORNER_KIND_PASSED})) {
    legend.Entry("kink driven through", [&](Pixel at) { svg.Circle(at, 1.8, "class=\"passed\""); });
  }
  if (HasBlocked(scene)) legend.Entry("cannot be driven", [&](Pixel at) { DrawCross(at, 6, svg); });
  if (scene.HasArcs()) legend.Entry(scene.guide_name, line("class=\"taut\""));
  if (ShowsSamples(scene, projection)) {
    legend.Entry("sample", [&](Pixel at) {
      const bool colored = !scene.sample_speeds.empty();
      svg.OpenGroup(colored ? "class=\"speed-sample\"" : "class=\"sample\"");
      svg.Circle(at, colored ? kSpeedDotRadius : kSampleRadius, colored ? SpeedFill(0.75, 1) : "");
      svg.CloseGroup();
    });
  }
  if (!scene.control.empty()) {
    legend.Entry("control points", [&](Pixel at) {
      svg.Line({at.x - 13, at.y}, {at.x + 13, at.y}, "class=\"control-line\"");
      svg.OpenGroup("class=\"control\"");
      DrawControlPoint(at, svg);
      svg.CloseGroup();
    });
  }
  if (BodyWidth(scene, projection) > 0 && !scene.trace.segments.empty()) {
    legend.Entry("width of the agent", line("class=\"body\" stroke-width=\"10\""));
  }
  if (!scene.cells.empty()) {
    legend.Entry("corridor", [&](Pixel at) {
      svg.OpenGroup("class=\"cell\"");
      svg.Rect({at.x - 13, at.y - 6}, 26, 12, "");
      svg.CloseGroup();
    });
  }
  if (!scene.portals.empty()) {
    svg.OpenGroup("class=\"portal\"");
    legend.Entry("portal", line(""));
    const auto blocked = std::find_if(scene.portals.begin(), scene.portals.end(),
                                      [](const ScenePortal& portal) { return portal.blocked; });
    if (blocked != scene.portals.end()) legend.Entry("closed portal", line("class=\"blocked\""));
    svg.CloseGroup();
  }
  if (!scene.links.empty()) {
    svg.OpenGroup("class=\"link\"");
    legend.Entry("off-mesh link", line(""));
    svg.CloseGroup();
  }
}

}  // namespace arclane
