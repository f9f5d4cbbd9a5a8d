// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/max_min_radii.h"

#include <algorithm>
#include <limits>

namespace arclane {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Of the stop check, by measurement.
constexpr uint64_t kRadiusSteps = 16;
constexpr size_t kNone = std::numeric_limits<size_t>::max();

class Filling {
 public:
  Filling(const RadiusChain& chain, size_t first, size_t limit, std::vector<double>& radius)
      : chain_(chain), first_(first), limit_(limit), radius_(radius), frozen_(limit - first, 0) {}

  void Run(PacedStopCheck& stop) {
    for (size_t i = first_; i < limit_; ++i) {
      radius_[i] = 0.0;
      if (chain_.stopped[i]) frozen_[i - first_] = 1;
    }
    for (size_t i = first_; i < limit_; ++i) {
      if (stop.After(kRadiusSteps)) return;
      pending_.push_back(i);
      while (!pending_.empty()) {
        const size_t next = pending_.back();
        pending_.pop_back();
        Settle(next);
      }
    }
  }

 private:
  bool Frozen(size_t i) const { return frozen_[i - first_] != 0; }

  // The corner at the other end of the line after (before) corner i, or kNone.
  size_t After(size_t i) const {
    if (chain_.closed) return chain_.size() > 1 ? (i + 1) % chain_.size() : kNone;
    return i + 1 < limit_ ? i + 1 : kNone;
  }
  size_t Before(size_t i) const {
    if (chain_.closed) return chain_.size() > 1 ? (i + chain_.size() - 1) % chain_.size() : kNone;
    return i > first_ ? i - 1 : kNone;
  }

  // The level at which the line between i, not frozen, and `other` is full.
  double LineLevel(size_t i, size_t other, double length) const {
    const double k = chain_.tan_half[i];
    if (other == kNone) {
      // A loop of one corner trims its line at both ends.
      return length / (chain_.closed ? 2.0 * k : k);
    }
    const double other_k = chain_.tan_half[other];
    if (Frozen(other)) return std::max(0.0, length - radius_[other] * other_k) / k;
    const double level = length / (k + other_k);
    if (level < chain_.low[i]) return std::max(0.0, length - chain_.low[i] * k) / other_k;
    if (level < chain_.low[other]) return std::max(0.0, length - chain_.low[other] * other_k) / k;
    return level;
  }

  void Freeze(size_t i, double level) {
    frozen_[i - first_] = 1;
    radius_[i] = std::clamp(level, chain_.low[i], chain_.high[i]);
    for (const size_t neighbour : {Before(i), After(i)}) {
      if (neighbour != kNone && !Frozen(neighbour)) pending_.push_back(neighbour);
    }
  }

  void Settle(size_t i) {
    if (Frozen(i)) return;
    const size_t before = Before(i);
    const size_t after = After(i);
    const double before_level = LineLevel(i, before, chain_.line_length[i]);
    const double after_level = LineLevel(i, after, chain_.line_length[chain_.line_after(i)]);
    const double level = std::min({chain_.high[i], before_level, after_level});
    size_t partner = kNone;
    if (level < chain_.high[i]) {
      const bool at_before = before_level == level;
      const size_t other = at_before ? before : after;
      if (other != kNone && !Frozen(other)) {
        // The line's other end may freeze earlier by another event of its own.
        const size_t beyond = at_before ? Before(other) : After(other);
        const size_t line = at_before ? other : chain_.line_after(other);
        const double other_level =
            std::min(chain_.high[other], LineLevel(other, beyond, chain_.line_length[line]));
        if (other_level < level) {
          pending_.push_back(i);
          pending_.push_back(other);
          return;
        }
        partner = other;
      }
    }
    Freeze(i, level);
    if (partner != kNone && !Frozen(partner)) Freeze(partner, level);
  }

  const RadiusChain& chain_;
  const size_t first_;
  const size_t limit_;
  std::vector<double>& radius_;
  std::vector<uint8_t> frozen_;
  std::vector<size_t> pending_;
};

}  // namespace

void FillMaxMin(const RadiusChain& chain, size_t first, size_t limit, PacedStopCheck& stop,
                std::vector<double>& radius) {
  Filling(chain, first, limit, radius).Run(stop);
}

}  // namespace arclane
