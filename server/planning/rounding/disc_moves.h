// SPDX-License-Identifier: Apache-2.0
// Single changes of a string of discs: each tries one new place, size or number of discs and leaves
// the string as it was unless the result is contained and accepted. Internal to corner_optimizer.h.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_DISC_MOVES_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_DISC_MOVES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/geometry/vec2.h"
#include "server/planning/rounding/disc_string.h"
#include "server/planning/rounding/driven_path.h"

namespace arclane {

// Small changes of one disc, by a signed step along the named way.
enum class DiscMove : uint8_t {
  kOutward,
  kAlongArc,            // Along the tangent in the middle of the arc.
  kResizeAtRim,         // The middle of the arc stays.
  kResizeAtCenter,      // The centre stays.
  kResizeAtLines,       // Both lines stay.
  kRotate,              // About the corner nearest to the rim.
  kSlideBefore,         // Along the line before.
  kSlideAfter,          // Along the line after.
  kResizeAtLineBefore,  // The line before stays.
  kResizeAtLineAfter,   // The line after stays.
  kShiftLineAfter,      // The line to the next disc moves sideways together with both.
};
inline constexpr std::array kDiscMoves = {
    DiscMove::kOutward,           DiscMove::kAlongArc,      DiscMove::kResizeAtRim,
    DiscMove::kResizeAtCenter,    DiscMove::kResizeAtLines, DiscMove::kRotate,
    DiscMove::kSlideBefore,       DiscMove::kSlideAfter,    DiscMove::kResizeAtLineBefore,
    DiscMove::kResizeAtLineAfter, DiscMove::kShiftLineAfter};

// All that return a bool: whether the string was changed.
class DiscMoves {
 public:
  // `corners`: the inner points of the taut path; `side`: +1 where it turns left, -1 right, 0 where
  // it goes straight on. radius_max is finite here. `rejected` (may be null) gets the arcs that did
  // not fit at single corners.
  DiscMoves(const DiscStringContext& context, std::span<const Vec2> corners,
            std::span<const int8_t> side, std::vector<RejectedArc>* rejected);

  // Radii to try, descending to the minimum radius.
  std::span<const double> ladder() const { return ladder_; }

  // An arc instead of a stop, with its neighbours of the same side if need be.
  bool RoundStop(DiscString& string, size_t node, WorkMeter& work) const;
  bool Move(DiscString& string, size_t node, DiscMove move, double step, WorkMeter& work,
            Acceptance acceptance = Acceptance::kBetter) const;
  // The disc slides along one of its lines, which stays, until it is `share` radii from the disc at
  // the end of the other.
  bool SlideTo(DiscString& string, size_t node, bool back, double share, WorkMeter& work,
               Acceptance acceptance) const;
  // Moves the turn to where the agent is slow anyway. In between the time hardly changes, so that
  // small steps do not find it.
  bool Relocate(DiscString& string, size_t node, WorkMeter& work) const;
  // One disc instead of [first, last), inscribed where the line before them and the line after them
  // meet: the agent is slow once instead of several times.
  bool MergeAtApex(DiscString& string, size_t first, size_t last, WorkMeter& work,
                   Acceptance acceptance = Acceptance::kBetter) const;
  // One touching disc for each corner of a disc that turns for several.
  bool Split(DiscString& string, size_t node, WorkMeter& work) const;
  // Fewer discs: without this one, or one for it and the next ones.
  bool Simplify(DiscString& string, size_t node, WorkMeter& work) const;

  // The disc of this radius that touches the corners of a node from outside; false when the corners
  // turn to different sides or the radius is too small.
  bool TouchingDiscAt(const DiscString& string, size_t node, double radius, CornerDisc& disc) const;

  // The size by which steps of a disc are measured.
  double Scale(const DiscString& string, size_t node) const;

 private:
  bool TryTouching(DiscString& string, size_t first, size_t last, WorkMeter& work) const;
  // The disc of the given radius that holds the corners [first, limit) and lies as far back along
  // -outward as it can: its rim touches the outermost. False when the radius is too small.
  bool TouchingDisc(uint32_t first, uint32_t limit, double radius, Vec2 outward, Disc& disc) const;
  // The common side of the corners [first, limit); 0 when they differ or none turns.
  int SideOf(uint32_t first, uint32_t limit) const;

  const DiscStringContext context_;
  std::span<const Vec2> corners_;
  std::span<const int8_t> side_;
  std::vector<double> ladder_;
  std::vector<RejectedArc>* rejected_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_DISC_MOVES_H_
