// SPDX-License-Identifier: Apache-2.0
// The hodograph of a piece at a parameter, exact to a few roundings of its own size, also beside an
// end where it vanishes.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_HODOGRAPH_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_HODOGRAPH_H_

#include <array>

#include "server/planning/spline/curve.h"

namespace arclane {

// dr/dt = value / weight^2, in the local frame; `derivative` is that of the value by t.
struct HodographPoint {
  std::array<double, 3> value{};
  std::array<double, 3> derivative{};
  double weight = 1.0;
};

// Costs some hundred operations: for places where the power basis loses its digits.
HodographPoint EvaluateHodograph(const CurvePiece& piece, int dimension, double t);

// |dr/dt|, local.
double SpeedOf(const HodographPoint& point);

// Signed for planar curves, the magnitude in space; local. Precondition: the speed is not 0.
double CurvatureOf(const HodographPoint& point, int dimension);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_HODOGRAPH_H_
