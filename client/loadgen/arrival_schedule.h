// SPDX-License-Identifier: Apache-2.0
// When the calls of an open loop are to start.
#ifndef ARCLANE_CLIENT_LOADGEN_ARRIVAL_SCHEDULE_H_
#define ARCLANE_CLIENT_LOADGEN_ARRIVAL_SCHEDULE_H_

#include <cstdint>

#include "client/loadgen/load_options.h"

namespace arclane {

// Times on the run's own clock, nanoseconds from 0: they do not depend on what becomes of the
// calls. The same rate, arrivals and seed give the same times.
class ArrivalSchedule {
 public:
  // `rate` > 0, calls a second; the first call of a uniform schedule is due at
  // `phase` in [0, 1) of a gap.
  ArrivalSchedule(double rate, Arrivals arrivals, double phase, uint64_t seed);

  // The time of the next call.
  int64_t due_ns() const { return due_ns_; }
  // Goes on to the one behind it.
  void Advance();

 private:
  double Gap();

  const double gap_ns_;
  const Arrivals arrivals_;
  uint64_t state_;
  // Uniform times are phase + n * gap, so that rounding does not add up.
  double first_ns_;
  uint64_t advanced_ = 0;
  int64_t due_ns_ = 0;
};

// A number in [0, 1) from a state that it moves on (SplitMix64, Steele, Lea and Flood 2014).
double NextUniform(uint64_t& state);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_ARRIVAL_SCHEDULE_H_
