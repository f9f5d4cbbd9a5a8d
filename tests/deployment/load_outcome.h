// SPDX-License-Identifier: Apache-2.0
// What became of the calls of one kind.
#ifndef ARCLANE_TESTS_DEPLOYMENT_LOAD_OUTCOME_H_
#define ARCLANE_TESTS_DEPLOYMENT_LOAD_OUTCOME_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace arclane {

// Thread-safe.
class LoadOutcome {
 public:
  // A call that has ended, well or not.
  void Called(absl::Duration took) {
    absl::MutexLock lock(&mutex_);
    ++calls_;
    longest_ = std::max(longest_, took);
    const absl::Time now = absl::Now();
    if (last_ != absl::InfinitePast()) longest_silence_ = std::max(longest_silence_, now - last_);
    last_ = now;
  }
  void Failed(const std::string& how) {
    absl::MutexLock lock(&mutex_);
    ++failures_[how];
  }
  // A stream that the server ended as announced.
  void Reopened() {
    absl::MutexLock lock(&mutex_);
    ++reopened_;
  }

  // A stream that was reset, and reopened with success.
  void Reset() {
    absl::MutexLock lock(&mutex_);
    ++reset_;
  }

  int64_t failed() const {
    absl::MutexLock lock(&mutex_);
    int64_t sum = 0;
    for (const auto& [how, count] : failures_) sum += count;
    return sum;
  }
  // `longest_silence_s`: between the ends of two calls of any thread.
  nlohmann::json ToJson() const {
    const int64_t sum = failed();
    absl::MutexLock lock(&mutex_);
    return {{"calls", calls_},
            {"failed", sum},
            {"failures", failures_},
            {"reopened", reopened_},
            {"reset", reset_},
            {"longest_s", absl::ToDoubleSeconds(longest_)},
            {"longest_silence_s", absl::ToDoubleSeconds(longest_silence_)}};
  }

 private:
  mutable absl::Mutex mutex_;
  int64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t reopened_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t reset_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Duration longest_ ABSL_GUARDED_BY(mutex_);
  absl::Duration longest_silence_ ABSL_GUARDED_BY(mutex_);
  absl::Time last_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::map<std::string, int64_t> failures_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace arclane

#endif  // ARCLANE_TESTS_DEPLOYMENT_LOAD_OUTCOME_H_
