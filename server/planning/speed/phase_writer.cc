// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/phase_writer.h"

#include <algorithm>

namespace arclane {

double PhaseWriter::Circle(const Stretch& stretch, SpeedPhaseKind kind, double x_low, double v_low,
                           double v_high) {
  const bool brakes = kind == SpeedPhaseKind::kBrake;
  const double amplitude = stretch.radius * budget_.total;
  const double rate = 2.0 / stretch.radius;
  const double seconds = grip::TravelTime(x_low, rate * stretch.length, amplitude, rate);
  const double v_start = brakes ? v_high : v_low;
  const double acceleration = 0.5 * rate * grip::Cosine(v_start * v_start, amplitude);
  phases_.push_back({stretch.piece, kind, SpeedLaw::kGripCircle, stretch.start, time_,
                     stretch.length, seconds, v_start, brakes ? v_low : v_high,
                     brakes ? -acceleration : acceleration, amplitude, brakes ? -rate : rate});
  time_ += seconds;
  return seconds;
}

double PhaseWriter::OnCircle(const Stretch& stretch, SpeedPhaseKind kind, const Push& push,
                             double x_low, double v_low, double v_high) {
  const double knee = stretch.radius * push.knee_per_radius;
  if (x_low >= knee) return Circle(stretch, kind, x_low, v_low, v_high);
  const double below = std::min(stretch.length, (knee - x_low) / (2.0 * push.limit));
  const double v_knee = std::sqrt(knee);
  Stretch slow = stretch;
  slow.length = below;
  Stretch fast = stretch;
  fast.length = stretch.length - below;
  if (kind == SpeedPhaseKind::kBrake) {
    slow.start = stretch.start + fast.length;
    const double first = Circle(fast, kind, knee, v_knee, v_high);
    return first + Constant(slow, kind, v_knee, v_low, -push.limit);
  }
  fast.start = stretch.start + slow.length;
  const double first = Constant(slow, kind, v_low, v_knee, push.limit);
  return first + Circle(fast, kind, knee, v_knee, v_high);
}

}  // namespace arclane
