// SPDX-License-Identifier: Apache-2.0
// Motion on an arc at the edge of a coupled budget A: dx/ds = +-2 sqrt(A^2 - (x/R)^2), x = v^2.
//
// With M = R A and w = 2 / R the solution is x = M sin(phi), phi = phi0 + w s, phi in [0, pi/2].
// Time is
//   dt = ds / v = d phi / (w sqrt(M sin phi)),
// an elliptic integral of the first kind. All functions look from the slower end; braking is the
// mirror image.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_GRIP_CIRCLE_H_
#define ARCLANE_SERVER_PLANNING_SPEED_GRIP_CIRCLE_H_

#include <cmath>

namespace arclane::grip {

template <typename Real>
inline constexpr Real kHalfPi = static_cast<Real>(1.57079632679489661923132169163975144L);

// M cos(phi) where M sin(phi) = x; the product keeps its accuracy as x approaches M.
template <typename Real>
Real Cosine(Real x, Real amplitude) {
  return x < amplitude ? std::sqrt((amplitude - x) * (amplitude + x)) : Real{0};
}

// phi in [0, pi/2] with M sin(phi) = x, well conditioned at both ends.
template <typename Real>
Real Angle(Real x, Real amplitude) {
  return std::atan2(x, Cosine(x, amplitude));
}

// x after the angle has grown by theta >= 0; M once phi reaches pi/2.
template <typename Real>
Real Advance(Real x, Real theta, Real amplitude) {
  if (x >= amplitude || theta >= kHalfPi<Real>) return amplitude;
  const Real cosine = Cosine(x, amplitude);
  const Real c = std::cos(theta);
  const Real s = std::sin(theta);
  if (cosine * c <= x * s) return amplitude;
  return x * c + cosine * s;
}

// x after the angle has fallen by theta >= 0; 0 once phi reaches 0.
template <typename Real>
Real Retreat(Real x, Real theta, Real amplitude) {
  if (theta >= kHalfPi<Real> && x < amplitude) return 0;
  const Real value = x * std::cos(theta) - Cosine(x, amplitude) * std::sin(theta);
  return value > 0 ? value : Real{0};
}

// Integral of d phi / sqrt(sin phi) from low to low + theta, 0 <= low <= pi/2; beyond the top, at
// pi/2, the speed is that of the top. Relative error below 1e-14.
template <typename Real>
Real TimeIntegral(Real low, Real theta);

// Seconds to get from x_low over an angle of theta = w * distance at amplitude M.
template <typename Real>
Real TravelTime(Real x_low, Real theta, Real amplitude, Real rate) {
  return TimeIntegral(Angle(x_low, amplitude), theta) / (rate * std::sqrt(amplitude));
}

}  // namespace arclane::grip

#endif  // ARCLANE_SERVER_PLANNING_SPEED_GRIP_CIRCLE_H_
