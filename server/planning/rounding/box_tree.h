// SPDX-License-Identifier: Apache-2.0
// Axis-parallel boxes in a static tree: which of them meet a point, a box or a line is found
// without looking at all. Boxes keep the order in which they were given; each node of the tree
// covers successive ones, so that the order should follow their places.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_BOX_TREE_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_BOX_TREE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "server/planning/geometry/vec2.h"

namespace arclane {

// Closed; empty until it covers something.
struct Box {
  Vec2 low{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  Vec2 high{-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};

  void Cover(Vec2 p) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  void Cover(const Box& other) {
    low = {std::min(low.x, other.low.x), std::min(low.y, other.low.y)};
    high = {std::max(high.x, other.high.x), std::max(high.y, other.high.y)};
  }
  void Grow(double margin) {
    low = low - Vec2{margin, margin};
    high = high + Vec2{margin, margin};
  }
  bool Meets(const Box& other) const {
    return low.x <= other.high.x && other.low.x <= high.x && low.y <= other.high.y &&
           other.low.y <= high.y;
  }
};

inline Box BoxOf(Vec2 a, Vec2 b) {
  Box box;
  box.Cover(a);
  box.Cover(b);
  return box;
}

// The boxes that the points within `margin` of the line from `from` to `to` can lie in.
class LineBand {
 public:
  LineBand(Vec2 from, Vec2 to, double margin) : box_(BoxOf(from, to)) {
    box_.Grow(margin);
    const Vec2 along = to - from;
    normal_ = LeftNormal(along);
    offset_ = Dot(normal_, from);
    // Between the box's corners the offset errs by a few roundings of its terms.
    slack_ =
        margin * Norm(along) + 8.0 * std::numeric_limits<double>::epsilon() *
                                   (std::abs(normal_.x * from.x) + std::abs(normal_.y * from.y));
  }
  bool operator()(const Box& box) const {
    if (!box_.Meets(box)) return false;
    const Vec2 middle = 0.5 * (box.low + box.high);
    const Vec2 half = 0.5 * (box.high - box.low);
    const double reach = std::abs(normal_.x) * half.x + std::abs(normal_.y) * half.y;
    return std::abs(Dot(normal_, middle) - offset_) <= reach + slack_;
  }

 private:
  Box box_;
  Vec2 normal_;
  double offset_ = 0.0;
  double slack_ = 0.0;
};

class BoxTree {
 public:
  BoxTree() = default;
  explicit BoxTree(std::vector<Box> boxes) {
    levels_.push_back(std::move(boxes));
    while (levels_.back().size() > kFanout) {
      const std::vector<Box>& below = levels_.back();
      std::vector<Box> level((below.size() + kFanout - 1) / kFanout);
      for (size_t i = 0; i < below.size(); ++i) level[i / kFanout].Cover(below[i]);
      levels_.push_back(std::move(level));
    }
  }

  size_t size() const { return levels_.empty() ? 0 : levels_[0].size(); }

  // Calls visit(i), ascending, for every box i that meets(box) holds for; meets must hold for a box
  // that covers one that it holds for. `visit` returns false to end; so then does this. `steps`
  // grows by the boxes looked at.
  template <typename Meets, typename Visit>
  bool ForEach(const Meets& meets, const Visit& visit, uint64_t& steps) const {
    if (levels_.empty()) return true;
    return Descend(levels_.size() - 1, 0, levels_.back().size(), meets, visit, steps);
  }

 private:
  static constexpr size_t kFanout = 8;

  template <typename Meets, typename Visit>
  bool Descend(size_t level, size_t first, size_t limit, const Meets& meets, const Visit& visit,
               uint64_t& steps) const {
    steps += limit - first;
    for (size_t i = first; i < limit; ++i) {
      if (!meets(levels_[level][i])) continue;
      if (level == 0) {
        if (!visit(i)) return false;
        continue;
      }
      const size_t below = levels_[level - 1].size();
      if (!Descend(level - 1, i * kFanout, std::min(below, (i + 1) * kFanout), meets, visit,
                   steps)) {
        return false;
      }
    }
    return true;
  }

  std::vector<std::vector<Box>> levels_;  // Of the boxes, then of runs of kFanout below.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_BOX_TREE_H_
