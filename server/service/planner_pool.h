// SPDX-License-Identifier: Apache-2.0
// The threads that plan, behind a bounded queue. Network threads never plan and never wait for a
// plan.
#ifndef ARCLANE_SERVER_SERVICE_PLANNER_POOL_H_
#define ARCLANE_SERVER_SERVICE_PLANNER_POOL_H_

#include <array>
#include <chrono>
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

// Jobs wait in classes by their expected cost, four of them, each 16 times the one below: below 1
// ms, below 16 ms, below 256 ms, longer. Within a class first come, first served; the threads' time
// is shared evenly between the classes in which jobs wait (start-time fair queueing, Goyal, Vin and
// Cheng 1996, with the expected cost as the length), so that thousands of small jobs pass a large
// one, and a large one is not starved by them. Of two or more threads one never takes a job of the
// longest class. Thread-safe.
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
    double cost_s_ = 0;
    bool queued_ = false;
  };

  explicit PlannerPool(PlannerPoolOptions options);
  // Runs every job that waits, then joins the threads.
  ~PlannerPool();

  // False, and nothing happens, when the queue is full. `cost_s`: how long a thread is expected to
  // be busy with it, seconds; >= 0. O(1), without allocation.
  bool TryPush(Job& job, double cost_s = 0);
  // Queues the next part of work that was admitted before: never refused.
  void Push(Job& job, double cost_s);
  // True when the job still waited: it will not run. O(1).
  bool TryRemove(Job& job);

  size_t queued() const;
  // Seconds until a thread would take a job of this cost that is pushed now, if jobs take as long
  // as they are expected to.
  double EstimatedWait(double cost_s) const;
  // The same for a job like those that wait, of the class that waits longest.
  double LongestWait() const;
  // For how many seconds some job has been waiting without a pause; 0 while none waits.
  double QueueAge() const;
  size_t queue_limit() const { return options_.queue_limit; }
  int thread_count() const { return options_.thread_count; }

 private:
  static constexpr size_t kClasses = 4;
  struct Queue {
    Job* first = nullptr;
    Job* last = nullptr;
    double cost_s = 0;
    size_t jobs = 0;
    double virtual_time_s = 0;  // Time given to the class, or not claimed while it was empty.
  };

  static size_t ClassOf(double cost_s);
  void Work();
  void Append(Job& job, double cost_s) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unlink(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The job that is to run next; null when none may.
  Job* Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the job out of the queue, to be run.
  void Take(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const PlannerPoolOptions options_;
  mutable absl::Mutex mutex_;
  std::array<Queue, kClasses> queues_ ABSL_GUARDED_BY(mutex_);
  size_t queued_ ABSL_GUARDED_BY(mutex_) = 0;
  std::chrono::steady_clock::time_point nonempty_since_ ABSL_GUARDED_BY(mutex_);
  double virtual_now_s_ ABSL_GUARDED_BY(mutex_) = 0;  // Of the class served last.
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  int running_longest_ ABSL_GUARDED_BY(mutex_) = 0;
  double running_cost_s_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  absl::CondVar work_;
  std::vector<std::thread> threads_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PLANNER_POOL_H_
