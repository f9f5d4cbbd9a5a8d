// SPDX-License-Identifier: Apache-2.0
// A phase: a stretch of path under one closed-form law of motion. A speed plan is a list of phases.
//
// Every law gives x = v^2 as a function of the distance d since the phase began, 0 <= d <= length:
//   kConstantAcceleration  x = v0^2 + 2 a d
//   kLinearAcceleration    x = v0^2 + 2 a d + c d^2           a_t = a + c d
//   kGripCircle            x = M sin(phi0 + w d)              M = R * total, |w| = 2/R: a_t^2 +
//   (v^2/R)^2 = total^2 kLateralCap            x = c / (k0 + k1 d)                the lateral limit
//   on curvature k0 + k1 d kDwell                 d = 0: at rest for duration_s
#ifndef ARCLANE_SERVER_PLANNING_SPEED_SPEED_PHASE_H_
#define ARCLANE_SERVER_PLANNING_SPEED_SPEED_PHASE_H_

#include <cstdint>

namespace arclane {

// What the agent does; the order of values is stable.
enum class SpeedPhaseKind : std::uint8_t {
  kAccelerate,
  kCruise,  // constant speed
  kBrake,
  kFollowCap,  // speed follows a limit that changes along the piece (curvature profiles only)
  kDwell,      // at rest, such as turning in place
};

enum class SpeedLaw : std::uint8_t {
  kConstantAcceleration,
  kLinearAcceleration,
  kGripCircle,
  kLateralCap,
  kDwell,
};

struct SpeedPhase {
  std::uint32_t piece = 0;  // index into the caller's pieces (or node intervals)
  SpeedPhaseKind kind = SpeedPhaseKind::kCruise;
  SpeedLaw law = SpeedLaw::kConstantAcceleration;
  double start_distance = 0.0;  // along the whole path
  double start_time_s = 0.0;
  double length = 0.0;
  double duration_s = 0.0;
  double start_speed = 0.0;
  double end_speed = 0.0;
  double acceleration = 0.0;  // a_t where the phase starts; signed
  // Law parameters. kLinearAcceleration: {c, unused}. kGripCircle: {M, w}, w < 0 while braking.
  // kLateralCap: {k0 / c, k1 / c}, so that v = 1 / sqrt(first + second * d).
  double first = 0.0;
  double second = 0.0;
};

// Speed after distance d of the phase; d is clamped to [0, length]. Braking phases are evaluated
// from their end, so that the result keeps its relative accuracy (a few ulps) down to rest.
double SpeedAt(const SpeedPhase& phase, double d);

// Tangential acceleration after distance d; signed.
double AccelerationAt(const SpeedPhase& phase, double d);

// Time since the phase began when distance d is reached; within [0, duration_s]. 0 for a dwell.
// Exact formulas except kGripCircle, whose elliptic integral is evaluated to about 1e-15 relative.
double TimeAt(const SpeedPhase& phase, double d);
// The same with SpeedAt(phase, d) given, for callers that need both.
double TimeAt(const SpeedPhase& phase, double d, double speed_at_d);

// The inverse of TimeAt: the distance since the phase began after t seconds; t is clamped to [0,
// duration_s]. kGripCircle solves by safeguarded Newton steps (at most a few), all others are
// closed forms.
double DistanceAtTime(const SpeedPhase& phase, double t);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_SPEED_PHASE_H_
