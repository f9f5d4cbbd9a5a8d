// SPDX-License-Identifier: Apache-2.0
#include "server/service/planner_pool.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace arclane {
namespace {

// The upper bounds of the classes but the last.
constexpr std::array<double, 3> kClassBounds_s = {1e-3, 16e-3, 256e-3};
// Jobs of no known cost still take their turn.
constexpr double kLeastCost_s = 1e-6;

}  // namespace

size_t PlannerPool::ClassOf(double cost_s) {
  size_t index = 0;
  while (index < kClassBounds_s.size() && cost_s >= kClassBounds_s[index]) ++index;
  return index;
}

PlannerPool::PlannerPool(PlannerPoolOptions options) : options_(std::move(options)) {
  static_assert(kClassBounds_s.size() + 1 == kClasses);
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

bool PlannerPool::TryPush(Job& job, double cost_s) {
  {
    absl::MutexLock lock(&mutex_);
    if (queued_ >= options_.queue_limit) return false;
    Append(job, cost_s);
  }
  work_.Signal();
  return true;
}

void PlannerPool::Push(Job& job, double cost_s) {
  {
    absl::MutexLock lock(&mutex_);
    Append(job, cost_s);
  }
  work_.Signal();
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

double PlannerPool::EstimatedWait(double cost_s) const {
  const size_t own = ClassOf(cost_s);
  absl::MutexLock lock(&mutex_);
  double ahead_s = queues_[own].cost_s;
  for (size_t i = 0; i < kClasses; ++i) {
    // Another class gets no more time than this one until the job's turn has come.
    if (i != own) ahead_s += std::min(queues_[i].cost_s, queues_[own].cost_s + cost_s);
  }
  // On average half of what runs is done.
  if (running_ >= options_.thread_count) ahead_s += running_cost_s_ / 2;
  return ahead_s / options_.thread_count;
}

double PlannerPool::LongestWait() const {
  std::array<double, kClasses> mean_cost_s = {};
  {
    absl::MutexLock lock(&mutex_);
    for (size_t i = 0; i < kClasses; ++i) {
      if (queues_[i].jobs > 0)
        mean_cost_s[i] = queues_[i].cost_s / static_cast<double>(queues_[i].jobs);
    }
  }
  double longest_s = 0;
  for (const double cost_s : mean_cost_s) longest_s = std::max(longest_s, EstimatedWait(cost_s));
  return longest_s;
}

double PlannerPool::QueueAge() const {
  absl::MutexLock lock(&mutex_);
  if (queued_ == 0) return 0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - nonempty_since_).count();
}

void PlannerPool::Append(Job& job, double cost_s) {
  job.cost_s_ = std::max(cost_s, kLeastCost_s);
  Queue& queue = queues_[ClassOf(job.cost_s_)];
  // A class that had nothing to do has no claim on the time that passed.
  if (queue.first == nullptr) queue.virtual_time_s = std::max(queue.virtual_time_s, virtual_now_s_);
  job.previous_ = queue.last;
  job.next_ = nullptr;
  job.queued_ = true;
  (queue.last != nullptr ? queue.last->next_ : queue.first) = &job;
  queue.last = &job;
  queue.cost_s += job.cost_s_;
  ++queue.jobs;
  if (queued_++ == 0) nonempty_since_ = std::chrono::steady_clock::now();
}

void PlannerPool::Unlink(Job& job) {
  Queue& queue = queues_[ClassOf(job.cost_s_)];
  (job.previous_ != nullptr ? job.previous_->next_ : queue.first) = job.next_;
  (job.next_ != nullptr ? job.next_->previous_ : queue.last) = job.previous_;
  job.previous_ = job.next_ = nullptr;
  job.queued_ = false;
  --queued_;
  --queue.jobs;
  // The sum starts anew from time to time, so that its rounding cannot add up.
  queue.cost_s = queue.first == nullptr ? 0 : std::max(0.0, queue.cost_s - job.cost_s_);
}

PlannerPool::Job* PlannerPool::Next() {
  const Queue* best = nullptr;
  for (size_t i = 0; i < kClasses; ++i) {
    const Queue& queue = queues_[i];
    if (queue.first == nullptr) continue;
    if (i == kClasses - 1 && running_longest_ > 0 &&
        running_longest_ >= options_.thread_count - 1) {
      continue;
    }
    if (best == nullptr || queue.virtual_time_s < best->virtual_time_s) best = &queue;
  }
  return best == nullptr ? nullptr : best->first;
}

void PlannerPool::Take(Job& job) {
  Queue& queue = queues_[ClassOf(job.cost_s_)];
  virtual_now_s_ = queue.virtual_time_s;
  queue.virtual_time_s += job.cost_s_;
  Unlink(job);
}

void PlannerPool::Work() {
  pthread_setname_np(pthread_self(), "planner");
  // On Linux the priority belongs to the thread. Being nicer needs no privilege; failing changes
  // nothing else.
  const auto thread_id = static_cast<id_t>(syscall(SYS_gettid));
  setpriority(PRIO_PROCESS, thread_id, getpriority(PRIO_PROCESS, thread_id) + options_.nice);
  mutex_.Lock();
  while (true) {
    Job* job = Next();
    if (job == nullptr) {
      if (ending_ && queued_ == 0) break;
      work_.Wait(&mutex_);
      continue;
    }
    if (options_.before_job) {
      // Held back while it still counts as waiting.
      mutex_.Unlock();
      options_.before_job();
      mutex_.Lock();
      job = Next();
      if (job == nullptr) continue;
    }
    const double cost_s = job->cost_s_;
    const bool longest = ClassOf(cost_s) == kClasses - 1;
    Take(*job);
    ++running_;
    running_cost_s_ += cost_s;
    running_longest_ += longest;
    mutex_.Unlock();
    job->Run();
    mutex_.Lock();
    --running_;
    running_cost_s_ = running_ == 0 ? 0 : running_cost_s_ - cost_s;
    running_longest_ -= longest;
    // A thread that was kept from the longest jobs may take one now, and one that waits may end.
    if (longest || (ending_ && queued_ == 0)) work_.SignalAll();
  }
  mutex_.Unlock();
}

}  // namespace arclane
