// SPDX-License-Identifier: Apache-2.0
// How fast an agent that acts in steps may go with a stop ahead: the laws for three kinds of
// integrator, without overshoot in double and in float.
//
// With A = braking * dt, d the distance to the stop, u the speed that acts until now and v the
// speed that is commanded:
//   hold   v acts for the whole step, d -= v dt.
//          v = sqrt(A^2 + 2 a d) - A, the largest v with v dt + v^2 / (2 a) <= d. Computed as
//          d * 2 a / (A + sqrt(A^2 + 2 a d)), which does not cancel, and clamped so that the
//          rounded product v dt is at most d. From one step to the next v falls by less than A.
//   ramp   the speed changes evenly from u to v within the step, d -= (u + v) / 2 dt.
//          The largest v with (u + v) / 2 dt + S(v) <= d, where S is the distance in which steps of
//          A, the last one shorter, bring v to rest: with n = floor(v / A), r = v - n A,
//          S(v) = n (v + r) / 2 dt + r dt / 2. S is linear between multiples of A, so that v is
//          found in closed form. The agent arrives; v^2 / (2 a) instead of S would end up to
//          a dt^2 / 8 beyond the stop, and with that as a margin rest as far short of it for ever.
//   delay  the command acts one step later, d -= u dt: the law of hold at the distance d - u dt.
//
// Overshoot. Every law keeps the agent where a command of 0 still ends its path at most at d, in
// the arithmetic of T: that is checked after rounding and the speed lowered by a few roundings of d
// where it does not hold. An agent that starts so that full braking suffices (RestDistance <= d)
// never passes the stop, as long as dt stays the same and its speed is what was commanded.
//
// Longer steps. Given longest_dt > dt, a margin of longest_dt - dt times the speed of the step
// (hold: v; ramp: the larger of (u + v) / 2 and v; delay: u and v both) is kept in front of the
// stop, which pays for one step of up to longest_dt at any time of the braking run. Behind such a
// step the margin is gone; FullBrakingSpeed is then the floor, and the margin grows back as the
// agent slows down.
//
// All functions: T is float or double; distances, speeds >= 0 unless said, braking > 0, dt >= 0
// (dt = 0 gives the law of continuous time), longest_dt >= dt; 2 * braking * distance must not
// overflow. A distance <= 0 gives speed 0. No state, O(1).
#ifndef ARCLANE_SERVER_PLANNING_FOLLOW_STOPPING_LAW_H_
#define ARCLANE_SERVER_PLANNING_FOLLOW_STOPPING_LAW_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace arclane {

// How the game's controller turns a commanded speed into displacement.
enum class Integrator : uint8_t {
  kHold,   // The command acts for the whole step.
  kRamp,   // The speed changes evenly within the step and reaches the command at its end.
  kDelay,  // The command of the step before acts for the whole step.
};

template <typename T>
struct StoppingStep {
  T braking = 0;     // A magnitude.
  T dt = 0;          // Seconds.
  T longest_dt = 0;  // Seconds, >= dt: what a step may really last.
};

// The displacement of one step of dt: `previous` is the speed that acted until now, `command` the
// one commanded for this step.
template <typename T>
T StepLength(Integrator integrator, T previous, T command, T dt) {
  switch (integrator) {
    case Integrator::kHold:
      return command * dt;
    case Integrator::kRamp:
      return (previous + command) * T{0.5} * dt;
    case Integrator::kDelay:
      break;
  }
  return previous * dt;
}

// hold.
template <typename T>
T HoldStoppingLimit(T distance, T braking, T dt) {
  if (!(distance > 0)) return 0;
  const T a_dt = braking * dt;
  T speed = distance * (2 * braking / (a_dt + std::sqrt(a_dt * a_dt + 2 * braking * distance)));
  if (dt > 0 && speed * dt > distance) {
    speed = std::min(speed, distance / dt);
    while (speed * dt > distance) speed = std::nextafter(speed, T{0});
  }
  return speed;
}

// hold: the speed that lands on the stop within this step, where the agent can rest in the next
// one: distance / longest_dt if that is at most braking * dt, else 0. The law above comes to the
// stop in ever shorter steps; an agent may use the larger of the two.
template <typename T>
T LandingLimit(T distance, const StoppingStep<T>& step) {
  if (!(distance > 0) || !(step.dt > 0)) return 0;
  // Far away, which is mostly so, no division is needed to see it: by a few roundings.
  const T far = step.braking * step.dt * step.longest_dt;
  if (distance > far + 8 * std::numeric_limits<T>::epsilon() * far) return 0;
  T speed = distance / step.longest_dt;
  if (speed > step.braking * step.dt) return 0;
  while (speed * step.longest_dt > distance) speed = std::nextafter(speed, T{0});
  return speed;
}

