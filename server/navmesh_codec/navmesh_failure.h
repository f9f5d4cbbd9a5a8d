// SPDX-License-Identifier: Apache-2.0
// Failures of navmesh operations as failures of requests.
#ifndef ARCLANE_SERVER_NAVMESH_CODEC_NAVMESH_FAILURE_H_
#define ARCLANE_SERVER_NAVMESH_CODEC_NAVMESH_FAILURE_H_

#include <string>

#include "server/codec/failure.h"
#include "server/navmesh/result.h"

namespace arclane {

// Reason and code stay those of the navmesh; places become field paths, those of a corridor's refs
// (polygon_refs[3]) as in PlanCorridor (corridor.refs.ref[3]).
Failure ToFailure(const NavMeshFailure& failure);

// INVALID_FIELD for one field.
Failure InvalidField(std::string field, std::string description);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_CODEC_NAVMESH_FAILURE_H_
