// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/axis_scale.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace arclane {
namespace {

// Labels have at most about this many digits; beyond, an offset or a factor takes them.
constexpr int kMaxLabelDigits = 6;

int FloorLog10(double value) { return static_cast<int>(std::floor(std::log10(value))); }

}  // namespace

double RoundStepBelow(double value) {
  const double power = std::pow(10.0, FloorLog10(value));
  // A quotient within rounding of a round number counts as that number.
  const double quotient = value / power * (1 + 1e-12);
  if (quotient >= 5) return 5 * power;
  if (quotient >= 2) return 2 * power;
  return power;
}

double RoundStepAbove(double value) {
  const double power = std::pow(10.0, FloorLog10(value));
  const double quotient = value / power * (1 - 1e-12);
  if (quotient <= 1) return power;
  if (quotient <= 2) return 2 * power;
  if (quotient <= 5) return 5 * power;
  return 10 * power;
}

AxisScale::AxisScale(double low, double high, int most) {
  step_ = RoundStepAbove((high - low) / most);
  const double first = std::ceil(low / step_ - 1e-9);
  const double last = std::floor(high / step_ + 1e-9);
  if (!std::isfinite(first) || !std::isfinite(last) || last - first > 1000) return;
  for (double k = first; k <= last; ++k) ticks_.push_back(k * step_);

  const double largest = std::max(std::abs(low), std::abs(high));
  const int step_digit = FloorLog10(step_);
  if (largest > 0 && FloorLog10(largest) - step_digit >= kMaxLabelDigits) {
    const double block = std::pow(10.0, FloorLog10(high - low) + 1);
    offset_ = std::floor(low / block) * block;
  }
  const double shown = std::max(std::abs(low - offset_), std::abs(high - offset_));
  if (shown >= 1e6 || step_ < 1e-3)
    exponent_ = 3 * static_cast<int>(std::floor(FloorLog10(shown) / 3.0));
  decimals_ = std::max(0, exponent_ - step_digit);
}

std::string AxisScale::Label(double tick) const {
  std::string label =
      absl::StrFormat("%.*f", decimals_, (tick - offset_) / std::pow(10.0, exponent_));
  if (label.starts_with('-') && label.find_first_not_of("-0.") == std::string::npos) {
    label.erase(0, 1);
  }
  return label;
}

std::string AxisScale::Title(const std::string& name) const {
  std::string title = name;
  if (offset_ != 0) {
    absl::StrAppend(&title, offset_ < 0 ? " + " : " \xe2\x88\x92 ",
                    absl::StrFormat("%.12g", std::abs(offset_)));
  }
  if (exponent_ != 0) absl::StrAppend(&title, " [1e", exponent_, "]");
  return title;
}

}  // namespace arclane
