// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/map_panel.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "client/cli/plot/axis_scale.h"
#include "client/cli/plot/color_ramp.h"

namespace arclane {
namespace {

constexpr double kMapMargin = 18;  // Pixels around the extent.
constexpr double kFlatArcPixels =
    0.02;  // An arc that rises less over its chord is drawn as a line.
constexpr int kSpeedColors = 48;
constexpr double kSampleGap = 8;  // Dots of samples that are closer, on average, are left out.
constexpr double kSpeedDotRadius = 3.4;
constexpr double kSpeedDotGap = 14;  // Likewise, for the larger dots that show their speed.
constexpr double kControlRadius = 2.6;
constexpr double kLeastBodyWidth = 8;  // A narrower body is hidden by the line.
constexpr double kMarkCell = 2;        // Pixels; two marks in one cell cannot be told apart.
constexpr int kMostLabels = 200;       // More reasons cannot be read anyway.
constexpr double kLabelHeight = 13;
constexpr double kLabelWidthPerCharacter = 6.4;

// Whether dots at the samples can be told apart.
bool ShowsSamples(const Scene& scene, const MapProjection& projection) {
  if (scene.samples.empty()) return false;
  double length = 0;
  for (const TraceSegment& segment : scene.trace.segments) length += segment.length;
  const double gap = scene.sample_speeds.empty() ? kSampleGap : kSpeedDotGap;
  return length * projection.pixels_per_unit() >=
         gap * static_cast<double>(scene.samples.size() - 1);
}

double BodyWidth(const Scene& scene, const MapProjection& projection) {
  const double width = 2 * scene.body_radius * projection.pixels_per_unit();
  return width >= kLeastBodyWidth ? width : 0;
}

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

int SpeedColor(double speed, double largest) {
  if (!(largest > 0)) return 0;
  return std::clamp(static_cast<int>(speed / largest * kSpeedColors), 0, kSpeedColors - 1);
}

std::string SpeedFill(double speed, double largest) {
  return absl::StrCat("fill=\"", RampColor((SpeedColor(speed, largest) + 0.5) / kSpeedColors),
                      "\"");
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
    for (const PlanePoint point : scene.samples) svg.Circle(projection(point), 1.5, "");
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
  for (const PlanePoint point : scene.control) {
    const Pixel at = projection(point);
    svg.Rect({at.x - kControlRadius, at.y - kControlRadius}, 2 * kControlRadius, 2 * kControlRadius,
             "");
  }
  svg.CloseGroup();
}

// A stop: an octagon, as on roads.
void DrawStop(Pixel center, double radius, SvgWriter& svg) {
  std::vector<Pixel> corners;
  for (int k = 0; k < 8; ++k) {
    const double angle = (k + 0.5) * std::numbers::pi / 4;
    corners.push_back({center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)});
  }
  svg.Polygon(corners, "class=\"stop\"");
}

void DrawCross(Pixel center, double radius, SvgWriter& svg) {
  svg.Line({center.x - radius, center.y - radius}, {center.x + radius, center.y + radius},
           "class=\"cross\"");
  svg.Line({center.x - radius, center.y + radius}, {center.x + radius, center.y - radius},
           "class=\"cross\"");
}

void DrawCornerMark(const SceneCorner& corner, Pixel at, SvgWriter& svg) {
  if (corner.blocked) {
    DrawCross(at, 6, svg);
  } else if (corner.kind == v1::CORNER_KIND_STOP) {
    DrawStop(at, 5.5, svg);
  } else if (corner.kind == v1::CORNER_KIND_ROUNDED || corner.kind == v1::CORNER_KIND_MERGED) {
    svg.Circle(at, 3.5, "class=\"rounded\"");
  } else {
    svg.Circle(at, 1.8, "class=\"passed\"");
  }
}

// "no room" for CORNER_REASON_NO_ROOM.
std::string ReasonText(int reason) {
  const std::string name = v1::CornerReason_Name(static_cast<v1::CornerReason>(reason));
  if (name.empty()) return absl::StrCat("reason ", reason);
  const std::string bare = name.substr(std::string("CORNER_REASON_").size());
  return absl::StrReplaceAll(absl::AsciiStrToLower(bare), {{"_", " "}});
}

// A corner whose rounding was tried and refused.
bool IsRejected(const SceneCorner& corner) {
  return corner.reason != v1::CORNER_REASON_UNSPECIFIED &&
         corner.reason != v1::CORNER_REASON_NOT_REQUESTED;
}

// Sets labels beside marks so that no two overlap; a label without room is left out.
class LabelPlacer {
 public:
  LabelPlacer(const PanelArea& area, SvgWriter& svg) : area_(area), svg_(svg) {}

