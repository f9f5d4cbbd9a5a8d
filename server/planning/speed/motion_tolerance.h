// SPDX-License-Identifier: Apache-2.0
// What counts as rounding when motions on pieces are told apart. Internal to the speed planner.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_MOTION_TOLERANCE_H_
#define ARCLANE_SERVER_PLANNING_SPEED_MOTION_TOLERANCE_H_

namespace arclane {

// A speed within this of a cap is on the cap: squaring and taking roots moves it by an ulp or two.
inline constexpr double kOnCap = 1.0 - 8.9e-16;
// Phases shorter than this part of their piece are rounding: lengths are differences of quotients
// of squared speeds.
inline constexpr double kNegligiblePart = 1e-13;

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_MOTION_TOLERANCE_H_
