// SPDX-License-Identifier: Apache-2.0
#include "server/planning/follow/speed_ceiling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/planning/speed/speed_phase.h"

namespace arclane {
namespace {

// Bisections of a ceiling that has no closed solution: the bracket is at most the fall within one
// step, which is thus found to 1/256 of itself, from below.
constexpr int kBisections = 8;

// The largest v <= top with v <= ceiling at begin + reach * v.
double Below(const FollowRoute& route, const SpeedCeiling& ceiling, const StepStretch& stretch) {
  switch (ceiling.kind) {
    case SpeedCeiling::Kind::kConstant:
    case SpeedCeiling::Kind::kStop:
      return ceiling.top;
    case SpeedCeiling::Kind::kBrake: {
      // v^2 = end_speed^2 + 2 a (end - begin - reach v), without cancellation.
      const double end = ceiling.end_speed;
      const double x = end * end + 2.0 * ceiling.braking * (ceiling.end - stretch.begin);
      if (!(x > 0.0)) return end;
      const double b = ceiling.braking * stretch.reach;
      return std::clamp(x / (b + std::sqrt(b * b + x)), end, ceiling.top);
    }
    case SpeedCeiling::Kind::kLaw:
      break;
  }
  const SpeedPhase& phase = route.phases[ceiling.phase];
  const auto allowed = [&](double v) {
    return SpeedAt(phase, stretch.begin + stretch.reach * v - ceiling.begin);
  };
  double high = std::min(ceiling.top, allowed(0.0));
  double low = std::max(ceiling.end_speed, std::min(high, allowed(high)));
  for (int i = 0; i < kBisections && low < high; ++i) {
    const double middle = 0.5 * (low + high);
    (allowed(middle) >= middle ? low : high) = middle;
  }
  return low;
}

}  // namespace

double CeilingAt(const FollowRoute& route, double distance) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const SpeedCeiling& ceiling : route.ceilings) {
    if (distance < ceiling.begin || distance > ceiling.end) continue;
    double allowed = ceiling.top;
    if (ceiling.kind == SpeedCeiling::Kind::kLaw) {
      allowed = SpeedAt(route.phases[ceiling.phase], distance - ceiling.begin);
    } else if (ceiling.kind != SpeedCeiling::Kind::kConstant) {
      allowed = std::sqrt(ceiling.end_speed * ceiling.end_speed +
                          2.0 * ceiling.braking * (ceiling.end - distance));
    }
    lowest = std::min(lowest, allowed);
  }
  return lowest;
}

double LargestSpeedBelowCeilings(const FollowRoute& route, const StepStretch& stretch, double speed,
                                 uint32_t* cursor) {
  const std::vector<SpeedCeiling>& ceilings = route.ceilings;
  if (ceilings.empty()) return speed;
  uint32_t i = *cursor;
  while (i + 1 < ceilings.size() && ceilings[i].end <= stretch.from) ++i;
  while (i > 0 && ceilings[i].begin > stretch.from) --i;
  *cursor = i;
  for (; i < ceilings.size() && ceilings[i].begin < stretch.until; ++i) {
    const SpeedCeiling& ceiling = ceilings[i];
    const double ahead = ceiling.begin - stretch.begin;
    if (ahead > stretch.reach * speed) break;
    const double below = Below(route, ceiling, stretch);
    // A step that ends where the ceiling begins is free of it.
    if (below < speed) speed = std::max(below, std::min(speed, ahead / stretch.reach));
  }
  return speed;
}

}  // namespace arclane
