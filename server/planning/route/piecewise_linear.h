// SPDX-License-Identifier: Apache-2.0
// Values that are linear between increasing places, and constant before the first and behind the
// last: read anywhere, or in order without a search. Internal to the curve planner.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_PIECEWISE_LINEAR_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_PIECEWISE_LINEAR_H_

#include <algorithm>
#include <cstddef>
#include <span>

namespace arclane {

// Borrows what it reads; at least one place, and as many values.
class PiecewiseLinear {
 public:
  PiecewiseLinear(std::span<const double> at, std::span<const double> value)
      : at_(at), value_(value) {}

  // O(log places).
  double operator()(double place) const {
    const auto next = std::lower_bound(at_.begin(), at_.end(), place) - at_.begin();
    return Before(static_cast<std::size_t>(next), place);
  }

  // For places that never decrease from call to call: O(places) for all of them.
  double ReadOn(double place) {
    while (next_ < at_.size() && at_[next_] < place) ++next_;
    return Before(next_, place);
  }

 private:
  // at_[next] is the first place that is not below `place`.
  double Before(std::size_t next, double place) const {
    if (next == 0) return value_.front();
    if (next == at_.size()) return value_.back();
    if (at_[next] == place) return value_[next];
    const double fraction = (place - at_[next - 1]) / (at_[next] - at_[next - 1]);
    return value_[next - 1] + (value_[next] - value_[next - 1]) * fraction;
  }

  std::span<const double> at_;
  std::span<const double> value_;
  std::size_t next_ = 0;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_PIECEWISE_LINEAR_H_
