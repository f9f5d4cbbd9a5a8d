// SPDX-License-Identifier: Apache-2.0
// How a caller gives up a computation that is under way. Planning knows no clock: it asks the
// caller's check after every bounded amount of work, counted in steps, so that where it asks is the
// same every time.
#ifndef ARCLANE_SERVER_PLANNING_GEOMETRY_STOP_CHECK_H_
#define ARCLANE_SERVER_PLANNING_GEOMETRY_STOP_CHECK_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace arclane {

// True: the caller wants no answer any more.
using StopCheck = absl::FunctionRef<bool()>;

inline bool NeverStop() { return false; }

// Asks a check once in kStepsPerLook steps. It refers to the check, which must outlive it.
class PacedStopCheck {
 public:
  // A step is a few floating-point operations, 2 to 10 ns: a look every 20 to 80 us, at well below
  // a hundredth of the work between.
  static constexpr uint64_t kStepsPerLook = uint64_t{1} << 13;

  explicit PacedStopCheck(StopCheck check) : check_(check) {}

  // After `steps` more steps: true when the caller has given up. Once true, always true.
  bool After(uint64_t steps) {
    steps_ += steps;
    if (steps_ < kStepsPerLook) return stopped_;
    return Now();
  }
  // Asks at once.
  bool Now() {
    steps_ = 0;
    stopped_ = stopped_ || check_();
    return stopped_;
  }
  bool stopped() const { return stopped_; }

 private:
  StopCheck check_;
  uint64_t steps_ = 0;
  bool stopped_ = false;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_GEOMETRY_STOP_CHECK_H_
