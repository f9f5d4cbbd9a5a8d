// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/color_ramp.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_format.h"

namespace arclane {
namespace {

struct Rgb {
  double red, green, blue;
};

constexpr std::array<Rgb, 5> kAnchors = {
    {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};

}  // namespace

std::string RampColor(double fraction) {
  const double clamped = fraction > 0 ? std::min(fraction, 1.0) : 0.0;
  const double scaled = clamped * (kAnchors.size() - 1);
  const size_t below = std::min(static_cast<size_t>(scaled), kAnchors.size() - 2);
  const double share = scaled - static_cast<double>(below);
  const Rgb& a = kAnchors[below];
  const Rgb& b = kAnchors[below + 1];
  const auto mix = [share](double from, double to) {
    return static_cast<int>(std::lround(from + (to - from) * share));
  };
  return absl::StrFormat("#%02x%02x%02x", mix(a.red, b.red), mix(a.green, b.green),
                         mix(a.blue, b.blue));
}

}  // namespace arclane
