// SPDX-License-Identifier: Apache-2.0
// The angle of a vector in about 10 ns: the search for rounded paths forms millions, for which the
// standard library's atan2 takes a quarter of the time. Only sums, products, quotients: the same
// bits on every machine.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_ANGLE_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_ANGLE_H_

#include <algorithm>
#include <cmath>
#include <numbers>

namespace arclane {

// As std::atan2(y, x) for finite arguments, to 4e-16 of the result; exactly opposite for opposite
// y. 0 for two zeros. The rational approximation of the arctangent on [0, 0.66] is that of S.
// Moshier, Cephes Mathematical Library (atan.c), relative error 1.8e-16; angles beyond are led back
// by atan(t) = pi/4 + atan((t - 1) / (t + 1)).
inline double AngleOf(double y, double x) {
  const double size_x = std::abs(x);
  const double size_y = std::abs(y);
  const double less = std::min(size_x, size_y);
  const double more = std::max(size_x, size_y);
  if (!(more > 0.0)) return 0.0;
  const bool steep = less > 0.66 * more;
  const double t = steep ? (less - more) / (less + more) : less / more;
  const double z = t * t;
  const double numerator = (((-8.750608600031904122785e-1 * z - 1.615753718733365076637e1) * z -
                             7.500855792314704667340e1) *
                                z -
                            1.228866684490136173410e2) *
                               z -
                           6.485021904942025371773e1;
  const double denominator =
      ((((z + 2.485846490142306297962e1) * z + 1.650270098316988542046e2) * z +
        4.328810604912902668951e2) *
           z +
       4.853903996359136964868e2) *
          z +
      1.945506571482613964425e2;
  double angle = t + t * (z * numerator / denominator);
  if (steep) angle += 0.25 * std::numbers::pi;
  if (size_y > size_x) angle = 0.5 * std::numbers::pi - angle;
  if (x < 0.0) angle = std::numbers::pi - angle;
  return std::copysign(angle, y);
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_ANGLE_H_
