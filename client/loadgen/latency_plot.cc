// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/latency_plot.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/plot/plot_page.h"
#include "client/cli/plot/svg_writer.h"

namespace arclane {
namespace {

constexpr double kWidth = 900, kHeight = 520;
constexpr double kLeft = 80, kRight = 30, kTop = 88, kBottom = 96;
constexpr double kLegendLine = 18;
// Curves differ by colour and, from baselines, by their dashes (Okabe and Ito's palette, which is
// told apart without red and green).
constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73",
                                   "#cc79a7", "#e69f00", "#56b4e9"};

struct Tick {
  double percent;
  const char* label;
};
constexpr Tick kPercents[] = {{0, "0%"},       {50, "50%"},       {90, "90%"},        {99, "99%"},
                              {99.9, "99.9%"}, {99.99, "99.99%"}, {99.999, "99.999%"}};

// 0 at 0%, 1 at 90%, 2 at 99%, ...
double Nines(double share) { return -std::log10(1.0 - share); }

struct Range {
  double low_ns;  // Powers of ten.
  double high_ns;
  double nines;
};

Range RangeOf(const std::vector<LatencyCurve>& curves) {
  double low = 1e18, high = 1.0, most = 1000.0;
  for (const LatencyCurve& curve : curves) {
    if (curve.histogram->count() == 0) continue;
    low = std::min(low, static_cast<double>(std::max<uint64_t>(1, curve.histogram->min())));
    high = std::max(high, static_cast<double>(curve.histogram->max()));
    most = std::max(most, static_cast<double>(curve.histogram->count()));
  }
  // One more than the curve needs where it begins or ends at a line.
  return {std::pow(10.0, std::floor(std::log10(low))),
          std::pow(10.0, std::max(std::floor(std::log10(low)) + 1, std::ceil(std::log10(high)))),
          std::clamp(std::log10(most), 2.0, 5.0)};
}

std::string TimeLabel(double ns) {
  if (ns < 1e3) return absl::StrFormat("%g ns", ns);
  if (ns < 1e6) return absl::StrFormat("%g us", ns * 1e-3);
  if (ns < 1e9) return absl::StrFormat("%g ms", ns * 1e-6);
  return absl::StrFormat("%g s", ns * 1e-9);
}

class Plot {
 public:
  Plot(const std::string& title, const std::string& subtitle,
       const std::vector<LatencyCurve>& curves)
      : curves_(curves),
        range_(RangeOf(curves)),
        height_(kHeight + kLegendLine * static_cast<double>(curves.size())),
        svg_(kWidth, height_, title, subtitle,
             PlotStyleSheet() + ".latency{fill:none;stroke-width:2;stroke-linejoin:round}\n") {
    svg_.Rect({0, 0}, kWidth, height_, "class=\"page\"");
    svg_.Text({kLeft, 34}, title, "class=\"heading\"");
    svg_.Text({kLeft, 58}, subtitle, "class=\"subheading\"");
  }

  std::string Draw() {
    svg_.Rect({kLeft, kTop}, PanelWidth(), PanelHeight(), "class=\"panel\"");
    DrawLatencyAxis();
    DrawPercentAxis();
    svg_.Rect({kLeft, kTop}, PanelWidth(), PanelHeight(), "class=\"frame\"");
    bool any = false;
    for (size_t i = 0; i < curves_.size(); ++i) {
      DrawLegend(i);
      if (curves_[i].histogram->count() == 0) continue;
      DrawCurve(i);
      any = true;
    }
    if (!any) {
      svg_.Text({kLeft + PanelWidth() / 2, kTop + PanelHeight() / 2}, "no call succeeded",
                "class=\"heading\" text-anchor=\"middle\"");
    }
    return svg_.Finish();
  }

 private:
  static double PanelWidth() { return kWidth - kLeft - kRight; }
  static double PanelHeight() { return kHeight - kTop - kBottom; }
  double X(double share) const {
    return kLeft + PanelWidth() * std::min(Nines(share), range_.nines) / range_.nines;
  }
  double Y(double ns) const {
    const double low = std::log10(range_.low_ns), high = std::log10(range_.high_ns);
    return kTop + PanelHeight() * (1.0 - (std::log10(std::max(ns, 1.0)) - low) / (high - low));
  }

  void DrawLatencyAxis() {
    for (double power = range_.low_ns; power <= range_.high_ns * 1.001; power *= 10) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double ns = power * factor;
        if (ns > range_.high_ns * 1.001) break;
        const double y = Y(ns);
        svg_.Line({kLeft, y}, {kLeft + PanelWidth(), y}, "class=\"grid\"");
        svg_.Text({kLeft - 8, y + 4}, TimeLabel(ns), "class=\"axis\" text-anchor=\"end\"");
      }
    }
    svg_.Text({kLeft, kTop - 10}, "latency", "class=\"axis-title\"");
  }

  void DrawPercentAxis() {
    const double bottom = kTop + PanelHeight();
    for (const Tick& tick : kPercents) {
      if (Nines(tick.percent / 100) > range_.nines + 1e-9) continue;
      const double x = X(tick.percent / 100);
      svg_.Line({x, kTop}, {x, bottom}, "class=\"grid\"");
      svg_.Text({x, bottom + 18}, tick.label, "class=\"axis\" text-anchor=\"middle\"");
    }
    svg_.Text({kLeft + PanelWidth() / 2, bottom + 40}, "share of the calls that ended within",
              "class=\"axis-title\" text-anchor=\"middle\"");
  }

  std::string Stroke(size_t i) const {
    return absl::StrCat("stroke=\"", kColors[i / 2 % std::size(kColors)], "\"",
                        curves_[i].is_baseline ? " stroke-dasharray=\"6 4\"" : "");
  }

  // A value holds from the share of what is below it on: stairs.
  void DrawCurve(size_t i) {
    SvgPath path;
    double last_x = kLeft;
    bool first = true;
    for (const LatencyHistogram::Step& step : curves_[i].histogram->Steps()) {
      const double x = step.share >= 1.0 ? kLeft + PanelWidth() : X(step.share);
      const double y = Y(step.value);
      if (first) path.MoveTo({last_x, y});
      if (!first) path.LineTo({last_x, y});
      first = false;
      path.LineTo({x, y});
      last_x = x;
    }
    svg_.Path(path, "class=\"latency\" " + Stroke(i));
  }

  void DrawLegend(size_t i) {
    const LatencyHistogram& histogram = *curves_[i].histogram;
    const double y = kHeight - 26 + kLegendLine * static_cast<double>(i);
    svg_.Line({kLeft, y - 4}, {kLeft + 36, y - 4}, "stroke-width=\"2\" " + Stroke(i));
    svg_.Text({kLeft + 46, y},
              absl::StrFormat("%s: %d calls, p50 %.3f ms, p99 %.3f ms, max %.3f ms",
                              curves_[i].name, histogram.count(), histogram.Percentile(50) * 1e-6,
                              histogram.Percentile(99) * 1e-6,
                              static_cast<double>(histogram.max()) * 1e-6),
              "class=\"legend\"");
  }

  const std::vector<LatencyCurve>& curves_;
  const Range range_;
  const double height_;
  SvgWriter svg_;
};

}  // namespace

std::string PlotLatencies(const std::string& title, const std::string& subtitle,
                          const std::vector<LatencyCurve>& curves) {
  return Plot(title, subtitle, curves).Draw();
}

}  // namespace arclane
