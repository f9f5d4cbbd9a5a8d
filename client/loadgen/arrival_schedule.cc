// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/arrival_schedule.h"

#include <cmath>

namespace arclane {

double NextUniform(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  mixed ^= mixed >> 31;
  return static_cast<double>(mixed >> 11) * 0x1p-53;
}

ArrivalSchedule::ArrivalSchedule(double rate, Arrivals arrivals, double phase, uint64_t seed)
    : gap_ns_(1e9 / rate), arrivals_(arrivals), state_(seed), first_ns_(phase * gap_ns_) {
  if (arrivals_ == Arrivals::kPoisson) first_ns_ = Gap();
  due_ns_ = static_cast<int64_t>(first_ns_);
}

double ArrivalSchedule::Gap() { return -gap_ns_ * std::log1p(-NextUniform(state_)); }

void ArrivalSchedule::Advance() {
  if (arrivals_ == Arrivals::kPoisson) {
    first_ns_ += Gap();
    due_ns_ = static_cast<int64_t>(first_ns_);
  } else {
    ++advanced_;
    due_ns_ = static_cast<int64_t>(first_ns_ + static_cast<double>(advanced_) * gap_ns_);
  }
}

}  // namespace arclane
