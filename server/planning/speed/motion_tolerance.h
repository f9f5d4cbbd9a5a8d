// SPDX-License-Identifier: Apache-2.0
// What counts as rounding when motions on pieces are told apart. Internal to the speed planner.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_MOTION_TOLERANCE_H_
#define ARCLANE_SERVER_PLANNING_SPEED_MOTION_TOLERANCE_H_

namespace arclane {

// A speed within this of a cap is on the cap: squaring and taking roots moves it by an ulp or two.
inline constexpr double kOnCap = 1.0 - 8.9e-16;
// Two squared speeds within this of a cap are level: neighbouring caps that are meant to be equal
// differ by the roundings of their radii, some tens of ulps when the radii were computed. Changing
// between them would be a motion over less than 1e-7 of the radius, and changes no time by more
// than half of this.
inline constexpr double kLevel = 1.0 - 0x1p-46;
// A change of speed that needs this much of its piece needs all of it. Near the top of a grip
// circle a length is known from squared speeds, with their rounding e, to sqrt(2 e) radians only.
inline constexpr double kWholePiece = 1.0 - 1e-9;
// Phases shorter than this part of their piece are rounding: lengths are differences of quotients
// of squared speeds.
inline constexpr double kNegligiblePart = 1e-13;

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_MOTION_TOLERANCE_H_
