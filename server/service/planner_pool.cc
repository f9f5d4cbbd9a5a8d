// SPDX-License-Identifier: Apache-2.0
#include "server/service/planner_pool.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace arclane {

PlannerPool::PlannerPool(PlannerPoolOptions options) : options_(std::move(options)) {
  threads_.reserve(static_cast<size_t>(options_.thread_count));
  for (int i = 0; i < options_.thread_count; ++i) threads_.emplace_back([this] { Work(); });
}

PlannerPool::~PlannerPool() {
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
  }
  work_.SignalAll();
  for (std::thread& thread : threads_) thread.join();
}

bool PlannerPool::TryPush(Job& job) {
  {
    absl::MutexLock lock(&mutex_);
    if (queued_ >= options_.queue_limit) return false;
    job.previous_ = last_;
    job.next_ = nullptr;
    job.queued_ = true;
    (last_ != nullptr ? last_->next_ : first_) = &job;
    last_ = &job;
    ++queued_;
  }
  work_.Signal();
  return true;
}

bool PlannerPool::TryRemove(Job& job) {
  absl::MutexLock lock(&mutex_);
  if (!job.queued_) return false;
  Unlink(job);
  return true;
}

size_t PlannerPool::queued() const {
  absl::MutexLock lock(&mutex_);
  return queued_;
}

void PlannerPool::Unlink(Job& job) {
  (job.previous_ != nullptr ? job.previous_->next_ : first_) = job.next_;
  (job.next_ != nullptr ? job.next_->previous_ : last_) = job.previous_;
  job.previous_ = job.next_ = nullptr;
  job.queued_ = false;
  --queued_;
}

void PlannerPool::Work() {
  pthread_setname_np(pthread_self(), "planner");
  // On Linux the priority belongs to the thread. Being nicer needs no privilege; failing changes
  // nothing else.
  const auto thread_id = static_cast<id_t>(syscall(SYS_gettid));
  setpriority(PRIO_PROCESS, thread_id, getpriority(PRIO_PROCESS, thread_id) + options_.nice);
  while (true) {
    Job* job = nullptr;
    {
      absl::MutexLock lock(&mutex_);
      while (!HasWorkOrEnds()) work_.Wait(&mutex_);
      if (first_ == nullptr) return;
      job = first_;
      if (!options_.before_job) Unlink(*job);
    }
    if (options_.before_job) {
      // Held back while it still counts as waiting.
      options_.before_job();
      absl::MutexLock lock(&mutex_);
      job = first_;
      if (job == nullptr) continue;
      Unlink(*job);
    }
    job->Run();
  }
}

}  // namespace arclane
