// SPDX-License-Identifier: Apache-2.0
// One PlanCorridor request from message to answer: check, plan, verify, sample, encode. Free of
// gRPC, so that tests, fuzzing and benchmarks run exactly what the server runs.
#ifndef ARCLANE_SERVER_PIPELINE_PLAN_CORRIDOR_H_
#define ARCLANE_SERVER_PIPELINE_PLAN_CORRIDOR_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arclane/v1/planner.pb.h"
#include "server/codec/failure.h"
#include "server/codec/request_limits.h"
#include "server/navmesh/corridor_refs.h"
#include "server/pipeline/plan_failure.h"
#include "server/pipeline/plan_trace.h"
#include "server/pipeline/prepared_plans.h"

namespace arclane {

struct PlannedCorridor {
  const MeshInfo& mesh;
  const CorridorByRef& corridor;
  const PreparedCorridor* prepared = nullptr;
  // Not null: receives the corridor as prepared by this plan, if it can be.
  std::optional<PreparedCorridor>* built = nullptr;
};

// Fills `response.route` and returns nullopt, or returns why the request fails; the response is
// then unspecified. `by_ref`: what the corridor's refs stand for, with the mesh that they are of;
// null for other corridors. With it `response.read_set` is filled too. `stop` is asked between
// stages and after every bounded amount of work; once it answers with a reason, that reason
// (kCancelled, kDeadlineExceeded, kDraining) is the failure. `trace`, if given, receives the times
// of the stages from kValidate on, the first of which began when the trace did. Thread-safe:
// scratch memory is kept per thread.
std::optional<Failure> AnswerPlanCorridor(const v1::PlanCorridorRequest& request,
                                          const RequestLimits& limits, StopSignal stop,
                                          v1::PlanCorridorResponse& response,
                                          const PlannedCorridor* by_ref = nullptr,
                                          PlanTrace* trace = nullptr);

// The same for a corridor by reference: resolves the refs on the view and plans. `reads` receives
// what the answer depends on, with the stamps of the view. The version and the epochs of the view
// are not written: they belong to an answer, not to its route. `prepared`, if given, keeps
// corridors from plan to plan; the answer is the same bits with and without.
std::optional<Failure> AnswerPlanCorridorByRef(const v1::PlanCorridorRequest& request,
                                               const NavMeshView& view, const RequestLimits& limits,
                                               StopSignal stop, v1::PlanCorridorResponse& response,
                                               ReadSet& reads, PlanTrace* trace = nullptr,
                                               PreparedPlans* prepared = nullptr);

// The same in two steps, so that several requests can take each step together: what a step's code
// and tables take then stays in the processor's caches. Buffers are kept from plan to plan, but for
// those of rare large corridors. Not thread-safe.
class CorridorByRefPlan {
 public:
  // Finds what the refs stand for. Request and view must outlive the second step.
  std::optional<Failure> Resolve(const v1::PlanCorridorRequest& request, const NavMeshView& view,
                                 const RequestLimits& limits, PlanTrace* trace,
                                 PreparedPlans* prepared);
  // After a success of the first step.
  std::optional<Failure> Answer(const RequestLimits& limits, StopSignal stop,
                                v1::PlanCorridorResponse& response, PlanTrace* trace);
  // What the answer depends on, after the first step.
  const ReadSet& reads() const { return corridor_->read_set; }

 private:
  const v1::PlanCorridorRequest* request_ = nullptr;
  const NavMeshView* view_ = nullptr;
  PreparedPlans* prepared_ = nullptr;
  std::string key_;
  bool keeps_ = false;
  std::vector<PolygonRef> refs_;
  CorridorByRef resolved_;
  std::shared_ptr<const PreparedRefs> known_;
  const CorridorByRef* corridor_ = nullptr;
};

// Whether the plan of a request of a few KiB is sure to take no more than some dozen microseconds:
// nothing to round, no distance to keep, few samples. Cost: linear in the polygons' vertices when
// samples have a spacing, otherwise constant.
bool IsQuickPlan(const v1::PlanCorridorRequest& request);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_PLAN_CORRIDOR_H_