  void Occupy(Pixel center, double radius) {
    taken_.push_back({center.x - radius, center.y - radius, 2 * radius, 2 * radius});
  }
  void Place(Pixel mark, const std::string& text, const char* attributes) {
    constexpr double kGap = 9;
    const double width = kLabelWidthPerCharacter * static_cast<double>(text.size());
    const double above = mark.y - kGap - kLabelHeight;
    const double below = mark.y + kGap;
    const Pixel corners[] = {{mark.x + kGap, mark.y - kLabelHeight / 2},
                             {mark.x - kGap - width, mark.y - kLabelHeight / 2},
                             {mark.x - width / 2, above},
                             {mark.x - width / 2, below},
                             {mark.x, above},
                             {mark.x, below},
                             {mark.x - width, above},
                             {mark.x - width, below}};
    for (const Pixel corner : corners) {
      const PanelArea box = {corner.x, corner.y, width, kLabelHeight};
      if (!IsFree(box)) continue;
      taken_.push_back(box);
      svg_.Text({corner.x, corner.y + kLabelHeight - 3}, text, attributes);
      return;
    }
  }

 private:
  bool IsFree(const PanelArea& box) const {
    if (box.x < area_.x || box.y < area_.y || box.x + box.width > area_.x + area_.width ||
        box.y + box.height > area_.y + area_.height) {
      return false;
    }
    return std::none_of(taken_.begin(), taken_.end(), [&](const PanelArea& other) {
      return box.x < other.x + other.width && other.x < box.x + box.width &&
             box.y < other.y + other.height && other.y < box.y + box.height;
    });
  }

