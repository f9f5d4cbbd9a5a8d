// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "server/planning/speed/piece_motion.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {

double TravelTime(std::span<const SpeedPiece> pieces, const SpeedLimits& limits, double start_speed,
                  double end_speed, SpeedWorkspace& workspace) {
  const MotionBudget budget = ResolveBudget(limits);
  const double twice_a = 2.0 * budget.accelerate.limit;
  const double twice_b = 2.0 * budget.brake.limit;
  const std::size_t n = pieces.size();
  if (workspace.columns.backward.size() < n + 1) workspace.columns.backward.resize(n + 1);
  double* const backward = workspace.columns.backward.data();

  double x = end_speed * end_speed;
  const double x_end = x;
  for (std::size_t i = n; i-- > 0;) {
    const SpeedPiece& piece = pieces[i];
    const double cap =
        piece.length > 0.0 ? budget.CapAt(piece.radius) : std::numeric_limits<double>::infinity();
    x = std::min(x, cap);
    backward[i + 1] = x;
    x = std::min(cap, x + twice_b * piece.length);
  }
  if (x_end > backward[n] * (1.0 + kSpeedRoundoff) ||
      x_end > budget.squared_max_speed * (1.0 + kSpeedRoundoff)) {
    return std::numeric_limits<double>::infinity();
  }
  const double x_start = start_speed * start_speed;
  if (x_start > x * (1.0 + kSpeedRoundoff)) return std::numeric_limits<double>::infinity();

  double time = 0.0;
  double x0 = std::min(x_start, x);
  double v0 = start_speed;
  for (std::size_t i = 0; i < n; ++i) {
    const double length = pieces[i].length;
    if (!(length > 0.0)) continue;
    const double cap = budget.CapAt(pieces[i].radius);
    const double risen = x0 + twice_a * length;
    const double x1 = std::min(risen, backward[i + 1]);
    const double v1 = std::sqrt(x1);
    if (x1 == risen || x1 + twice_b * length <= x0 || (x0 == cap && x1 == cap)) {
      time += 2.0 * length / (v0 + v1);
    } else {
      const double meet =
          (twice_b * x0 + twice_a * x1 + twice_a * twice_b * length) / (twice_a + twice_b);
      const double peak = std::min(cap, std::max(meet, std::max(x0, x1)));
      const double v_peak = std::sqrt(peak);
      const double rising = (peak - x0) / twice_a;
      const double falling = (peak - x1) / twice_b;
      const double level = meet > cap ? std::max(0.0, length - rising - falling) : 0.0;
      time += 2.0 * rising / (v0 + v_peak) + 2.0 * falling / (v_peak + v1) + level / v_peak;
    }
    x0 = x1;
    v0 = v1;
  }
  if (x0 < x_end * (1.0 - kSpeedRoundoff)) return std::numeric_limits<double>::infinity();
  return time;
}

}  // namespace arclane
