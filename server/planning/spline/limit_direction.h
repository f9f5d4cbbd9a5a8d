// SPDX-License-Identifier: Apache-2.0
// The direction of travel at a point of a piece, where its speed vanishes too.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_LIMIT_DIRECTION_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_LIMIT_DIRECTION_H_

#include <array>

#include "server/planning/spline/curve.h"

namespace arclane {

enum class TravelSide : uint8_t {
  kLeaving,   // The limit from larger t.
  kArriving,  // The limit from smaller t.
};

// Whether dr/dt is zero at t to the rounding of its evaluation.
bool SpeedVanishes(const CurvePiece& piece, int dimension, double t);

// Unit vector along the first derivative of r at t, of order at least `least_order`, that does not
// vanish; with the sign that makes it the limit of r' / |r'| from the given side. Zero only for a
// piece of length zero.
std::array<double, 3> LimitDirection(const CurvePiece& piece, int dimension, double t,
                                     TravelSide side, int least_order);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_LIMIT_DIRECTION_H_
