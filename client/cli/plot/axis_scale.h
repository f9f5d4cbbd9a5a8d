// SPDX-License-Identifier: Apache-2.0
// Round numbers on an axis, and their labels for any magnitude: coordinates of 1e7 that differ by
// millimetres get an offset, lengths of 1e-6 a factor, both told in the axis's title.
#ifndef ARCLANE_CLIENT_CLI_PLOT_AXIS_SCALE_H_
#define ARCLANE_CLIENT_CLI_PLOT_AXIS_SCALE_H_

#include <string>
#include <vector>

namespace arclane {

// The largest of 1, 2 or 5 times a power of ten that is <= value, and the smallest that is >=
// value. Precondition: value > 0 and finite.
double RoundStepBelow(double value);
double RoundStepAbove(double value);

class AxisScale {
 public:
  // Ticks within [low, high], at most `most` + 1 of them; low < high, both finite, most >= 1. They
  // are multiples of 1, 2 or 5 times a power of ten; there may be none when the range is below the
  // doubles' resolution.
  AxisScale(double low, double high, int most);

  const std::vector<double>& ticks() const { return ticks_; }
  double step() const { return step_; }
  std::string Label(double tick) const;
  // The title with the unit, the offset and the factor that labels leave out, such as "x - 10000000
  // [1e-3]".
  std::string Title(const std::string& name) const;

 private:
  double step_ = 1;
  double offset_ = 0;
  int exponent_ = 0;  // Labels are (tick - offset) / 10^exponent.
  int decimals_ = 0;
  std::vector<double> ticks_;
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_AXIS_SCALE_H_
