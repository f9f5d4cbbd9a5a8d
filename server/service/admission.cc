// SPDX-License-Identifier: Apache-2.0
#include "server/service/admission.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace arclane {
namespace {

// A retry sooner than this only adds load; later than this the estimate is worth nothing.
constexpr double kLeastRetryDelay_s = 0.02;
constexpr double kMostRetryDelay_s = 5;
// A queue that has not been empty for this long is no burst any more, and load that was shed may
// come back for this long.
constexpr double kBurst_s = 0.05;
constexpr int64_t kOverloadMemory_ns = 1'000'000'000;
// The share of what is left to the deadline that may pass in the queue.
constexpr double kBurstShare = 1.0 / 2;
constexpr double kStandingShare = 1.0 / 16;
// A standing queue never means less than this many times the plan's own cost, so that threads do
// not run dry between two arrivals.
constexpr double kStandingCosts = 2;

std::string MillisecondsText(double seconds) {
  return std::to_string(static_cast<int64_t>(std::ceil(seconds * 1e3))) + " ms";
}

}  // namespace

Admission::Admission(PlannerPool& pool, uint64_t admitted_bytes_limit, Metrics& metrics)
    : pool_(pool),
      metrics_(metrics),
      admitted_bytes_limit_(admitted_bytes_limit),
      last_shed_ns_(NowNs() - kOverloadMemory_ns) {
  metrics.SetCapacity(pool.thread_count(), pool.queue_limit(),
                      static_cast<double>(admitted_bytes_limit));
}

std::optional<Failure> Admission::Admit(PlannerPool::Job& job, const PlanDemand& demand) {
  const double cost_s = cost_.Estimate(demand.work);
  if (auto refusal = AdmitWork(demand.bytes, cost_s, demand.remaining_s)) return refusal;
  // Counted first and taken back on refusal: once pushed, the job may finish before this function
  // returns.
  QueueChanged(1);
  if (pool_.TryPush(job, cost_s)) return std::nullopt;
  QueueChanged(-1);
  ReleaseBytes(demand.bytes);
  return QueueFull();
}

Failure Admission::QueueFull() {
  return Refusal(ShedReason::kQueueFull, "max_queued_plans", pool_.queue_limit(), EstimatedWait());
}

std::optional<Failure> Admission::AdmitWork(size_t bytes, double cost_s, double remaining_s) {
  if (!TakeBytes(bytes)) {
    return Refusal(ShedReason::kAdmittedBytes, "max_admitted_bytes", admitted_bytes_limit_,
                   pool_.EstimatedWait(cost_s));
  }
  auto refusal = RefuseByWait(cost_s, remaining_s);
  if (refusal) ReleaseBytes(bytes);
  return refusal;
}

std::optional<Failure> Admission::RefuseByWait(double cost_s, double remaining_s) {
  if (!std::isfinite(remaining_s)) return std::nullopt;
  const double wait_s = pool_.EstimatedWait(cost_s);
  if (wait_s == 0) return std::nullopt;  // A thread is free.
  double most_s = std::min(remaining_s * kBurstShare, remaining_s - cost_s);
  ShedReason reason = ShedReason::kDeadline;
  if (wait_s <= most_s) {
    const double standing_s = std::max(remaining_s * kStandingShare, kStandingCosts * cost_s);
    if (wait_s <= standing_s || !QueueStands()) return std::nullopt;
    most_s = standing_s;
    reason = ShedReason::kOverload;
  }
  Failure failure = Refusal(reason, "estimated_wait", 0, wait_s);
  failure.message = "the plan would wait for about " + MillisecondsText(wait_s) + " and take " +
                    MillisecondsText(cost_s) + ", with " + MillisecondsText(remaining_s) +
                    " left to its deadline; retry later or at another replica";
  failure.metadata = {{"limit", "estimated_wait"},
                      {"maximum", MillisecondsText(std::max(0.0, most_s))},
                      {"requested", MillisecondsText(wait_s)}};
  return failure;
}

bool Admission::AdmitAtOnce(size_t bytes) {
  return waiting_.load(std::memory_order_relaxed) == 0 && TakeBytes(bytes);
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

void Admission::ReleaseBytes(size_t bytes) {
  admitted_bytes_.fetch_sub(bytes);
  metrics_.AdmittedChanged(-static_cast<int64_t>(bytes));
}

void Admission::QueueChanged(int plans) {
  waiting_.fetch_add(plans, std::memory_order_relaxed);
  metrics_.QueueChanged(plans);
}

void Admission::LeftQueue() { QueueChanged(-1); }

void Admission::Finished(const PlanDemand& demand, double plan_s) {
  ReleaseBytes(demand.bytes);
  if (plan_s > 0) cost_.Learn(demand.work, plan_s);
}

bool Admission::QueueStands() const {
  return NowNs() - last_shed_ns_.load(std::memory_order_relaxed) < kOverloadMemory_ns ||
         pool_.QueueAge() > kBurst_s;
}

int64_t Admission::NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Failure Admission::Refusal(ShedReason reason, const char* limit, uint64_t maximum, double wait_s) {
  last_shed_ns_.store(NowNs(), std::memory_order_relaxed);
  metrics_.Shed(LabelIndex(reason));
  Failure failure;
  failure.reason = FailureReason::kQueueFull;
  failure.message = "the server is at its limit of waiting plans (" + std::string(limit) + " = " +
                    std::to_string(maximum) + "); retry later or at another replica";
  failure.metadata = {{"limit", limit}, {"maximum", std::to_string(maximum)}};
  failure.retry_delay_s = std::clamp(wait_s, kLeastRetryDelay_s, kMostRetryDelay_s);
  return failure;
}

}  // namespace arclane