// The distance that the agent still covers when it brakes fully from now on: its speed is `speed`,
// and so was the last command. dt > 0.
template <typename T>
T RestDistance(Integrator integrator, T speed, T braking, T dt) {
  const T a_dt = braking * dt;
  const T n = std::floor(speed / a_dt);
  if (integrator == Integrator::kRamp) {
    const T r = std::max(T{0}, speed - n * a_dt);
    return (n * (speed + r) + r) * T{0.5} * dt;
  }
  const T held = n * (speed - a_dt * T{0.5} * (n + 1)) * dt;  // Sum of (speed - k A) dt, k = 1..n.
  return integrator == Integrator::kHold ? held : speed * dt + held;
}

// The command of full braking.
template <typename T>
T FullBrakingSpeed(T previous, T braking, T dt) {
  return std::max(T{0}, previous - braking * dt);
}

namespace stopping_law_internal {

// The largest v >= 0 with v * reach + S(v) <= room, S as above: between v = n A and (n + 1) A the
// left side has the slope reach + (n + 1/2) dt, and its value at n A is A (n reach + n^2 dt / 2).
template <typename T>
T LargestSpeedOfRamp(T room, T reach, T a_dt, T dt) {
  if (!(room > 0)) return 0;
  const T e = reach / dt;
  const T q = 2 * room / (a_dt * dt);
  // n^2 + 2 e n <= q; the form without cancellation.
  T n = std::floor(q / (e + std::sqrt(e * e + q)));
  const auto value = [&](T k) { return a_dt * (k * reach + k * k * T{0.5} * dt); };
  if (n > 0 && value(n) > room) n -= 1;
  const T rest = std::max(T{0}, room - value(n));
  return n * a_dt + std::min(a_dt, rest / (reach + (n + T{0.5}) * dt));
}

}  // namespace stopping_law_internal

// ramp; dt > 0. `previous` is the speed at the step's begin.
template <typename T>
T RampStoppingLimit(T distance, T previous, const StoppingStep<T>& step) {
  using stopping_law_internal::LargestSpeedOfRamp;
  if (!(distance > 0)) return 0;
  const T dt = step.dt;
  const T a_dt = step.braking * dt;
  const T half_longest = T{0.5} * step.longest_dt;
  T speed = LargestSpeedOfRamp(distance - previous * half_longest, half_longest, a_dt, dt);
  // Faster than before: the margin is that of the new speed.
  if (speed > previous && step.longest_dt > dt) {
    const T half = T{0.5} * dt;
    speed = LargestSpeedOfRamp(distance - previous * half, step.longest_dt - half, a_dt, dt);
  }
  // Rounding: this step ends at most at the stop, and so does the next one when it commands 0. The
  // two sides are sums of few terms of at most `distance`; four roundings of it cover them in any
  // order of evaluation.
  const T roundoff = 4 * std::numeric_limits<T>::epsilon() * distance;
  const auto passes = [&](T v) {
    const T left = distance - StepLength(Integrator::kRamp, previous, v, step.longest_dt);
    return StepLength(Integrator::kRamp, v, T{0}, dt) > left - roundoff;
  };
  // Where roundings underflow, the smallest normal number stands for them.
  for (T lower = std::max(roundoff / dt, std::numeric_limits<T>::min()); speed > 0 && passes(speed);
       lower *= 2) {
    speed = std::max(T{0}, speed - lower);
  }
  return speed;
}

// delay; `previous` is the command of the step before, which acts now.
template <typename T>
T DelayStoppingLimit(T distance, T previous, const StoppingStep<T>& step) {
  return HoldStoppingLimit(distance - previous * step.longest_dt, step.braking, step.longest_dt);
}

// The law of the integrator.
template <typename T>
T StoppingLimit(Integrator integrator, T distance, T previous, const StoppingStep<T>& step) {
  switch (integrator) {
    case Integrator::kHold:
      return HoldStoppingLimit(distance, step.braking, step.longest_dt);
    case Integrator::kRamp:
      return RampStoppingLimit(distance, previous, step);
    case Integrator::kDelay:
      break;
  }
  return DelayStoppingLimit(distance, previous, step);
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_FOLLOW_STOPPING_LAW_H_
