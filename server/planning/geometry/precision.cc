// SPDX-License-Identifier: Apache-2.0
#include "server/planning/geometry/precision.h"

#include <algorithm>
#include <cmath>

namespace arclane {
namespace {

// The unit in the last place of a binary float with `fraction_bits` stored bits at `magnitude` > 0.
double UnitInLastPlace(double magnitude, int fraction_bits) {
  return std::ldexp(1.0, std::ilogb(magnitude) - fraction_bits);
}

}  // namespace

double CoordinatePrecision::ToleranceAt(double magnitude) const {
  const bool is_zero = !(magnitude > 0.0);
  const double from_double = is_zero ? 0.0 : kDoubleUlps * UnitInLastPlace(magnitude, 52);
  switch (source) {
    case PrecisionSource::kFloat32:
      return is_zero ? 0.0 : kFloat32SeamUlps * UnitInLastPlace(magnitude, 23);
    case PrecisionSource::kLength:
      return std::max(length, from_double);
    case PrecisionSource::kDouble:
      break;
  }
  return from_double;
}

}  // namespace arclane
