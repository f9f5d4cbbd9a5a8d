// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/corner_optimizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace arclane {
namespace {

// First and smallest step of a move, as fractions of the disc's size; growth and shrinking of
// successful and failed ones.
constexpr double kFirstStep = 0.2;
constexpr double kSmallestStep = 1e-4;
constexpr double kStepGrowth = 1.7;
constexpr double kStepShrink = 0.35;

// A trial refines the changed disc and so many on either side, and goes on after each sweep only
// while it may still gain the given fraction of the time.
constexpr size_t kTrialReach = 2;
constexpr int kTrialSweeps = 8;
constexpr double kTrialHopes[kTrialSweeps] = {0.05, 0.03, 0.02, 0.01, 0.01, 0.005, 0.005, 0.005};

constexpr int kStubbornSweeps = 12;

// The work of copying one node of a string, in half-plane tests.
constexpr uint64_t kCopyWork = 5;

}  // namespace

CornerOptimizer::CornerOptimizer(const DiscStringContext& context, std::span<const Vec2> corners,
                                 std::span<const int8_t> side, std::vector<RejectedArc>* rejected)
    : moves_(context, corners, side, rejected), trial_(context) {}

DiscString& CornerOptimizer::TrialOf(const DiscString& string, WorkMeter& work) {
  work.used += kCopyWork * string.size();
  trial_ = string;
  return trial_;
}

void CornerOptimizer::RoundStops(DiscString& string, WorkMeter& work) {
  for (size_t node = 1; node + 1 < string.size() && !work.exhausted(); ++node) {
    if (string.node(node).corner.disc.radius != 0.0) continue;
    if (moves_.RoundStop(string, node, work)) node = node > 2 ? node - 2 : 0;
  }
}

void CornerOptimizer::ResetSteps(const DiscString& string, std::vector<Steps>& steps) const {
  steps.assign(string.size(), Steps{});
  for (size_t i = 1; i + 1 < string.size(); ++i) {
    for (double& step : steps[i].step) step = kFirstStep * moves_.Scale(string, i);
  }
}

bool CornerOptimizer::Sweep(DiscString& string, size_t first, size_t limit,
                            std::vector<Steps>& steps, WorkMeter& work) {
  bool any = false;
  for (size_t node = first; node < limit; ++node) {
    for (const DiscMove move : kDiscMoves) {
      double& step = steps[node].step[static_cast<size_t>(move)];
      if (std::abs(step) < kSmallestStep * moves_.Scale(string, node)) continue;
      any = true;
      if (moves_.Move(string, node, move, step, work)) {
        step *= kStepGrowth;
      } else if (moves_.Move(string, node, move, -step, work)) {
        step *= -kStepGrowth;
      } else {
        step *= kStepShrink;
      }
      if (work.exhausted()) return false;
    }
  }
  return any;
}

void CornerOptimizer::Refine(DiscString& string, int max_sweeps, WorkMeter& work) {
  std::vector<Steps> steps;
  for (int sweep = 0; sweep < max_sweeps && !work.exhausted(); ++sweep) {
    if (sweep % 4 == 0) {
      for (size_t node = 1; node + 1 < string.size() && !work.exhausted(); ++node) {
        if (moves_.Simplify(string, node, work)) node = node > 1 ? node - 2 : 0;
      }
      RoundStops(string, work);
      for (size_t node = 1; node + 1 < string.size() && !work.exhausted(); ++node) {
        moves_.Relocate(string, node, work);
      }
    }
    if (steps.size() != string.size()) ResetSteps(string, steps);
    if (!Sweep(string, 1, string.size() - 1, steps, work)) return;
  }
}

bool CornerOptimizer::StartTrial(DiscString& string, size_t node, int trial, WorkMeter& work) {
  const double size = moves_.Scale(string, node);
  constexpr Acceptance kAny = Acceptance::kAny;
  switch (trial) {
    case 0:
    case 1:
      return moves_.SlideTo(string, node, trial == 0, 1.0, work, kAny);
    case 2:
      return node + 2 < string.size() && moves_.MergeAtApex(string, node, node + 2, work, kAny);
    case 3:
      return string.Replace(node, node + 1, {}, work, kAny) == TryResult::kAccepted;
    case 4:
      return node + 3 < string.size() && moves_.MergeAtApex(string, node, node + 3, work, kAny);
    case 5:
    case 6:
      return moves_.Move(string, node, DiscMove::kShiftLineAfter, trial == 5 ? size : -size, work,
                         kAny);
    case 7:
    case 8:
      return moves_.SlideTo(string, node, trial == 7, 6.0, work, kAny);
    case 9:
    case 10:
      return moves_.Move(string, node, DiscMove::kAlongArc, trial == 9 ? size : -size, work, kAny);
    case 11:
      return moves_.Move(string, node, DiscMove::kOutward, size, work, kAny);
    case 12:
      return moves_.Split(string, node, work);
    default:
      return moves_.Move(string, node, DiscMove::kResizeAtRim, -0.5 * size, work, kAny);
  }
}

void CornerOptimizer::RoundStubbornStops(DiscString& string, WorkMeter& work) {
  std::vector<Steps> steps;
  for (size_t node = 1; node + 1 < string.size(); ++node) {
    if (!string.IsStop(node)) continue;
    for (const double radius : moves_.ladder()) {
      CornerDisc candidate;
      if (!moves_.TouchingDiscAt(string, node, radius, candidate)) continue;
      if (work.exhausted()) return;
      DiscString& changed = TrialOf(string, work);
      if (changed.Replace(node, node + 1, {&candidate, 1}, work, Acceptance::kAny) !=
          TryResult::kAccepted) {
        continue;
      }
      const size_t first = node > kTrialReach ? node - kTrialReach : 1;
      const size_t limit = std::min(node + kTrialReach + 1, changed.size() - 1);
      ResetSteps(changed, steps);
      for (int sweep = 0; sweep < kStubbornSweeps && changed.cost().excess > string.cost().excess;
           ++sweep) {
        if (!Sweep(changed, first, limit, steps, work)) break;
      }
      if (!string.Better(changed.cost(), string.cost())) continue;
      std::swap(string, changed);
      break;
    }
    if (work.exhausted()) return;
  }
}

void CornerOptimizer::Explore(DiscString& string, WorkMeter& work) {
  std::vector<Steps> steps;
  for (bool found = true; found;) {
    found = false;
    for (int trial = 0; trial < kTrialCount; ++trial) {
      for (size_t node = 1; node + 1 < string.size(); ++node) {
        if (work.exhausted()) return;
        DiscString& changed = TrialOf(string, work);
        if (!StartTrial(changed, node, trial, work)) continue;
        const size_t first = node > kTrialReach ? node - kTrialReach : 1;
        for (int sweep = 0; sweep < kTrialSweeps; ++sweep) {
          if (steps.size() != changed.size() || sweep == 0) ResetSteps(changed, steps);
          const size_t limit = std::min(node + kTrialReach + 1, changed.size() - 1);
          if (first >= limit || !Sweep(changed, first, limit, steps, work)) break;
          // Trials that stay far behind are given up; those that break a bound come back first.
          if (changed.cost().excess > string.cost().excess) continue;
          PathCost hoped = changed.cost();
          hoped.time_s *= 1.0 - kTrialHopes[sweep];
          if (!string.Better(hoped, string.cost())) break;
        }
        if (!string.Better(changed.cost(), string.cost())) continue;
        Refine(changed, 2, work);
        std::swap(string, changed);
        found = true;
      }
    }
  }
}

}  // namespace arclane
