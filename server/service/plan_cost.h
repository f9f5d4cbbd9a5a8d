// SPDX-License-Identifier: Apache-2.0
// How long plans take, learned from those that were made.
#ifndef ARCLANE_SERVER_SERVICE_PLAN_COST_H_
#define ARCLANE_SERVER_SERVICE_PLAN_COST_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "server/codec/work_glance.h"

namespace arclane {

// For each kind of plan and each octave of the cost that the request alone lets expect, the mean
// time that recent plans of the same kind and octave took. What the model of WorkGlance gets wrong
// (this machine, requests that need less than they allow) is learned within some dozen plans. An
// octave without plans follows the nearest one that has some, by the ratio of their priors.
// Thread-safe and lock-free.
class PlanCost {
 public:
  PlanCost();
  // Seconds that a thread will be busy; > 0.
  double Estimate(const WorkGlance& glance) const;
  // A plan took `plan_s` > 0.
  void Learn(const WorkGlance& glance, double plan_s);

 private:
  static constexpr int kOctaves = 28;  // From 1 us on.
  struct Cell {
    std::atomic<double> mean_s{0};
    std::atomic<uint32_t> count{0};  // Of plans learned; no longer exact once it is large.
  };
  static int OctaveOf(double prior_s);

  std::array<std::array<Cell, kOctaves>, kWorkKindCount> cells_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PLAN_COST_H_
