// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/phase_writer.h"

#include <algorithm>

#include "server/planning/speed/motion_tolerance.h"

namespace arclane {

template <typename Real>
Real PhaseWriter<Real>::Circle(const Stretch<Real>& stretch, SpeedPhaseKind kind, Real x_low,
                               Real v_low, Real v_high) {
  const bool brakes = kind == SpeedPhaseKind::kBrake;
  const Real amplitude = stretch.radius * budget_.total;
  const Real rate = 2 / stretch.radius;
  const Real to_top = (grip::kHalfPi<Real> - grip::Angle(x_low, amplitude)) / rate;
  const Real at_top = stretch.length - to_top;
  if (at_top > kNegligiblePart * stretch.length) {
    Stretch<Real> level = stretch;
    level.length = at_top;
    Stretch<Real> rest = stretch;
    rest.length = to_top;
    if (brakes) {
      rest.start = stretch.start + at_top;
      const Real seconds = Cruise(level, v_high);
      return rest.length > 0 ? seconds + Circle(rest, kind, x_low, v_low, v_high) : seconds;
    }
    level.start = stretch.start + to_top;
    const Real seconds = rest.length > 0 ? Circle(rest, kind, x_low, v_low, v_high) : Real{0};
    return seconds + Cruise(level, v_high);
  }
  const Real seconds = grip::TravelTime(x_low, rate * stretch.length, amplitude, rate);
  const Real v_start = brakes ? v_high : v_low;
  const Real acceleration = rate / 2 * grip::Cosine(v_start * v_start, amplitude);
  Append(stretch, kind, SpeedLaw::kGripCircle, seconds, v_start, brakes ? v_low : v_high,
         brakes ? -acceleration : acceleration, amplitude, brakes ? -rate : rate);
  return seconds;
}

template <typename Real>
Real PhaseWriter<Real>::OnCircle(const Stretch<Real>& stretch, SpeedPhaseKind kind,
                                 const BasicPush<Real>& push, Real x_low, Real v_low, Real v_high) {
  const Real knee = stretch.radius * push.knee_per_radius;
  if (x_low >= knee) return Circle(stretch, kind, x_low, v_low, v_high);
  const Real below = std::min(stretch.length, (knee - x_low) / (2 * push.limit));
  const Real v_knee = std::sqrt(knee);
  Stretch<Real> slow = stretch;
  slow.length = below;
  Stretch<Real> fast = stretch;
  fast.length = stretch.length - below;
  if (kind == SpeedPhaseKind::kBrake) {
    slow.start = stretch.start + fast.length;
    const Real first = Circle(fast, kind, knee, v_knee, v_high);
    return first + Constant(slow, kind, v_knee, v_low, -push.limit);
  }
  fast.start = stretch.start + slow.length;
  const Real first = Constant(slow, kind, v_low, v_knee, push.limit);
  return first + Circle(fast, kind, knee, v_knee, v_high);
}

template class PhaseWriter<double>;
template class PhaseWriter<long double>;

}  // namespace arclane
