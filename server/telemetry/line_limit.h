// SPDX-License-Identifier: Apache-2.0
// A bound on how often something is logged.
#ifndef ARCLANE_SERVER_TELEMETRY_LINE_LIMIT_H_
#define ARCLANE_SERVER_TELEMETRY_LINE_LIMIT_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace arclane {

// So many lines a second, and as many at once after a pause. Thread-safe.
class LineLimit {
 public:
  explicit LineLimit(double lines_per_s) : lines_per_s_(lines_per_s), places_(lines_per_s) {}

  void SetRate(double lines_per_s) {
    const std::lock_guard<std::mutex> lock(mutex_);
    lines_per_s_ = lines_per_s;
  }
  // False when there is no place; the line is then counted as dropped.
  bool TakePlace() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto now = std::chrono::steady_clock::now();
      const std::chrono::duration<double> passed = now - refilled_;
      places_ = std::min(lines_per_s_, places_ + lines_per_s_ * passed.count());
      refilled_ = now;
      if (places_ >= 1) {
        places_ -= 1;
        return true;
      }
    }
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  // The lines dropped since this was asked last.
  uint64_t TakeDropped() { return dropped_.exchange(0, std::memory_order_relaxed); }

 private:
  std::mutex mutex_;
  double lines_per_s_;  // These three are guarded by mutex_.
  double places_;
  std::chrono::steady_clock::time_point refilled_ = std::chrono::steady_clock::now();
  std::atomic<uint64_t> dropped_{0};
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_LINE_LIMIT_H_
