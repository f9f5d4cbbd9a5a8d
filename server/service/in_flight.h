// SPDX-License-Identifier: Apache-2.0
// Counts the calls that were accepted and not answered yet, so that a drain knows when it is done.
#ifndef ARCLANE_SERVER_SERVICE_IN_FLIGHT_H_
#define ARCLANE_SERVER_SERVICE_IN_FLIGHT_H_

#include <atomic>
#include <cstdint>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace arclane {

// Thread-safe.
class InFlight {
 public:
  void Enter() { count_.fetch_add(1, std::memory_order_relaxed); }
  void Leave();
  int64_t count() const { return count_.load(std::memory_order_relaxed); }
  // True as soon as the count is 0, false at the deadline.
  bool AwaitZero(absl::Time deadline);

 private:
  std::atomic<int64_t> count_{0};
  std::atomic<bool> awaited_{false};
  absl::Mutex mutex_;
  absl::CondVar zero_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_IN_FLIGHT_H_
