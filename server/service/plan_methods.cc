// SPDX-License-Identifier: Apache-2.0
#include "server/service/plan_methods.h"

#include <string>

#include "server/codec/canonical_request.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/pipeline/plan_item.h"

namespace arclane {

std::optional<Failure> PlanCorridorMethod::Plan(Request& request,
                                                const ServiceEnvironment& environment,
                                                StopSignal stop, Response& response,
                                                PlanTrace* trace) {
  if (environment.navmeshes == nullptr || !request.corridor().has_refs() ||
      request.navmesh().navmesh_id().empty()) {
    return AnswerPlanCorridor(request, environment.limits, stop, response, nullptr, trace);
  }
  const auto view = environment.navmeshes->registry().View(
      request.navmesh().navmesh_id(), {request.navmesh().version()}, request.navmesh().world_id(),
      NavMeshBackend::Now());
  if (!view.ok()) return WithPath(ToFailure(view.failure()), "navmesh");
  // Planned as the cache's answers are, so that both are the same bytes.
  const bool wants_times = request.include_stage_times();
  std::string canonical;
  Canonicalize(request, &canonical);
  request.set_include_stage_times(wants_times);
  ReadSet reads;
  auto failure = AnswerPlanCorridorByRef(request, *view, environment.limits, stop, response, reads,
                                         trace, &environment.navmeshes->prepared());
  v1::AnswerInfo& info = *response.mutable_answer();
  info.set_navmesh_version(view->version().value);
  info.set_epoch(view->epoch().value);
  info.set_world_epoch(view->world_epoch().value);
  info.set_life(view->life().value);
  info.set_world_life(view->world_life().value);
  return failure;
}

}  // namespace arclane
