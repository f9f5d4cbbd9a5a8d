// SPDX-License-Identifier: Apache-2.0
// Searches the string of discs that drives a taut path best: from stops at every corner by way of
// touching discs and inscribed fillets to a local optimum. Every step is proven contained before it
// is taken, so that the search may end at any time with a valid path.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_CORNER_OPTIMIZER_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_CORNER_OPTIMIZER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/geometry/vec2.h"
#include "server/planning/rounding/disc_moves.h"
#include "server/planning/rounding/disc_string.h"
#include "server/planning/rounding/driven_path.h"

namespace arclane {

class CornerOptimizer {
 public:
  // `corners`: the inner points of the taut path; `side`: +1 where it turns left, -1 right, 0 where
  // it goes straight on. radius_max is finite here.
  CornerOptimizer(const DiscStringContext& context, std::span<const Vec2> corners,
                  std::span<const int8_t> side, std::vector<RejectedArc>* rejected);

  // Tries to turn every stop of the string into an arc, with its neighbours of the same side if
  // need be.
  void RoundStops(DiscString& string, WorkMeter& work);
  // Sweeps of small changes of every disc until nothing improves, the work is spent, or
  // `max_sweeps`.
  void Refine(DiscString& string, int max_sweeps, WorkMeter& work);

  // Trials: one disc is moved far, dropped, merged or split whatever that costs, its neighbourhood
  // is refined, and the result kept if it is better. Until a whole round of trials finds nothing or
  // the work is spent.
  void Explore(DiscString& string, WorkMeter& work);

  // Stops that are left: arcs that fit at the price of another bound (the length) are refined until
  // they keep it.
  void RoundStubbornStops(DiscString& string, WorkMeter& work);

 private:
  static constexpr int kTrialCount = 14;
  struct Steps {
    double step[kDiscMoves.size()];  // By move.
  };

  // The string to try on, as a copy of `string`; the copy counts as work.
  DiscString& TrialOf(const DiscString& string, WorkMeter& work);
  bool StartTrial(DiscString& string, size_t node, int trial, WorkMeter& work);
  // One sweep of moves over the nodes [first, limit); false when all steps are spent.
  bool Sweep(DiscString& string, size_t first, size_t limit, std::vector<Steps>& steps,
             WorkMeter& work);
  void ResetSteps(const DiscString& string, std::vector<Steps>& steps) const;

  const DiscMoves moves_;
  DiscString trial_;  // Kept for its memory.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_CORNER_OPTIMIZER_H_
