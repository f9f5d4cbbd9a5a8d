// SPDX-License-Identifier: Apache-2.0
// What bounds the work of a plan along a curve under a coupled budget: the caller's limit on its
// size, and the caller's wish to give up. Internal to the speed planner.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_STEP_ALLOWANCE_H_
#define ARCLANE_SERVER_PLANNING_SPEED_STEP_ALLOWANCE_H_

#include <cstddef>
#include <cstdint>

#include "server/planning/geometry/stop_check.h"

namespace arclane {

class StepAllowance {
 public:
  // `most`: of steps, and of phases.
  StepAllowance(std::size_t most, PacedStopCheck& stop) : most_(most), stop_(stop) {}

  // Whether one more may follow the `count` steps, or phases, that there are. Once false, always.
  bool Continues(std::size_t count) {
    if (count >= most_) used_up_ = true;
    return !stop_.After(kWorkOfStep) && !used_up_;
  }

  bool used_up() const { return used_up_; }

 private:
  // A step tries a dozen lengths at most, each some tens of operations.
  static constexpr std::uint64_t kWorkOfStep = 32;

  const std::size_t most_;
  PacedStopCheck& stop_;
  bool used_up_ = false;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_STEP_ALLOWANCE_H_
