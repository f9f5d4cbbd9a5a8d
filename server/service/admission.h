// SPDX-License-Identifier: Apache-2.0
// Decides, before a request is parsed, whether its plan may wait for a thread. The one place where
// load is shed.
#ifndef ARCLANE_SERVER_SERVICE_ADMISSION_H_
#define ARCLANE_SERVER_SERVICE_ADMISSION_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "server/codec/failure.h"
#include "server/codec/work_glance.h"
#include "server/service/plan_cost.h"
#include "server/service/planner_pool.h"
#include "server/service/service_labels.h"
#include "server/telemetry/metrics.h"

namespace arclane {

// What admission is told of a request.
struct PlanDemand {
  size_t bytes = 0;  // Held until Finished.
  WorkGlance work;
  // Seconds to the caller's deadline.
  double remaining_s = std::numeric_limits<double>::infinity();
};

// Thread-safe. A plan is refused at once
//   - when its bytes, or those of all requests in the server together, are too many;
//   - when the queue is at its bound;
//   - when it could not be answered in time: the estimated wait and its own time exceed what is
//   left
//     to its deadline;
//   - when it would wait for more than half of what is left; or, where a queue has been standing
//     rather than come with a burst, for more than a sixteenth and twice its own time. A standing
//     queue means that more comes in than can be planned: to let it grow would answer nobody sooner
//     and everybody later (Nichols and Jacobson, "Controlling Queue Delay", 2012; here a newcomer
//     is refused where they drop what has waited, since a refusal that comes at once can be
//     retried).
// A thread that is free takes any plan, however long: estimates may be wrong, and are learned so.
class Admission {
 public:
  Admission(PlannerPool& pool, uint64_t admitted_bytes_limit, Metrics& metrics);

  // Queues `job`, or tells why not; nothing is counted then.
  std::optional<Failure> Admit(PlannerPool::Job& job, const PlanDemand& demand);
  // Admits a plan that is made where its request arrived, which is fair only while no other waits.
  // False, and nothing is counted, when one does or a limit is reached.
  bool AdmitAtOnce(size_t bytes);
  // The job left the queue: a thread took it or its caller went away.
  void LeftQueue();
  // The job is over and its request freed. `plan_s`: how long the thread was busy with it; 0 if it
  // did not plan.
  void Finished(const PlanDemand& demand, double plan_s);

  // The same in parts, for requests of many plans. `cost_s`: of the next part that is to be
  // planned.
  std::optional<Failure> AdmitWork(size_t bytes, double cost_s, double remaining_s);
  void ReleaseBytes(size_t bytes);
  // The refusal of what finds no place in the queue.
  Failure QueueFull();
  void Learn(const WorkGlance& work, double plan_s) { cost_.Learn(work, plan_s); }
  void QueueChanged(int plans);

  // Seconds that a thread will be busy with a plan.
  double EstimatedCost(const WorkGlance& work) const { return cost_.Estimate(work); }
  // Seconds until a thread would take a plan that is admitted now, if it is like those that wait
  // longest.
  double EstimatedWait() const { return pool_.LongestWait(); }

  PlannerPool& pool() { return pool_; }

 private:
  // Counts the bytes; false, and they are not counted, when they are too many.
  bool TakeBytes(size_t bytes);
  std::optional<Failure> RefuseByWait(double cost_s, double remaining_s);
  Failure Refusal(ShedReason reason, const char* limit, uint64_t maximum, double wait_s);
  // Whether more comes in than can be planned.
  bool QueueStands() const;
  static int64_t NowNs();

  PlannerPool& pool_;
  Metrics& metrics_;
  PlanCost cost_;
  const uint64_t admitted_bytes_limit_;
  std::atomic<uint64_t> admitted_bytes_{0};
  std::atomic<int64_t> waiting_{0};
  std::atomic<int64_t> last_shed_ns_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_ADMISSION_H_
