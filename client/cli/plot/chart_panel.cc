// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/chart_panel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/plot/axis_scale.h"

namespace arclane {
namespace {

constexpr double kRowHeight = 118;    // Of a chart's frame.
constexpr double kHaltGap = 1.5;      // Pixels between the lines of two stops, at least.
constexpr double kRowGap = 34;        // Title of the next chart.
constexpr double kBottomHeight = 40;  // Tick labels and axis title of the last row.
constexpr double kColumnGap = 62;  // Between distance and time, with the tick labels of the latter.

using Value = double TracePoint::*;

// A quantity, its limits above and below, and how it is shown.
struct Quantity {
  const char* title;
  Value value;
  Value upper;  // Limit on the quantity.
  Value lower;  // Limit on its negative; null where it has none and is never negative.
  bool filled;
};

constexpr Quantity kSpeed = {"speed", &TracePoint::speed, &TracePoint::speed_limit, nullptr, true};
constexpr Quantity kAcceleration = {"acceleration (negative: braking)", &TracePoint::acceleration,
                                    &TracePoint::acceleration_limit, &TracePoint::braking_limit,
                                    false};
constexpr Quantity kLateral = {"lateral acceleration (positive: to the left)",
                               &TracePoint::lateral_acceleration, &TracePoint::lateral_limit,
                               &TracePoint::lateral_limit, false};

std::vector<Quantity> QuantitiesOf(const Scene& scene) {
  std::vector<Quantity> quantities = {kSpeed, kAcceleration};
  if (scene.HasArcs()) quantities.push_back(kLateral);
  return quantities;
}

struct ValueRange {
  double low = 0;
  double high = 0;
};

template <typename Visit>
void ForPoints(const Scene& scene, Visit visit) {
  for (const TracePhase& phase : scene.trace.phases) {
    for (const TracePoint& point : phase.points) visit(point);
  }
}

// The values, and those limits that lie within twice the largest value: a limit far above must not
// flatten the curve.
ValueRange RangeOf(const Scene& scene, const Quantity& quantity) {
  ValueRange range;
  ForPoints(scene, [&](const TracePoint& point) {
    range.low = std::min(range.low, point.*quantity.value);
    range.high = std::max(range.high, point.*quantity.value);
  });
  const double largest = std::max(range.high, -range.low);
  const double reach = largest > 0 ? 2 * largest : std::numeric_limits<double>::max();
  ForPoints(scene, [&](const TracePoint& point) {
    if (point.*quantity.upper <= reach) range.high = std::max(range.high, point.*quantity.upper);
    if (quantity.lower != nullptr && point.*quantity.lower <= reach) {
      range.low = std::min(range.low, -(point.*quantity.lower));
    }
  });
  if (!(range.high > range.low)) range.high = range.low + 1;
  const double margin = 0.08 * (range.high - range.low);
  range.high += margin;
  if (range.low < 0) range.low -= margin;
  return range;
}

class Chart {
 public:
  Chart(const Scene& scene, const Quantity& quantity, const PanelArea& area, Value across,
        std::string clip_id)
      : scene_(scene),
        quantity_(quantity),
        area_(area),
        across_(across),
        clip_id_(std::move(clip_id)),
        range_(RangeOf(scene, quantity)),
        extent_(scene.trace.phases.back().points.back().*across) {
    if (!(extent_ > 0)) extent_ = 1;
  }

  void Draw(const char* x_title, bool with_x_labels, SvgWriter& svg) const {
    svg.Rect({area_.x, area_.y}, area_.width, area_.height, "class=\"panel\"");
    svg.ClipRect(clip_id_, {area_.x, area_.y}, area_.width, area_.height);
    DrawTicks(with_x_labels, svg);
    svg.OpenGroup(absl::StrCat("clip-path=\"url(#", clip_id_, ")\""));
    DrawStops(svg);
    if (range_.low < 0) {
      svg.Line({area_.x, Y(0)}, {area_.x + area_.width, Y(0)}, "class=\"zero\"");
    }
    DrawCurve(svg);
    svg.Path(LimitPath(quantity_.upper, 1), "class=\"limit\"");
    if (quantity_.lower != nullptr) svg.Path(LimitPath(quantity_.lower, -1), "class=\"limit\"");
    svg.CloseGroup();
    svg.Rect({area_.x, area_.y}, area_.width, area_.height, "class=\"frame\"");
    svg.Text({area_.x, area_.y - 7}, quantity_.title, "class=\"axis-title\"");
    if (with_x_labels) {
      const AxisScale scale = XScale();
      svg.Text({area_.x + area_.width, area_.y + area_.height + 33}, scale.Title(x_title),
               "class=\"axis-title\" text-anchor=\"end\"");
    }
  }

 private:
  AxisScale XScale() const {
    return AxisScale(0, extent_, std::max(2, static_cast<int>(area_.width / 55)));
  }
  double X(double across) const { return area_.x + across / extent_ * area_.width; }
  double Y(double value) const {
    return area_.y + area_.height * (range_.high - value) / (range_.high - range_.low);
  }
  Pixel At(const TracePoint& point) const { return {X(point.*across_), Y(point.*quantity_.value)}; }

