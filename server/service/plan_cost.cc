// SPDX-License-Identifier: Apache-2.0
#include "server/service/plan_cost.h"

#include <algorithm>
#include <cmath>

namespace arclane {
namespace {

constexpr double kFirstOctave_s = 1e-6;
// The weight of the newest plan once there are many.
constexpr uint32_t kMemory = 32;

}  // namespace

PlanCost::PlanCost() = default;

int PlanCost::OctaveOf(double prior_s) {
  return std::clamp(std::ilogb(std::max(prior_s / kFirstOctave_s, 1.0)), 0, kOctaves - 1);
}

double PlanCost::Estimate(const WorkGlance& glance) const {
  const double prior_s = glance.PriorSeconds();
  const int octave = OctaveOf(prior_s);
  const auto& cells = cells_[static_cast<size_t>(glance.kind)];
  for (int away = 0; away < kOctaves; ++away) {
    for (const int other : {octave - away, octave + away}) {
      if (other < 0 || other >= kOctaves) continue;
      const Cell& cell = cells[static_cast<size_t>(other)];
      if (cell.count.load(std::memory_order_relaxed) == 0) continue;
      return std::ldexp(cell.mean_s.load(std::memory_order_relaxed), octave - other);
    }
  }
  return prior_s;
}

void PlanCost::Learn(const WorkGlance& glance, double plan_s) {
  Cell& cell = cells_[static_cast<size_t>(glance.kind)]
                     [static_cast<size_t>(OctaveOf(glance.PriorSeconds()))];
  // A lost update between threads costs one observation of many.
  const uint32_t count = std::min(cell.count.load(std::memory_order_relaxed) + 1, kMemory);
  const double old = cell.mean_s.load(std::memory_order_relaxed);
  cell.mean_s.store(old + (plan_s - old) / count, std::memory_order_relaxed);
  cell.count.store(count, std::memory_order_relaxed);
}

}  // namespace arclane
