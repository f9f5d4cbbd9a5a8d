// SPDX-License-Identifier: Apache-2.0
// The threads that plan, behind a bounded queue. Network threads never plan and never wait for a
// plan.
#ifndef ARCLANE_SERVER_SERVICE_PLANNER_POOL_H_
#define ARCLANE_SERVER_SERVICE_PLANNER_POOL_H_

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace arclane {

struct PlannerPoolOptions {
  int thread_count = 1;       // >= 1.
  size_t queue_limit = 1024;  // Most jobs that wait; those that run are not counted.
  int nice = 10;              // Added to the threads' nice value, 0 to 19.
  // Called on the pool's thread before each job, if set: a test holds the threads here.
  std::function<void()> before_job;
};

// First come, first served. Thread-safe.
class PlannerPool {
 public:
  // A unit of work that its caller owns. It must live until Run was entered or TryRemove returned
  // true.
  class Job {
   public:
    virtual void Run() = 0;  // On a pool thread; may destroy the job.

   protected:
    Job() = default;
    virtual ~Job() = default;
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

   private:
    friend class PlannerPool;
    Job* previous_ = nullptr;
    Job* next_ = nullptr;
    bool queued_ = false;
  };

  explicit PlannerPool(PlannerPoolOptions options);
  // Runs every job that waits, then joins the threads.
  ~PlannerPool();

  // False, and nothing happens, when the queue is full. O(1), without allocation.
  bool TryPush(Job& job);
  // True when the job still waited: it will not run. O(1).
  bool TryRemove(Job& job);

  size_t queued() const;
  size_t queue_limit() const { return options_.queue_limit; }
  int thread_count() const { return options_.thread_count; }

 private:
  void Work();
  void Unlink(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWorkOrEnds() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return first_ != nullptr || ending_;
  }

  const PlannerPoolOptions options_;
  mutable absl::Mutex mutex_;
  Job* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Job* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
  size_t queued_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  absl::CondVar work_;
  std::vector<std::thread> threads_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PLANNER_POOL_H_