  void DrawTicks(bool with_x_labels, SvgWriter& svg) const {
    const AxisScale x_scale = XScale();
    const double bottom = area_.y + area_.height;
    for (const double tick : x_scale.ticks()) {
      svg.Line({X(tick), area_.y}, {X(tick), bottom}, "class=\"grid\"");
      if (!with_x_labels) continue;
      svg.Text({X(tick), bottom + 16}, x_scale.Label(tick),
               "class=\"axis\" text-anchor=\"middle\"");
    }
    const AxisScale y_scale(range_.low, range_.high, 5);
    for (const double tick : y_scale.ticks()) {
      svg.Line({area_.x, Y(tick)}, {area_.x + area_.width, Y(tick)}, "class=\"grid\"");
      svg.Text({area_.x - 6, Y(tick) + 4}, y_scale.Label(tick),
               "class=\"axis\" text-anchor=\"end\"");
    }
  }

  void DrawStops(SvgWriter& svg) const {
    double last = area_.x - 2 * kHaltGap;
    for (const SceneStop& stop : scene_.stops) {
      const double from = X(across_ == &TracePoint::time_s ? stop.time_s : stop.distance);
      const double width =
          across_ == &TracePoint::time_s ? stop.duration_s / extent_ * area_.width : 0;
      if (width > 1) {
        svg.Rect({from, area_.y}, width, area_.height, "class=\"standing\"");
      } else if (from - last >= kHaltGap) {
        svg.Line({from, area_.y}, {from, area_.y + area_.height}, "class=\"halt\"");
        last = from;
      }
    }
  }

  // The curve as one line, with a vertical stroke where the quantity jumps. Of the points that
  // share a column of pixels only the first, the last and the extremes are kept.
  std::vector<Pixel> CurvePixels() const {
    std::vector<Pixel> kept;
    std::vector<Pixel> column;
    const auto flush = [&] {
      if (column.empty()) return;
      const auto by_y = [](const Pixel& a, const Pixel& b) { return a.y < b.y; };
      const auto [low, high] = std::minmax_element(column.begin(), column.end(), by_y);
      std::vector<size_t> order = {0, static_cast<size_t>(low - column.begin()),
                                   static_cast<size_t>(high - column.begin()), column.size() - 1};
      std::sort(order.begin(), order.end());
      order.erase(std::unique(order.begin(), order.end()), order.end());
      for (const size_t i : order) kept.push_back(column[i]);
      column.clear();
    };
    for (const TracePhase& phase : scene_.trace.phases) {
      for (const TracePoint& point : phase.points) {
        const Pixel pixel = At(point);
        if (!column.empty() && std::floor(pixel.x) != std::floor(column.front().x)) flush();
        column.push_back(pixel);
      }
    }
    flush();
    return kept;
  }

  void DrawCurve(SvgWriter& svg) const {
    std::vector<Pixel> curve = CurvePixels();
    if (quantity_.filled) {
      std::vector<Pixel> outline = curve;
      outline.push_back({curve.back().x, Y(0)});
      outline.push_back({curve.front().x, Y(0)});
      svg.Polygon(outline, "class=\"area\"");
    }
    svg.Polyline(curve, "class=\"curve\"");
  }

  // A limit, with gaps where there is none.
  SvgPath LimitPath(Value limit, double sign) const {
    SvgPath path;
    bool drawing = false;
    Pixel last;
    for (const TracePhase& phase : scene_.trace.phases) {
      for (const TracePoint& point : phase.points) {
        if (!std::isfinite(point.*limit)) {
          drawing = false;
          continue;
        }
        const Pixel pixel = {X(point.*across_), Y(sign * (point.*limit))};
        if (!drawing) {
          path.MoveTo(pixel);
        } else if (std::abs(pixel.y - last.y) < 0.01 && &point != &phase.points.back()) {
          continue;  // A level limit needs its ends only.
        } else {
          path.LineTo(pixel);
        }
        drawing = true;
        last = pixel;
      }
    }
    return path;
  }

  const Scene& scene_;
  const Quantity quantity_;
  const PanelArea area_;
  const Value across_;
  const std::string clip_id_;
  const ValueRange range_;
  double extent_;
};

}  // namespace

double ChartsHeight(const Scene& scene) {
  if (scene.trace.phases.empty()) return 0;
  const auto rows = static_cast<double>(QuantitiesOf(scene).size());
  return rows * (kRowHeight + kRowGap) + kBottomHeight;
}

void DrawCharts(const Scene& scene, const PanelArea& area, SvgWriter& svg) {
  if (scene.trace.phases.empty()) return;
  const double width = 0.5 * (area.width - kColumnGap);
  const std::vector<Quantity> quantities = QuantitiesOf(scene);
  for (size_t row = 0; row < quantities.size(); ++row) {
    const double y = area.y + kRowGap + static_cast<double>(row) * (kRowHeight + kRowGap);
    const bool is_last = row + 1 == quantities.size();
    const PanelArea left = {area.x, y, width, kRowHeight};
    const PanelArea right = {area.x + width + kColumnGap, y, width, kRowHeight};
    Chart(scene, quantities[row], left, &TracePoint::distance, absl::StrCat("d", row))
        .Draw("distance", is_last, svg);
    Chart(scene, quantities[row], right, &TracePoint::time_s, absl::StrCat("t", row))
        .Draw("time (s)", is_last, svg);
  }
}

}  // namespace arclane
