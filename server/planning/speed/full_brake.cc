// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "server/planning/speed/phase_writer.h"
#include "server/planning/speed/piece_motion.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {
namespace {

// Whatever the numbers: squares of speeds need its range. Cost does not matter here.
using Real = long double;

// As BrakeNow, before rounding.
struct Outcome {
  Real stop_distance;
  Real overrun;
  Real speed_at_end;
};

Outcome Brake(Real v, Real length, Real reaction_s, Real braking) {
  const Real hold = v * reaction_s;
  const Real stop_distance = hold + v * v / (2 * braking);
  const Real overrun = std::max(Real{0}, stop_distance - length);
  Real at_end = 0;
  if (overrun > 0) {
    const Real x = v * v - 2 * braking * (length - hold);
    at_end = hold >= length ? v : std::sqrt(std::max(Real{0}, x));
  }
  return {stop_distance, overrun, at_end};
}

BrakeNow Rounded(const Outcome& outcome) {
  return {static_cast<double>(outcome.stop_distance), static_cast<double>(outcome.overrun),
          static_cast<double>(outcome.speed_at_end)};
}

}  // namespace

BrakeNow BrakeFrom(double speed, double length, double reaction_s, double braking) {
  return Rounded(Brake(speed, length, reaction_s, braking));
}

void PlanFullBrake(std::span<const SpeedPiece> pieces, const SpeedLimits& limits,
                   double start_speed, FullBrakePlan& plan) {
  const BasicMotionBudget<Real> budget = ResolveBudget<Real>(limits);
  const Real braking = budget.brake.limit;
  const Real start_x = Real{start_speed} * start_speed;
  Real length = 0;
  for (const SpeedPiece& piece : pieces) length += piece.length;
  plan.phases.clear();
  const Outcome outcome = Brake(start_speed, length, limits.reaction_time_s, braking);
  plan.outcome = Rounded(outcome);
  const Real rest = std::min(length, outcome.stop_distance);
  plan.rest_distance = static_cast<double>(rest);

  PhaseWriter<Real> writer(budget, plan.phases);
  const Real hold = Real{start_speed} * limits.reaction_time_s;
  Real start = 0;
  Real v = start_speed;
  for (std::size_t i = 0; i < pieces.size() && start < rest; ++i) {
    const Real end = std::min(start + pieces[i].length, rest);
    Stretch<Real> stretch = {static_cast<std::uint32_t>(i), start, 0, kStraight};
    const Real level = std::min(end, hold) - start;
    if (level > 0) {
      stretch.length = level;
      writer.Cruise(stretch, v);
      stretch.start += level;
    }
    stretch.length = end - stretch.start;
    if (stretch.length > 0) {
      // From the end of the hold, not step by step: roundings do not add up.
      const bool rests = end >= outcome.stop_distance;
      const Real x = start_x - 2 * braking * (end - hold);
      const Real v1 = rests ? Real{0} : std::sqrt(std::max(Real{0}, x));
      writer.Brake(stretch, v * v, v, v1 * v1, v1);
      v = v1;
    }
    start += pieces[i].length;
  }
  plan.duration_s = static_cast<double>(writer.time_s());
}

}  // namespace arclane
