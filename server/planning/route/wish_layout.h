// SPDX-License-Identifier: Apache-2.0
// A wished speed laid out along a curve as caps at distances, which is what a plan takes.
//
// A wish over time says how fast the agent is at each time, wherever it is by then: after a stretch
// where a limit held it back it has the speed wished for at the time it really is. Where that is on
// the curve depends on the plan, so the wish is laid out, planned on, and laid out again from the
// times of that plan, until they agree. Internal to the curve planner.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_WISH_LAYOUT_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_WISH_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/planning/speed/curvature_profile.h"
#include "server/planning/speed/speed_limits.h"
#include "server/planning/speed/speed_phase.h"

namespace arclane {

enum class WishOver : uint8_t { kNothing, kDistance, kTime };

// Speeds at increasing distances, or at times increasing from 0 (as many as speeds, finite, speeds
// >= 0), with constant acceleration between them; constant before the first and behind the last.
struct WishedSpeed {
  WishOver over = WishOver::kNothing;
  std::span<const double> at;
  std::span<const double> speed;
};

class WishLayout {
 public:
  // A plan agrees with the wish when it is off by at most this part of the largest wished speed.
  static constexpr double kAgrees = 1e-9;

  // Lays the wish out along `length` as if no limit but braking held the agent back. `wish` must
  // outlive the layout.
  void Lay(const WishedSpeed& wish, const SpeedLimits& limits, double length);

  // Lays a wish over time out again, at the places where the phases of `plan`, made on this layout,
  // really are at its times. False, and nothing changes, when the plan already agrees with the
  // wish, and always for wishes over distance. Linear in phases and knots.
  bool LayAgain(const CurvatureSpeedPlan& plan);

  // Of a wish over time: where the plan is slower than it.
  void FindClipped(CurvatureSpeedPlan& plan) const;

  // Empty without a wish.
  const std::vector<double>& distance() const { return distance_; }  // Strictly ascending.
  const std::vector<double>& speed() const { return speed_; }
  const std::vector<SpeedStop>& rests() const { return rests_; }  // Boundary: index of distance.

 private:
  void KeepBraking(double braking);
  void Knot(double distance, double speed);
  void Rest(double seconds);
  void LayOnward(double distance, double time_s, double end);
  std::optional<double> LayUnder(const SpeedPhase& phase);
  void LayAtRest(const SpeedPhase& phase, double own_end);
  bool RestsBeyond(double from, double time_s, double distance, double until) const;
  double RestEnd(double time_s) const;
  double WishAt(double time_s) const;
  std::vector<double> OwnDwells(const CurvatureSpeedPlan& plan) const;
  bool DwellsAgree(const CurvatureSpeedPlan& plan, std::span<const double> own_dwells) const;
  bool Agrees(const CurvatureSpeedPlan& plan) const;

  WishedSpeed wish_;
  double length_ = 0.0;
  double tolerance_ = 0.0;
  // The wish over time, lowered to what the agent can brake to.
  std::vector<double> time_s_;
  std::vector<double> speed_at_time_;

  std::vector<double> distance_;
  std::vector<double> speed_;
  std::vector<SpeedStop> rests_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_WISH_LAYOUT_H_
