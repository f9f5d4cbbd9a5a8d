// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/map_symbols.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/plot/color_ramp.h"

namespace arclane {
namespace {

constexpr double kSampleGap = 8;     // Dots of samples that are closer, on average, are left out.
constexpr double kSpeedDotGap = 14;  // Likewise, for the larger dots that show their speed.
constexpr double kControlRadius = 2.6;
constexpr double kLeastBodyWidth = 8;  // A narrower body is hidden by the line.

}  // namespace

int SpeedColor(double speed, double largest) {
  if (!(largest > 0)) return 0;
  return std::clamp(static_cast<int>(speed / largest * kSpeedColors), 0, kSpeedColors - 1);
}

std::string SpeedFill(double speed, double largest) {
  return absl::StrCat("fill=\"", RampColor((SpeedColor(speed, largest) + 0.5) / kSpeedColors),
                      "\"");
}

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

void DrawControlPoint(Pixel center, SvgWriter& svg) {
  svg.Rect({center.x - kControlRadius, center.y - kControlRadius}, 2 * kControlRadius,
           2 * kControlRadius, "");
}

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

}  // namespace arclane
