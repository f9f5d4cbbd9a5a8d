// SPDX-License-Identifier: Apache-2.0
// Writes phases one after the other along the path: closed-form motions on one piece, cut where the
// active limit changes. Internal to the speed planner.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_PHASE_WRITER_H_
#define ARCLANE_SERVER_PLANNING_SPEED_PHASE_WRITER_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "server/planning/speed/piece_motion.h"
#include "server/planning/speed/speed_phase.h"

namespace arclane {

// One direction of motion on one piece.
template <typename Real>
struct Stretch {
  std::uint32_t piece = 0;  // the caller's index
  Real start = 0;           // distance along the path
  Real length = 0;
  Real radius = std::numeric_limits<Real>::infinity();
};

template <typename Real>
class PhaseWriter {
 public:
  PhaseWriter(const BasicMotionBudget<Real>& budget, std::vector<SpeedPhase>& phases)
      : budget_(budget), phases_(phases) {}

  Real time_s() const { return time_; }

  // Accelerates from x0 to x1 = v1^2 over the stretch; returns the seconds it takes.
  Real Accelerate(const Stretch<Real>& stretch, Real x0, Real v0, Real x1, Real v1) {
    const BasicPush<Real>& push = budget_.accelerate;
    if (OffCircle(stretch, push, x1)) {
      return Constant(stretch, SpeedPhaseKind::kAccelerate, v0, v1, push.limit);
    }
    return OnCircle(stretch, SpeedPhaseKind::kAccelerate, push, x0, v0, v1);
  }

  Real Brake(const Stretch<Real>& stretch, Real x0, Real v0, Real x1, Real v1) {
    const BasicPush<Real>& push = budget_.brake;
    if (OffCircle(stretch, push, x0))
      return Constant(stretch, SpeedPhaseKind::kBrake, v0, v1, -push.limit);
    return OnCircle(stretch, SpeedPhaseKind::kBrake, push, x1, v1, v0);
  }

  Real Cruise(const Stretch<Real>& stretch, Real v) { return Cruise(stretch, v, v); }
  // Speeds at the ends that differ by rounding.
  Real Cruise(const Stretch<Real>& stretch, Real v0, Real v1) {
    return Constant(stretch, SpeedPhaseKind::kCruise, v0, v1, 0);
  }

  void Dwell(std::uint32_t piece, Real distance, Real seconds) {
    SpeedPhase& phase = phases_.emplace_back();
    phase.piece = piece;
    phase.kind = SpeedPhaseKind::kDwell;
    phase.law = SpeedLaw::kDwell;
    phase.start_distance = static_cast<double>(distance);
    phase.start_time_s = static_cast<double>(time_);
    phase.duration_s = static_cast<double>(seconds);
    time_ += seconds;
  }

 private:
  static bool OffCircle(const Stretch<Real>& stretch, const BasicPush<Real>& push, Real x_high) {
    return IsStraight(stretch.radius) || x_high <= stretch.radius * push.knee_per_radius;
  }

  Real Constant(const Stretch<Real>& stretch, SpeedPhaseKind kind, Real v0, Real v1,
                Real acceleration) {
    const Real sum = v0 + v1;
    const Real seconds = 2 * stretch.length / sum;
    Append(stretch, kind, SpeedLaw::kConstantAcceleration, seconds, v0, v1, acceleration, 0, 0);
    return seconds;
  }

  void Append(const Stretch<Real>& stretch, SpeedPhaseKind kind, SpeedLaw law, Real seconds,
              Real v0, Real v1, Real acceleration, Real first, Real second) {
    const auto out = [](Real value) { return static_cast<double>(value); };
    phases_.push_back({stretch.piece, kind, law, out(stretch.start), out(time_),
                       out(stretch.length), out(seconds), out(v0), out(v1), out(acceleration),
                       out(first), out(second)});
    time_ += seconds;
  }

  // The slower end comes first for kAccelerate, last for kBrake. What is left of the stretch when
  // the circle's top is reached is driven at the speed there.
  Real OnCircle(const Stretch<Real>& stretch, SpeedPhaseKind kind, const BasicPush<Real>& push,
                Real x_low, Real v_low, Real v_high);
  Real Circle(const Stretch<Real>& stretch, SpeedPhaseKind kind, Real x_low, Real v_low,
              Real v_high);

  const BasicMotionBudget<Real>& budget_;
  std::vector<SpeedPhase>& phases_;
  Real time_ = 0;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_PHASE_WRITER_H_
