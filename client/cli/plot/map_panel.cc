// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/map_panel.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/plot/color_ramp.h"
#include "client/cli/plot/map_axes.h"
#include "client/cli/plot/map_marks.h"
#include "client/cli/plot/map_symbols.h"

namespace arclane {
namespace {

std::vector<Pixel> Pixels(const std::vector<PlanePoint>& points, const MapProjection& projection) {
  std::vector<Pixel> projected;
  for (const PlanePoint point : points) projected.push_back(projection(point));
  return projected;
}

// Drawing order: ground, walls, portals, control polygon, body, shortest line, route, samples,
// corners, ends.
void DrawCorridor(const Scene& scene, const MapProjection& projection, SvgWriter& svg) {
  svg.OpenGroup("class=\"cell\"");
  for (const auto& cell : scene.cells) svg.Polygon(Pixels(cell, projection), "");
  svg.CloseGroup();
  svg.OpenGroup("class=\"link\"");
  for (const auto& [from, to] : scene.links) svg.Line(projection(from), projection(to), "");
  svg.CloseGroup();
  svg.OpenGroup("class=\"portal\"");
  for (const ScenePortal& portal : scene.portals) {
    svg.Line(projection(portal.left), projection(portal.right),
             portal.blocked ? "class=\"blocked\"" : "");
  }
  svg.CloseGroup();
}

// Segments below a tenth of a pixel are joined with those behind them.
SvgPath WholeRoute(const Scene& scene, const MapProjection& projection) {
  constexpr double kLeastPixels = 0.1;
  SvgPath path;
  double skipped = 0;
  for (const TraceSegment& segment : scene.trace.segments) {
    if (segment.length <= 0) continue;
    if (path.empty()) path.MoveTo(projection(segment.start));
    skipped += segment.length * projection.pixels_per_unit();
    if (skipped < kLeastPixels && &segment != &scene.trace.segments.back()) continue;
    AppendSegment(segment, 0, segment.length, projection, path);
    skipped = 0;
  }
  return path;
}

// Draws the route piece by piece; successive pieces of one colour become one path. Pieces below a
// pixel take the colour of the pixel that they end, so that the picture's size depends on its
// pixels rather than on the number of phases.
class SpeedColorBrush {
 public:
  SpeedColorBrush(double largest_speed, const MapProjection& projection, SvgWriter& svg)
      : largest_speed_(largest_speed), projection_(projection), svg_(svg) {}

  void Draw(const TraceSegment& segment, const TracePoint& from, const TracePoint& to) {
    const double begin = from.distance - segment.start_distance;
    const double end = to.distance - segment.start_distance;
    if (!has_start_) start_ = projection_(PointAlong(segment, begin));
    has_start_ = true;
    skipped_ += (end - begin) * projection_.pixels_per_unit();
    if (skipped_ < kLeastPiecePixels) return;
    const int color = SpeedColor(0.5 * (from.speed + to.speed), largest_speed_);
    if (color != color_) {
      Flush();
      color_ = color;
      path_.MoveTo(start_);
    }
    AppendSegment(segment, begin, end, projection_, path_);
    start_ = projection_(PointAlong(segment, end));
    skipped_ = 0;
  }
  void Flush() {
    if (color_ >= 0) {
      svg_.Path(path_, absl::StrCat("stroke=\"", RampColor((color_ + 0.5) / kSpeedColors), "\""));
    }
    path_ = SvgPath();
  }

 private:
  static constexpr double kLeastPiecePixels = 1;

  const double largest_speed_;
  const MapProjection& projection_;
  SvgWriter& svg_;
  SvgPath path_;
  int color_ = -1;
  Pixel start_;
  bool has_start_ = false;
  double skipped_ = 0;  // Pixels since the end of the last piece that was drawn.
};

void DrawSpeedColors(const Scene& scene, const MapProjection& projection, SvgWriter& svg) {
  SpeedColorBrush brush(scene.trace.largest_speed, projection, svg);
  for (size_t i = 1; i < scene.curve_points.size(); ++i) {
    brush.Draw(scene.trace.segments[i - 1], scene.curve_points[i - 1], scene.curve_points[i]);
  }
  if (scene.IsCurve()) {
    brush.Flush();
    return;
  }
  for (const TracePhase& phase : scene.trace.phases) {
    const TraceSegment& segment = scene.trace.segments[phase.segment];
    for (size_t i = 1; i < phase.points.size(); ++i) {
      if (phase.points[i].distance > phase.points[i - 1].distance) {
        brush.Draw(segment, phase.points[i - 1], phase.points[i]);
      }
    }
  }
  brush.Flush();
}

void DrawRoute(const Scene& scene, const MapProjection& projection, SvgWriter& svg) {
  const SvgPath route = WholeRoute(scene, projection);
  const double body_pixels = BodyWidth(scene, projection);
  if (body_pixels > 0) {
    svg.Path(route, absl::StrCat("class=\"body\" stroke-width=\"", SvgNumber(body_pixels), "\""));
  }
  if (scene.HasArcs()) svg.Polyline(Pixels(scene.guide, projection), "class=\"taut\"");
  svg.Path(route, "class=\"casing\"");
  svg.OpenGroup("class=\"route\"");
  DrawSpeedColors(scene, projection, svg);
  svg.CloseGroup();
}

void DrawSamples(const Scene& scene, const MapProjection& projection, SvgWriter& svg) {
  if (!ShowsSamples(scene, projection)) return;
  if (scene.sample_speeds.empty()) {
    svg.OpenGroup("class=\"sample\"");
    for (const PlanePoint point : scene.samples) svg.Circle(projection(point), kSampleRadius, "");
    svg.CloseGroup();
    return;
  }
  svg.OpenGroup("class=\"speed-sample\"");
  for (size_t i = 0; i < scene.samples.size(); ++i) {
    svg.Circle(projection(scene.samples[i]), kSpeedDotRadius,
               SpeedFill(scene.sample_speeds[i], scene.trace.largest_speed));
  }
  svg.CloseGroup();
}

// Faint: the curve need not touch them.
void DrawControl(const Scene& scene, const MapProjection& projection, SvgWriter& svg) {
  if (scene.control.empty()) return;
  svg.Polyline(Pixels(scene.control_polygon, projection), "class=\"control-line\"");
  svg.OpenGroup("class=\"control\"");
  for (const PlanePoint point : scene.control) DrawControlPoint(projection(point), svg);
  svg.CloseGroup();
}

}  // namespace

void DrawMap(const Scene& scene, const PanelArea& area, SvgWriter& svg) {
  const MapProjection projection(scene.extent, area);
  svg.Rect({area.x, area.y}, area.width, area.height, "class=\"panel\"");
  svg.ClipRect("map", {area.x, area.y}, area.width, area.height);
  svg.OpenGroup("clip-path=\"url(#map)\"");
  DrawCorridor(scene, projection, svg);
  DrawControl(scene, projection, svg);
  DrawRoute(scene, projection, svg);
  DrawSamples(scene, projection, svg);
  DrawMarks(scene, projection, area, svg);
  svg.CloseGroup();
  svg.Rect({area.x, area.y}, area.width, area.height, "class=\"frame\"");
  DrawMapAxes(scene.axes, projection, area, svg);
}

}  // namespace arclane