  const PanelArea area_;
  SvgWriter& svg_;
  std::vector<PanelArea> taken_;
};

// Keeps labels off the route.
void OccupyRoute(const Scene& scene, const MapProjection& projection, LabelPlacer& labels) {
  constexpr double kSpacing = 10;
  constexpr double kMostBoxes = 2000;
  double length = 0;
  for (const TraceSegment& segment : scene.trace.segments) length += segment.length;
  const double step = std::max(kSpacing / projection.pixels_per_unit(), length / kMostBoxes);
  double next = 0;
  for (const TraceSegment& segment : scene.trace.segments) {
    for (; next < segment.length; next += step) {
      labels.Occupy(projection(PointAlong(segment, next)), 4);
    }
    next -= segment.length;
  }
}

void DrawMarks(const Scene& scene, const MapProjection& projection, const PanelArea& area,
               SvgWriter& svg) {
  LabelPlacer labels(area, svg);
  OccupyRoute(scene, projection, labels);
  std::set<std::pair<int, int>> marked;  // Of marks that hide each other one is drawn.
  for (const SceneCorner& corner : scene.corners) {
    const Pixel at = projection(corner.position);
    const auto cell =
        std::pair(static_cast<int>(at.x / kMarkCell), static_cast<int>(at.y / kMarkCell));
    if (!corner.blocked && !marked.insert(cell).second) continue;
    DrawCornerMark(corner, at, svg);
    labels.Occupy(at, 5);
  }
  if (scene.start) {
    svg.Circle(projection(*scene.start), 6, "class=\"start\"");
    labels.Occupy(projection(*scene.start), 7);
  }
  if (scene.goal && !scene.is_loop) {
    const Pixel goal = projection(*scene.goal);
    svg.Circle(goal, 7, "class=\"goal\"");
    svg.Circle(goal, 3, "class=\"goal-dot\"");
    labels.Occupy(goal, 8);
  }
  if (scene.rest) {
    const Pixel rest = projection(*scene.rest);
    DrawStop(rest, 6.5, svg);
    labels.Place(rest, "at rest", "class=\"label reject\"");
  }
  if (scene.start) {
    labels.Place(projection(*scene.start), scene.is_loop ? "start and end" : "start",
                 "class=\"label end\"");
  }
  if (scene.goal && !scene.is_loop) {
    labels.Place(projection(*scene.goal), scene.IsCurve() ? "end" : "goal", "class=\"label end\"");
  }
  int tried = 0;
  for (const SceneCorner& corner : scene.corners) {
    if (corner.blocked || (corner.kind == v1::CORNER_KIND_STOP && IsRejected(corner))) {
      if (++tried > kMostLabels) break;
      labels.Place(projection(corner.position), ReasonText(corner.reason),
                   "class=\"label reject\"");
    }
  }
}

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

MapProjection::MapProjection(const Extent& extent, const PanelArea& area)
    : center_{0.5 * extent.low.first + 0.5 * extent.high.first,
              0.5 * extent.low.second + 0.5 * extent.high.second},
      middle_{area.x + 0.5 * area.width, area.y + 0.5 * area.height} {
  const double across = extent.high.first - extent.low.first;
  const double along = extent.high.second - extent.low.second;
  // A single point, or an extent below what its coordinates can resolve, is shown in a window
  // around it.
  const double magnitude = std::max(std::abs(center_.first), std::abs(center_.second));
  const bool is_point = std::max(across, along) <= 1e-13 * magnitude || (across <= 0 && along <= 0);
  if (is_point) {
    scale_ = std::min(area.width, area.height) / (2 * std::max(1.0, 1e-6 * magnitude));
  } else {
    const double room_x = std::max(area.width - 2 * kMapMargin, 1.0);
    const double room_y = std::max(area.height - 2 * kMapMargin, 1.0);
    scale_ = 1 / std::max(across / room_x, along / room_y);
  }
  const double half_x = 0.5 * area.width / scale_;
  const double half_y = 0.5 * area.height / scale_;
  visible_ = {{center_.first - half_x, center_.second - half_y},
              {center_.first + half_x, center_.second + half_y}};
}

Pixel MapProjection::operator()(PlanePoint point) const {
  return {middle_.x + (point.first - center_.first) * scale_,
          middle_.y - (point.second - center_.second) * scale_};
}

double MapHeight(const Extent& extent, double width, double low, double high) {
  const double across = extent.high.first - extent.low.first;
  const double along = extent.high.second - extent.low.second;
  if (!(across > 0)) return along > 0 ? high : low;
  return std::clamp((width - 2 * kMapMargin) * (along / across) + 2 * kMapMargin, low, high);
}

void AppendSegment(const TraceSegment& segment, double from, double to,
                   const MapProjection& projection, SvgPath& path) {
  constexpr double kLargestPieceRad = std::numbers::pi / 2;
  const double angle = std::abs(segment.curvature) * (to - from);
  const double rise = 0.125 * angle * (to - from) * projection.pixels_per_unit();
  if (segment.curvature == 0 || rise < kFlatArcPixels) {
    path.LineTo(projection(PointAlong(segment, to)));
    return;
  }
  const int pieces = 1 + static_cast<int>(std::min(angle / kLargestPieceRad, 1e6));
  const double radius = projection.pixels_per_unit() / std::abs(segment.curvature);
  for (int k = 1; k <= pieces; ++k) {
    const double s = k == pieces ? to : from + (to - from) * k / pieces;
    // Positive curvature turns left, which is counter-clockwise with the second axis upwards.
    path.ArcTo(radius, /*clockwise=*/segment.curvature < 0, projection(PointAlong(segment, s)));
  }
}

void DrawMapAxes(const PlaneAxes& axes, const MapProjection& projection, const PanelArea& area,
                 SvgWriter& svg) {
  DrawAxes(axes, projection, area, svg);
  DrawScaleBar(projection, area, svg);
}

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
      svg.Circle(at, colored ? kSpeedDotRadius : 1.5, colored ? SpeedFill(0.75, 1) : "");
      svg.CloseGroup();
    });
  }
  if (!scene.control.empty()) {
    legend.Entry("control points", [&](Pixel at) {
      svg.Line({at.x - 13, at.y}, {at.x + 13, at.y}, "class=\"control-line\"");
      svg.OpenGroup("class=\"control\"");
      svg.Rect({at.x - kControlRadius, at.y - kControlRadius}, 2 * kControlRadius,
               2 * kControlRadius, "");
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
