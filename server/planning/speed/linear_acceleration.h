// SPDX-License-Identifier: Apache-2.0
// Motion with acceleration linear in distance: a = a0 + c d, so x = v^2 = v0^2 + 2 a0 d + c d^2.
//
// It is the motion s'' = a0 + c s: hyperbolic for c > 0, harmonic for c < 0, uniform acceleration
// for c = 0. With k = sqrt(c) and u = k d / (v0 + v1),
//   time = (2 d / (v0 + v1)) * atanh(u) / u     (atan for c < 0),
// which needs no case for small c beyond the series of atanh(u)/u in z = u^2.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_LINEAR_ACCELERATION_H_
#define ARCLANE_SERVER_PLANNING_SPEED_LINEAR_ACCELERATION_H_

#include <cmath>

namespace arclane::linear_acceleration {

// atanh(u)/u for z = u^2 > 0, atan(u)/u for z = -u^2 < 0. z < 1.
template <typename Real>
Real ArcRatio(Real z) {
  // Eight terms: 0.01^8 / 17 < 1e-17 relative; eleven: 0.04^11 / 23 < 1e-16. Grouped, since the
  // terms of the usual case are otherwise a chain.
  if (std::abs(z) < 0.01) {
    const Real z2 = z * z;
    const Real low = (1 + z * (Real{1} / 3)) + z2 * (Real{1} / 5 + z * (Real{1} / 7));
    const Real high = (Real{1} / 9 + z * (Real{1} / 11)) + z2 * (Real{1} / 13 + z * (Real{1} / 15));
    return low + z2 * z2 * high;
  }
  if (std::abs(z) < 0.04) {
    Real sum = Real{1} / 21;
    sum = sum * z + Real{1} / 19;
    sum = sum * z + Real{1} / 17;
    sum = sum * z + Real{1} / 15;
    sum = sum * z + Real{1} / 13;
    sum = sum * z + Real{1} / 11;
    sum = sum * z + Real{1} / 9;
    sum = sum * z + Real{1} / 7;
    sum = sum * z + Real{1} / 5;
    sum = sum * z + Real{1} / 3;
    return sum * z + 1;
  }
  const Real u = std::sqrt(std::abs(z));
  return z > 0.0 ? std::atanh(u) / u : std::atan(u) / u;
}

// Seconds over distance d with speeds v0 and v1 at its ends. Symmetric in the ends.
template <typename Real>
Real Time(Real d, Real v0, Real v1, Real c) {
  const Real sum = v0 + v1;
  if (!(sum > 0.0)) return 0;
  const Real ratio = d / sum;
  return 2.0 * ratio * ArcRatio(c * ratio * ratio);
}

// Distance after t seconds from speed v0 and acceleration a0: v0 sinh(k t)/k + a0 (cosh(k t) -
// 1)/k^2 (circular functions for c < 0).
template <typename Real>
Real Distance(Real t, Real v0, Real a0, Real c) {
  const Real z = c * t * t;
  if (std::abs(z) < 0.04) {
    // Series of sinh(q)/q and (cosh(q) - 1)/q^2 in z = q^2; the next terms are below 1e-16.
    const Real sinh_ratio =
        1.0 + z / 6 * (1.0 + z / 20 * (1.0 + z / 42 * (1.0 + z / 72 * (1.0 + z / 110))));
    const Real cosh_ratio =
        0.5 * (1.0 + z / 12 * (1.0 + z / 30 * (1.0 + z / 56 * (1.0 + z / 90 * (1.0 + z / 132)))));
    return t * (v0 * sinh_ratio + a0 * t * cosh_ratio);
  }
  const Real k = std::sqrt(std::abs(c));
  const Real q = k * t;
  if (c > 0.0) {
    const Real half = std::sinh(0.5 * q);
    return v0 * std::sinh(q) / k + 2.0 * a0 * half * half / c;
  }
  const Real half = std::sin(0.5 * q);
  return v0 * std::sin(q) / k + 2.0 * a0 * half * half / -c;
}

}  // namespace arclane::linear_acceleration

#endif  // ARCLANE_SERVER_PLANNING_SPEED_LINEAR_ACCELERATION_H_
