// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/wish_layout.h"

#include <algorithm>
#include <cmath>

#include "server/planning/route/piecewise_linear.h"

namespace arclane {
namespace {

// A wish that comes to rest this near before the end of the curve, beside its length, rests at it:
// its sender has added up the same distances in another order.
constexpr double kAtEnd = 1e-9;
// Sums of the same durations in another order.
constexpr double kSameTime = 1e-12;

double EndOf(const SpeedPhase& phase) { return phase.start_distance + phase.length; }
double EndTimeOf(const SpeedPhase& phase) { return phase.start_time_s + phase.duration_s; }

}  // namespace

void WishLayout::Lay(const WishedSpeed& wish, const SpeedLimits& limits, double length) {
  wish_ = wish;
  length_ = length;
  distance_.clear();
  speed_.clear();
  rests_.clear();
  if (wish.at.empty()) wish_.over = WishOver::kNothing;
  if (wish_.over == WishOver::kDistance) {
    distance_.assign(wish.at.begin(), wish.at.end());
    speed_.assign(wish.speed.begin(), wish.speed.end());
  } else if (wish_.over == WishOver::kTime) {
    tolerance_ = kAgrees * *std::max_element(wish.speed.begin(), wish.speed.end());
    KeepBraking(limits.max_braking);
    LayOnward(0.0, 0.0, length_);
  }
}

double WishLayout::WishAt(double time_s) const {
  return PiecewiseLinear(time_s_, speed_at_time_)(time_s);
}

// From the last knot back to the first: no speed above one from which the next can be braked to.
void WishLayout::KeepBraking(double braking) {
  time_s_.assign(1, wish_.at.back());
  speed_at_time_.assign(1, wish_.speed.back());
  for (size_t k = wish_.at.size() - 1; k-- > 0;) {
    const double time = wish_.at[k], seconds = wish_.at[k + 1] - time;
    const double most = speed_at_time_.back() + braking * seconds;
    if (wish_.speed[k] <= most && speed_at_time_.back() < wish_.speed[k + 1]) {
      // The braking line from behind meets the wish within this stretch.
      const double slope = (wish_.speed[k + 1] - wish_.speed[k]) / seconds;
      const double meets =
          time + (most - wish_.speed[k]) / (braking + slope);  // most - braking t = v + slope t
      if (meets > time && meets < time_s_.back()) {
        const double speed = wish_.speed[k] + slope * (meets - time);
        time_s_.push_back(meets);
        speed_at_time_.push_back(speed);
      }
    }
    time_s_.push_back(time);
    speed_at_time_.push_back(std::min(wish_.speed[k], most));
  }
  std::reverse(time_s_.begin(), time_s_.end());
  std::reverse(speed_at_time_.begin(), speed_at_time_.end());
}

void WishLayout::Knot(double distance, double speed) {
  if (!distance_.empty() && distance <= distance_.back()) {
    speed_.back() = speed;
    return;
  }
  distance_.push_back(distance);
  speed_.push_back(speed);
}

// At the last knot.
void WishLayout::Rest(double seconds) {
  const size_t knot = distance_.size() - 1;
  if (rests_.empty() || rests_.back().boundary != knot) rests_.push_back({knot, 0.0});
  rests_.back().dwell_s += seconds;
}

// Follows the wish from a place and time on: speed linear in time is squared speed linear in
// distance, so nothing is lost.
void WishLayout::LayOnward(double distance, double time_s, double end) {
  double speed = WishAt(time_s);
  Knot(distance, speed);
  size_t k = std::upper_bound(time_s_.begin(), time_s_.end(), time_s) - time_s_.begin();
  for (; k < time_s_.size(); ++k) {
    const double seconds = time_s_[k] - time_s;
    const double wished = speed_at_time_[k];
    const double next = distance + 0.5 * (speed + wished) * seconds;
    if (speed == 0.0 && wished == 0.0) {
      Rest(seconds);
    } else if (next >= end) {
      if (next > distance && end > distance) {
        const double squared = speed * speed + (wished * wished - speed * speed) *
                                                   ((end - distance) / (next - distance));
        Knot(end, std::sqrt(std::max(0.0, squared)));
      }
      return;
    } else if (next > distance) {
      Knot(next, wished);
    }
    distance = next;
    time_s = time_s_[k];
    speed = wished;
  }
  if (speed == 0.0 && end == length_ && end - distance <= kAtEnd * length_) {
    if (distance_.back() < end) distance_.back() = end;
  } else if (distance < end) {
    Knot(end, speed);
  }
}

// Whether the wish, followed from a place and time on, has a rest that ends at `until` beyond
// `distance`.
bool WishLayout::RestsBeyond(double from, double time_s, double distance, double until) const {
  double speed = WishAt(time_s);
  size_t k = std::upper_bound(time_s_.begin(), time_s_.end(), time_s) - time_s_.begin();
  for (; k < time_s_.size() && time_s_[k] < until; ++k) {
    from += 0.5 * (speed + speed_at_time_[k]) * (time_s_[k] - time_s);
    time_s = time_s_[k];
    speed = speed_at_time_[k];
  }
  return time_s < until && from > distance;
}

// Where the agent is held below the wish it keeps no more than the wish of the times it passes at.
// Where the wish comes to rest the agent does: the time until which, if so.
std::optional<double> WishLayout::LayUnder(const SpeedPhase& phase) {
  const double end_time = EndTimeOf(phase);
  size_t k = std::upper_bound(time_s_.begin(), time_s_.end(), phase.start_time_s) - time_s_.begin();
  for (; k < time_s_.size() && time_s_[k] < end_time; ++k) {
    if (k > 0 && speed_at_time_[k - 1] == 0.0 && speed_at_time_[k] == 0.0) continue;
    Knot(phase.start_distance + DistanceAtTime(phase, time_s_[k] - phase.start_time_s),
         speed_at_time_[k]);
    if (speed_at_time_[k] > 0.0) continue;
    for (; k + 1 < time_s_.size() && speed_at_time_[k + 1] == 0.0; ++k) {
      Rest(time_s_[k + 1] - time_s_[k]);
    }
    return time_s_[k];
  }
  Knot(EndOf(phase), WishAt(end_time));
  return std::nullopt;
}

// A stop of the curve's own: the wish goes on meanwhile, and may ask for a longer one.
// `own_end`: when it is over without what the wish added.
void WishLayout::LayAtRest(const SpeedPhase& phase, double own_end) {
  const double wished = WishAt(own_end);
  const bool is_here = !distance_.empty() && distance_.back() >= phase.start_distance;
  const double before = is_here ? speed_.back() : 0.0;
  if (is_here && before == 0.0 && wished > 0.0) {
    // The wish itself led to rest here: its way down stays, and what it wants next begins behind.
    Knot(phase.start_distance + kAtEnd * length_, wished);
    return;
  }
  Knot(phase.start_distance, std::max(before, wished));
  if (const double until = RestEnd(own_end); until > own_end) Rest(until - own_end);
}

// When the wish goes on that rests at this time; the time itself if it does not rest.
double WishLayout::RestEnd(double time_s) const {
  size_t k = std::lower_bound(time_s_.begin(), time_s_.end(), time_s) - time_s_.begin();
  if (WishAt(time_s) > 0.0) return time_s;
  double until = time_s;
  for (; k < time_s_.size() && speed_at_time_[k] == 0.0; ++k) until = time_s_[k];
  return until;
}

bool WishLayout::Agrees(const CurvatureSpeedPlan& plan) const {
  size_t clip = 0;
  for (const SpeedPhase& phase : plan.phases) {
    if (phase.kind == SpeedPhaseKind::kDwell) continue;
    const double middle = phase.start_distance + 0.5 * phase.length;
    while (clip < plan.clipped.size() && plan.clipped[clip].end_distance < middle) ++clip;
    const bool held = clip < plan.clipped.size() && plan.clipped[clip].start_distance <= middle;
    const auto off = [&](double time_s, double speed) {
      const double above = speed - WishAt(time_s);
      return above > tolerance_ || (!held && above < -tolerance_);
    };
    if (off(EndTimeOf(phase), phase.end_speed)) return false;
    size_t k =
        std::upper_bound(time_s_.begin(), time_s_.end(), phase.start_time_s) - time_s_.begin();
    for (; k < time_s_.size() && time_s_[k] < EndTimeOf(phase); ++k) {
      const double d = DistanceAtTime(phase, time_s_[k] - phase.start_time_s);
      if (off(time_s_[k], SpeedAt(phase, d))) return false;
    }
  }
  return true;
}

// Of each stop of the plan the seconds that the curve asks for; the rest is what the wish added.
std::vector<double> WishLayout::OwnDwells(const CurvatureSpeedPlan& plan) const {
  std::vector<double> own;
  auto rest = rests_.begin();
  for (const SpeedPhase& phase : plan.phases) {
    if (phase.kind != SpeedPhaseKind::kDwell) continue;
    while (rest != rests_.end() && distance_[rest->boundary] < phase.start_distance) ++rest;
    const bool wished = rest != rests_.end() && distance_[rest->boundary] == phase.start_distance;
    const double own_s = phase.duration_s - (wished ? rest->dwell_s : 0.0);
    own.push_back(own_s > kAtEnd * phase.duration_s ? own_s : 0.0);
  }
  return own;
}

// The curve's stops and the wish's rests at the same place take place at the same time.
bool WishLayout::DwellsAgree(const CurvatureSpeedPlan& plan,
                             std::span<const double> own_dwells) const {
  auto own = own_dwells.begin();
  for (const SpeedPhase& phase : plan.phases) {
    if (phase.kind != SpeedPhaseKind::kDwell) continue;
    const double own_s = *own++;
    const double over = RestEnd(phase.start_time_s + own_s);
    if (own_s > 0.0 && std::abs(EndTimeOf(phase) - over) > kAgrees * over) return false;
  }
  return true;
}

bool WishLayout::LayAgain(const CurvatureSpeedPlan& plan) {
  if (wish_.over != WishOver::kTime) return false;
  const std::vector<double> own_dwells = OwnDwells(plan);
  if (DwellsAgree(plan, own_dwells) && (plan.clipped.empty() || Agrees(plan))) return false;
  auto own_dwell = own_dwells.begin();
  distance_.clear();
  speed_.clear();
  rests_.clear();
  // Stretches that follow the wish are laid from where they begin; those below it phase by phase.
  size_t clip = 0;
  double from = 0.0, from_time = 0.0;
  bool held = false;
  // What the plan does before a rest of the wish is over, or in front of where it now rests, it
  // will do later.
  double resting_until = 0.0;
  const auto hold_at = [&](double distance) {
    if (!held && RestsBeyond(from, from_time, distance, resting_until)) return false;
    if (!held) LayOnward(from, from_time, distance);
    held = true;
    return true;
  };
  const auto follow_from = [&](double distance, double time_s) {
    held = false;
    from = distance;
    from_time = time_s;
  };
  for (const SpeedPhase& phase : plan.phases) {
    const double own_s = phase.kind == SpeedPhaseKind::kDwell ? *own_dwell++ : 0.0;
    if (phase.start_time_s < resting_until * (1.0 - kSameTime)) continue;
    if (phase.kind == SpeedPhaseKind::kDwell) {
      if (own_s > 0.0) {
        if (hold_at(phase.start_distance)) LayAtRest(phase, phase.start_time_s + own_s);
        continue;
      }
      if (held) follow_from(phase.start_distance, phase.start_time_s);
      resting_until = RestEnd(phase.start_time_s + 0.5 * phase.duration_s);
      continue;
    }
    const double middle = phase.start_distance + 0.5 * phase.length;
    while (clip < plan.clipped.size() && plan.clipped[clip].end_distance < middle) ++clip;
    if (clip < plan.clipped.size() && plan.clipped[clip].start_distance <= middle) {
      if (!hold_at(phase.start_distance)) continue;
      if (const auto until = LayUnder(phase)) {
        resting_until = *until;
        follow_from(distance_.back(), *until);
      }
    } else if (held) {
      follow_from(phase.start_distance, phase.start_time_s);
    }
  }
  if (!held) LayOnward(from, from_time, length_);
  return true;
}

void WishLayout::FindClipped(CurvatureSpeedPlan& plan) const {
  if (wish_.over != WishOver::kTime) return;
  plan.clipped.clear();
  PiecewiseLinear wish(wish_.at, wish_.speed);
  bool open = false;
  for (const SpeedPhase& phase : plan.phases) {
    if (phase.kind == SpeedPhaseKind::kDwell) continue;
    const double d = 0.5 * phase.length;
    const double wished = wish(phase.start_time_s + TimeAt(phase, d));
    const bool below = SpeedAt(phase, d) < wished - tolerance_;
    if (below && open) {
      plan.clipped.back().end_distance = EndOf(phase);
    } else if (below) {
      plan.clipped.push_back({phase.start_distance, EndOf(phase)});
    }
    open = below;
  }
}

}  // namespace arclane
