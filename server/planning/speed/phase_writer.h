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
struct Stretch {
  std::uint32_t piece = 0;  // the caller's index
  double start = 0.0;       // distance along the path
  double length = 0.0;
  double radius = std::numeric_limits<double>::infinity();
};

class PhaseWriter {
 public:
  PhaseWriter(const MotionBudget& budget, std::vector<SpeedPhase>& phases)
      : budget_(budget), phases_(phases) {}

  double time_s() const { return time_; }

  // Accelerates from x0 to x1 = v1^2 over the stretch; returns the seconds it takes.
  double Accelerate(const Stretch& stretch, double x0, double v0, double x1, double v1) {
    const Push& push = budget_.accelerate;
    if (OffCircle(stretch, push, x1)) {
      return Constant(stretch, SpeedPhaseKind::kAccelerate, v0, v1, push.limit);
    }
    return OnCircle(stretch, SpeedPhaseKind::kAccelerate, push, x0, v0, v1);
  }

  double Brake(const Stretch& stretch, double x0, double v0, double x1, double v1) {
    const Push& push = budget_.brake;
    if (OffCircle(stretch, push, x0))
      return Constant(stretch, SpeedPhaseKind::kBrake, v0, v1, -push.limit);
    return OnCircle(stretch, SpeedPhaseKind::kBrake, push, x1, v1, v0);
  }

  double Cruise(const Stretch& stretch, double v) {
    return Constant(stretch, SpeedPhaseKind::kCruise, v, v, 0.0);
  }

  void Dwell(std::uint32_t piece, double distance, double seconds) {
    SpeedPhase& phase = phases_.emplace_back();
    phase.piece = piece;
    phase.kind = SpeedPhaseKind::kDwell;
    phase.law = SpeedLaw::kDwell;
    phase.start_distance = distance;
    phase.start_time_s = time_;
    phase.duration_s = seconds;
    time_ += seconds;
  }

 private:
  static bool OffCircle(const Stretch& stretch, const Push& push, double x_high) {
    return !(stretch.radius < std::numeric_limits<double>::infinity()) ||
           x_high <= stretch.radius * push.knee_per_radius;
  }

  double Constant(const Stretch& stretch, SpeedPhaseKind kind, double v0, double v1,
                  double acceleration) {
    const double sum = v0 + v1;
    // Speeds whose squares underflow: at rest at both ends is impossible over a positive length.
    const double seconds = sum > 0.0 ? 2.0 * stretch.length / sum : 0.0;
    phases_.push_back({stretch.piece, kind, SpeedLaw::kConstantAcceleration, stretch.start, time_,
                       stretch.length, seconds, v0, v1, acceleration, 0.0, 0.0});
    time_ += seconds;
    return seconds;
  }

  // The slower end comes first for kAccelerate, last for kBrake.
  double OnCircle(const Stretch& stretch, SpeedPhaseKind kind, const Push& push, double x_low,
                  double v_low, double v_high);
  double Circle(const Stretch& stretch, SpeedPhaseKind kind, double x_low, double v_low,
                double v_high);

  const MotionBudget& budget_;
  std::vector<SpeedPhase>& phases_;
  double time_ = 0.0;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_PHASE_WRITER_H_
