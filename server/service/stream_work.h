// SPDX-License-Identifier: Apache-2.0
// The work of one long stream, done a step at a time on one thread, however many threads tell it
// that there is something to do.
#ifndef ARCLANE_SERVER_SERVICE_STREAM_WORK_H_
#define ARCLANE_SERVER_SERVICE_STREAM_WORK_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/service/planner_pool.h"

namespace arclane {

// Owned by shared pointers; a step that is to be done holds one.
class StreamWork : public std::enable_shared_from_this<StreamWork>, private PlannerPool::Job {
 public:
  // Has Step called soon, once for any number of calls before it begins. Quick; from any thread,
  // also from within Step.
  void Schedule();

 protected:
  // The pool must have no bound on its queue, and outlive this.
  explicit StreamWork(PlannerPool& pool) : pool_(pool) {}
  ~StreamWork() override = default;

  // Never twice at once.
  virtual void Step() = 0;

 private:
  void Run() override;
  void Queue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  PlannerPool& pool_;
  absl::Mutex mutex_;
  bool queued_ ABSL_GUARDED_BY(mutex_) = false;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  bool again_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<StreamWork> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_STREAM_WORK_H_
