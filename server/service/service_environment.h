// SPDX-License-Identifier: Apache-2.0
// What every handler shares.
#ifndef ARCLANE_SERVER_SERVICE_SERVICE_ENVIRONMENT_H_
#define ARCLANE_SERVER_SERVICE_SERVICE_ENVIRONMENT_H_

#include <cstddef>

#include "server/codec/request_limits.h"
#include "server/service/admission.h"
#include "server/service/in_flight.h"
#include "server/service/navmesh_backend.h"
#include "server/service/open_streams.h"
#include "server/service/planner_pool.h"
#include "server/service/request_capture.h"
#include "server/telemetry/access_log.h"
#include "server/telemetry/metrics.h"

namespace arclane {

// Outlives the handlers that borrow it.
struct ServiceEnvironment {
  const RequestLimits& limits;
  Metrics& metrics;
  InFlight& in_flight;
  OpenStreams& streams;
  PlannerPool& pool;
  Admission& admission;
  // Null in a service without navmeshes: requests that name polygons are then refused.
  NavMeshBackend* navmeshes = nullptr;
  // Largest request whose plan may be made on the network thread that received it; 0: none.
  size_t quick_plan_bytes = 0;
  // Null: no calls are logged; no requests are captured.
  AccessLog* log = nullptr;
  RequestCapture* capture = nullptr;
  // How long a client may read nothing while answers wait for it, before it is given up.
  double write_stall_s = 60;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_SERVICE_ENVIRONMENT_H_
