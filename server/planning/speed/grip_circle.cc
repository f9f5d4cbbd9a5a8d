// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/grip_circle.h"

#include <algorithm>

namespace arclane::grip {
namespace {

// G(phi) = integral of d p / sqrt(sin p) from 0 to phi = sqrt(phi) * P(phi^2) with an even, smooth
// P: substituting p = u^2 turns the integrand into 2 (sin(u^2) / u^2)^(-1/2). P by Chebyshev
// interpolation of degree 13 on phi^2 in [0, pi^2/4]; absolute error 1.6e-18 (the nearest
// singularity is at phi^2 = pi^2).
template <typename Real>
Real Antiderivative(Real phi) {
  constexpr double kCoefficients[] = {
      1.9999999999999999988,      0.033333333333333523131,   0.0013888888888839035786,
      0.000077584452635897725252, 5.1102614210374377834e-6,  3.7108524096897162574e-7,
      2.8664852270445534736e-8,   2.3127278826575806177e-9,  1.8950371506143553471e-10,
      1.7994974202877730077e-11,  6.3976235906966838535e-13, 3.6573568211990303789e-13,
      -3.5564212799950527694e-14, 5.6309394953182710255e-15};
  const Real w = phi * phi;
  Real sum = 0.0;
  for (int k = 13; k >= 0; --k) sum = sum * w + kCoefficients[k];
  return std::sqrt(phi) * sum;
}

// Five-point Gauss rule on a short interval around `middle`. The integrand's nearest singularity is
// at phi = 0, at a distance of at least 20 half-widths, so the rule's error is below 40^-10 ~ 1e-16
// relative.
template <typename Real>
Real ShortIntegral(Real middle, Real half_width) {
  constexpr double kNodes[] = {0.53846931010568309104, 0.90617984593866399280};
  constexpr double kWeights[] = {0.47862867049936646804, 0.23692688505618908751};
  constexpr double kMiddleWeight = 0.56888888888888888889;
  const Real s = std::sin(middle);
  const Real c = std::cos(middle);
  Real sum = kMiddleWeight / std::sqrt(s);
  for (int i = 0; i < 2; ++i) {
    const Real t = half_width * kNodes[i];
    const Real t2 = t * t;
    // |t| <= 0.08: the next terms are below 1e-16.
    const Real cosine = 1.0 - t2 * (0.5 - t2 * (1.0 / 24 - t2 * (1.0 / 720 - t2 / 40320)));
    const Real sine = t * (1.0 - t2 * (1.0 / 6 - t2 * (1.0 / 120 - t2 / 5040)));
    sum +=
        kWeights[i] * (1 / std::sqrt(s * cosine + c * sine) + 1 / std::sqrt(s * cosine - c * sine));
  }
  return half_width * sum;
}

// Below this ratio of the interval to its middle the difference of antiderivatives would lose more
// than a digit and the short rule is exact.
constexpr double kShortRatio = 0.1;

}  // namespace

template <typename Real>
Real TimeIntegral(Real low, Real theta) {
  if (theta <= 0) return 0;
  const Real to_top = std::max(Real{0}, kHalfPi<Real> - low);
  if (theta > to_top) return TimeIntegral(low, to_top) + (theta - to_top);
  const Real middle = low + theta / 2;
  if (theta <= kShortRatio * middle) return ShortIntegral(middle, theta / 2);
  return Antiderivative(std::min(low + theta, kHalfPi<Real>)) - Antiderivative(low);
}

template double TimeIntegral(double, double);
template long double TimeIntegral(long double, long double);

}  // namespace arclane::grip
