// SPDX-License-Identifier: Apache-2.0
// The plan that equal requests under way share: a job of the planning threads that belongs to the
// flight, not to the call that started it.
#ifndef ARCLANE_SERVER_SERVICE_FLIGHT_PLAN_H_
#define ARCLANE_SERVER_SERVICE_FLIGHT_PLAN_H_

#include <memory>
#include <optional>

#include "arclane/v1/planner.pb.h"
#include "server/cache/flight.h"
#include "server/navmesh/navmesh_view.h"
#include "server/pipeline/plan_trace.h"
#include "server/service/call_account.h"
#include "server/service/service_environment.h"

namespace arclane {

// The state that a request is asked on: exactly one of the two.
struct RequestState {
  std::shared_ptr<const NavMeshView> view;    // Of a corridor by reference.
  std::shared_ptr<const StampSource> ledger;  // Of one that brings its geometry.

  const StampSource& stamps() const { return view != nullptr ? *view : *ledger; }
};

// Queues the plan of a flight for its waiter `waiter`, who leads it. Where it is refused, that
// waiter is told so and another one leads. A plan that is sure to be short (`quick`, as IsQuickPlan
// tells) is made at once on the calling thread while no other plan waits. `remaining_s`: what is
// left to the waiter's deadline. `trace`, whose first stage begins now, is written before the
// flight ends and may be read after. `canonical`: the flight's request, if the caller has it
// parsed, in its canonical form; what it holds is taken. Null: its bytes are parsed again.
void StartFlightPlan(ServiceEnvironment& environment, std::shared_ptr<Flight> flight,
                     uint64_t waiter, RequestState state, bool quick, double remaining_s,
                     std::shared_ptr<PlanTrace> trace, v1::PlanCorridorRequest* canonical);

// A failure as flights hand it to those who wait.
std::shared_ptr<const void> Shared(Failure failure);
const Failure& FailureOf(const FlightOutcome& outcome);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_FLIGHT_PLAN_H_
