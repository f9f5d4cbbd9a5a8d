// SPDX-License-Identifier: Apache-2.0
#include "server/service/admission.h"

#include <algorithm>
#include <string>

namespace arclane {
namespace {

// What a plan costs beside its bytes: an empty request still takes a thread for a few microseconds.
// In the unit of the cost, which is a byte of a request.
constexpr uint64_t kFixedCost = 2048;
// The first estimate, before any plan was timed: 10 us for a small request.
constexpr double kInitialSecondsPerCost = 10e-6 / 4096;
// Weight of the newest plan in the moving average.
constexpr double kNewestWeight = 1.0 / 32;
// A retry sooner than this only adds load; later than this the estimate is worth nothing.
constexpr double kLeastRetryDelay_s = 0.02;
constexpr double kMostRetryDelay_s = 5;

uint64_t Cost(size_t bytes) { return kFixedCost + bytes; }

}  // namespace

Admission::Admission(PlannerPool& pool, uint64_t admitted_bytes_limit, Metrics& metrics)
    : pool_(pool),
      metrics_(metrics),
      admitted_bytes_limit_(admitted_bytes_limit),
      seconds_per_cost_(kInitialSecondsPerCost) {
  metrics.SetCapacity(pool.thread_count(), pool.queue_limit(),
                      static_cast<double>(admitted_bytes_limit));
}

std::optional<Failure> Admission::Admit(PlannerPool::Job& job, size_t bytes) {
  // Counted first and taken back on refusal: once pushed, the job may finish before this function
  // returns.
  if (!TakeBytes(bytes)) {
    return Refusal(ShedReason::kAdmittedBytes, "max_admitted_bytes", admitted_bytes_limit_);
  }
  queued_cost_.fetch_add(Cost(bytes));
  metrics_.QueueChanged(1);
  if (pool_.TryPush(job)) return std::nullopt;
  LeftQueue(bytes);
  Finished(bytes, 0);
  return Refusal(ShedReason::kQueueFull, "max_queued_plans", pool_.queue_limit());
}

bool Admission::AdmitAtOnce(size_t bytes) {
  return queued_cost_.load(std::memory_order_relaxed) == 0 && TakeBytes(bytes);
}

bool Admission::TakeBytes(size_t bytes) {
  const uint64_t admitted = admitted_bytes_.fetch_add(bytes) + bytes;
  if (admitted > admitted_bytes_limit_) {
    admitted_bytes_.fetch_sub(bytes);
    return false;
  }
  metrics_.AdmittedChanged(static_cast<int64_t>(bytes));
  return true;
}

void Admission::LeftQueue(size_t bytes) {
  queued_cost_.fetch_sub(Cost(bytes));
  metrics_.QueueChanged(-1);
}

void Admission::Finished(size_t bytes, double plan_s) {
  admitted_bytes_.fetch_sub(bytes);
  metrics_.AdmittedChanged(-static_cast<int64_t>(bytes));
  if (plan_s <= 0) return;
  // A lost update between threads costs one observation of many.
  const double old = seconds_per_cost_.load(std::memory_order_relaxed);
  const double newest = plan_s / static_cast<double>(Cost(bytes));
  seconds_per_cost_.store(old + kNewestWeight * (newest - old), std::memory_order_relaxed);
}

double Admission::EstimatedWait() const {
  return static_cast<double>(queued_cost_.load(std::memory_order_relaxed)) *
         seconds_per_cost_.load(std::memory_order_relaxed) / pool_.thread_count();
}

Failure Admission::Refusal(ShedReason reason, const char* limit, uint64_t maximum) const {
  metrics_.Shed(LabelIndex(reason));
  Failure failure;
  failure.reason = FailureReason::kQueueFull;
  failure.message = "the server is at its limit of waiting plans (" + std::string(limit) + " = " +
                    std::to_string(maximum) + "); retry later or at another replica";
  failure.metadata = {{"limit", limit}, {"maximum", std::to_string(maximum)}};
  failure.retry_delay_s = std::clamp(EstimatedWait(), kLeastRetryDelay_s, kMostRetryDelay_s);
  return failure;
}

}  // namespace arclane
