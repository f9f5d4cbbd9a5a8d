// SPDX-License-Identifier: Apache-2.0
// Decides, before a request is parsed, whether its plan may wait for a thread. The one place where
// load is shed.
#ifndef ARCLANE_SERVER_SERVICE_ADMISSION_H_
#define ARCLANE_SERVER_SERVICE_ADMISSION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "server/codec/failure.h"
#include "server/service/planner_pool.h"
#include "server/service/service_labels.h"
#include "server/telemetry/metrics.h"

namespace arclane {

// Thread-safe. Counts what waits by an estimated cost, taken from the request's bytes and the time
// that recent plans took a byte, so that the time a newcomer would wait can be told.
class Admission {
 public:
  Admission(PlannerPool& pool, uint64_t admitted_bytes_limit, Metrics& metrics);

  // Queues `job`, whose request has `bytes`, or tells why not; nothing is counted then.
  std::optional<Failure> Admit(PlannerPool::Job& job, size_t bytes);
  // Admits a plan that is made where its request arrived, which is fair only while no other waits.
  // False, and nothing is counted, when one does or a limit is reached.
  bool AdmitAtOnce(size_t bytes);
  // The job left the queue: a thread took it or its caller went away.
  void LeftQueue(size_t bytes);
  // The job is over and its request freed. `plan_s`: how long the thread was busy with it; 0 if it
  // did not plan.
  void Finished(size_t bytes, double plan_s);

  // Seconds until a thread would take a plan that is admitted now.
  double EstimatedWait() const;

 private:
  // Counts the bytes; false, and they are not counted, when they are too many.
  bool TakeBytes(size_t bytes);
  Failure Refusal(ShedReason reason, const char* limit, uint64_t maximum) const;

  PlannerPool& pool_;
  Metrics& metrics_;
  const uint64_t admitted_bytes_limit_;
  std::atomic<uint64_t> admitted_bytes_{0};
  std::atomic<uint64_t> queued_cost_{0};
  std::atomic<double> seconds_per_cost_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_ADMISSION_H_
