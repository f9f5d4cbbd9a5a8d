// SPDX-License-Identifier: Apache-2.0
// Writes the phases of a plan along a curve, and what the two methods (lateral caps, coupled
// budget) share. Internal to the speed planner.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_CURVE_PHASE_WRITER_H_
#define ARCLANE_SERVER_PLANNING_SPEED_CURVE_PHASE_WRITER_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/speed/linear_acceleration.h"
#include "server/planning/speed/speed_phase.h"

namespace arclane {

// The curve in driving order: a flying lap starts at its slowest node. Interval j lies between
// nodes j and j + 1.
struct CurveOrder {
  std::span<const double> distance;   // the request's nodes
  std::span<const double> curvature;  // in driving order
  std::span<const double> speed_cap;  // in driving order; empty: none
  std::span<const double> dwell;      // in driving order, negative: no stop; empty: none
  std::size_t first = 0;              // the request's node where driving starts

  std::size_t interval_count() const { return distance.size() - 1; }
  std::size_t RequestInterval(std::size_t j) const {
    const std::size_t i = j + first;
    return i < interval_count() ? i : i - interval_count();
  }
  template <typename Real>
  Real SquaredCap(std::size_t node) const {
    return Real{speed_cap[node]} * speed_cap[node];
  }
  bool StopsAt(std::size_t node) const { return !dwell.empty() && dwell[node] >= 0.0; }
  // A squared speed as far as the node itself allows it: a prescribed cap holds there also where
  // its neighbours have none.
  template <typename Real>
  Real AllowedAt(std::size_t node, Real x) const {
    if (StopsAt(node)) return 0;
    return speed_cap.empty() ? x : std::min(x, SquaredCap<Real>(node));
  }
};

template <typename Real>
class CurvePhaseWriter {
 public:
  explicit CurvePhaseWriter(std::vector<SpeedPhase>& phases, Real time_s = 0)
      : phases_(phases), time_(time_s) {}

  Real time_s() const { return time_; }

  // Following phases lie in this interval and start at `distance` along the path.
  void MoveTo(std::uint32_t interval, Real distance) {
    interval_ = interval;
    distance_ = distance;
  }

  void Constant(SpeedPhaseKind kind, Real length, Real v0, Real v1, Real acceleration) {
    const Real sum = v0 + v1;
    Append(kind, SpeedLaw::kConstantAcceleration, length, 2 * length / sum, v0, v1, acceleration, 0,
           0);
  }

  // Constant speed; continues a phase before it in the same interval at the same speed.
  void Level(Real length, Real v) {
    const double speed = static_cast<double>(v);
    if (!phases_.empty()) {
      SpeedPhase& last = phases_.back();
      if (last.kind == SpeedPhaseKind::kCruise && last.piece == interval_ &&
          last.start_speed == speed && last.end_speed == speed) {
        distance_ += length;
        time_ += length / v;
        last.length = static_cast<double>(distance_ - last.start_distance);
        last.duration_s = static_cast<double>(time_ - last.start_time_s);
        return;
      }
    }
    Constant(SpeedPhaseKind::kCruise, length, v, v, 0);
  }

  std::size_t phase_count() const { return phases_.size(); }

  // Acceleration a0 + c d.
  void Linear(SpeedPhaseKind kind, Real length, Real v0, Real v1, Real a0, Real c) {
    Append(kind, SpeedLaw::kLinearAcceleration, length,
           linear_acceleration::Time(length, v0, v1, c), v0, v1, a0, c, 0);
  }

  // v = 1 / sqrt(k0 + k1 d).
  void LateralCap(Real length, Real v0, Real v1, Real k0, Real k1) {
    Append(SpeedPhaseKind::kFollowCap, SpeedLaw::kLateralCap, length, CapSeconds(length, v0, v1),
           v0, v1, -k1 / 2 * (v0 * v0) * (v0 * v0), k0, k1);
  }

  // The same; continues such a phase before it in the same interval. Not without end: where 1 / x
  // falls by orders of magnitude its differences lose digits.
  void AlongLateralCap(Real length, Real v0, Real v1, Real k0, Real k1) {
    if (phases_.empty() || phases_.back().law != SpeedLaw::kLateralCap ||
        phases_.back().piece != interval_ || v1 > kLargestGrowth * phases_.back().start_speed) {
      return LateralCap(length, v0, v1, k0, k1);
    }
    SpeedPhase& last = phases_.back();
    distance_ += length;
    time_ += CapSeconds(length, v0, v1);
    last.length = static_cast<double>(distance_ - last.start_distance);
    last.duration_s = static_cast<double>(time_ - last.start_time_s);
    last.end_speed = static_cast<double>(v1);
  }

  void Dwell(Real seconds) {
    if (seconds > 0) Append(SpeedPhaseKind::kDwell, SpeedLaw::kDwell, 0, seconds, 0, 0, 0, 0, 0);
  }

 private:
  static constexpr double kLargestGrowth = 1e3;

  static Real CapSeconds(Real length, Real v0, Real v1) {
    const Real w0 = 1 / v0;
    const Real w1 = 1 / v1;
    return length * (w1 * w1 + w1 * w0 + w0 * w0) / (1.5 * (w1 + w0));
  }

  void Append(SpeedPhaseKind kind, SpeedLaw law, Real length, Real seconds, Real v0, Real v1,
              Real acceleration, Real first, Real second) {
    const auto out = [](Real value) { return static_cast<double>(value); };
    phases_.push_back({interval_, kind, law, out(distance_), out(time_), out(length), out(seconds),
                       out(v0), out(v1), out(acceleration), out(first), out(second)});
    distance_ += length;
    time_ += seconds;
  }

  std::vector<SpeedPhase>& phases_;
  std::uint32_t interval_ = 0;
  Real distance_ = 0;
  Real time_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_CURVE_PHASE_WRITER_H_
