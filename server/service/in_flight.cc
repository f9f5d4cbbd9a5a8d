// SPDX-License-Identifier: Apache-2.0
#include "server/service/in_flight.h"

namespace arclane {

// Both sides use the total order: either the last Leave sees that it is awaited, or the waiter sees
// the zero.
void InFlight::Leave() {
  if (count_.fetch_sub(1) != 1 || !awaited_.load()) return;
  absl::MutexLock lock(&mutex_);
  zero_.SignalAll();
}

bool InFlight::AwaitZero(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  awaited_.store(true);
  while (count_.load() != 0) {
    if (zero_.WaitWithDeadline(&mutex_, deadline)) return count_.load() == 0;
  }
  return true;
}

}  // namespace arclane
