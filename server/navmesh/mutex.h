// SPDX-License-Identifier: Apache-2.0
// std::mutex with Clang's thread safety annotations. The standard mutex is one that ThreadSanitizer
// sees into even where Abseil was built without it.
#ifndef ARCLANE_SERVER_NAVMESH_MUTEX_H_
#define ARCLANE_SERVER_NAVMESH_MUTEX_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"

namespace arclane {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  // For std::condition_variable.
  std::mutex& native() { return mutex_; }

 private:
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Holds the current one of a sequence of immutable values. Readers take a reference that stays
// valid for as long as they keep it, whatever is stored meanwhile; they share neither a lock nor a
// reference count with readers of other stripes. Store costs one allocation a stripe. Store is
// atomic for each reader: once it has seen a value it never sees an older one unless it changes
// threads while Store runs.
template <typename T>
class SnapshotCell {
 public:
  explicit SnapshotCell(std::shared_ptr<const T> value) { Store(std::move(value)); }

  std::shared_ptr<const T> Load() const {
    Stripe& stripe = stripes_[StripeOfThread()];
    MutexLock lock(stripe.mutex);
    return stripe.value;
  }
  void Store(std::shared_ptr<const T> value) {
    for (Stripe& stripe : stripes_) {
      // A reference count of each stripe's own, over the shared value.
      auto owner = std::make_shared<std::shared_ptr<const T>>(value);
      std::shared_ptr<const T> own(owner, value.get());
      MutexLock lock(stripe.mutex);
      stripe.value.swap(own);
    }
  }

 private:
  static constexpr size_t kStripes = 8;
  struct alignas(64) Stripe {
    Mutex mutex;
    std::shared_ptr<const T> value ABSL_GUARDED_BY(mutex);
  };
  static size_t StripeOfThread() {
    static thread_local const size_t stripe =
        std::hash<std::thread::id>()(std::this_thread::get_id()) % kStripes;
    return stripe;
  }
  mutable std::array<Stripe, kStripes> stripes_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_MUTEX_H_
