// SPDX-License-Identifier: Apache-2.0
// Changes of state, records of changes, and what a route was read from, between messages and
// domain.
#ifndef ARCLANE_SERVER_NAVMESH_CODEC_CHANGE_CODEC_H_
#define ARCLANE_SERVER_NAVMESH_CODEC_CHANGE_CODEC_H_

#include <span>
#include <string>
#include <vector>

#include "arclane/v1/navmesh.pb.h"
#include "server/navmesh/change_log.h"
#include "server/navmesh/dependency.h"
#include "server/navmesh/result.h"
#include "server/navmesh/state_overlay.h"

namespace arclane {

// In the order of the message's columns. Adds violations for things that are named twice, costs
// that are none and costs that do not match their areas; paths begin with `path`.
std::vector<StateChange> ReadStateChanges(const v1::StateChanges& message, const std::string& path,
                                          MeshViolations& violations);
// The path of the i-th of these changes, such as changes.closed_gates[2]. Of an area's cost: in the
// column of that name.
std::string StateChangePath(const v1::StateChanges& message, const std::string& path, size_t i,
                            const char* area_column = "areas");
void EncodeStateChanges(std::span<const StateChange> changes, v1::StateChanges* message);

// By (kind, id), each thing once, without stamps.
std::vector<Dependency> ReadReadSet(const v1::ReadSet& message);
void EncodeReadSet(std::span<const Dependency> dependencies, v1::ReadSet* message);

void EncodeTilePlaces(std::span<const TileCoordinates> places, v1::TilePlaces* message);
// Adds a violation for columns of different lengths; an empty column of layers means 0.
std::vector<TileCoordinates> ReadTilePlaces(const v1::TilePlaces& message, const std::string& path,
                                            MeshViolations& violations);

void EncodeChangeRecord(const ChangeRecord& record, v1::NavMeshChange* message);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_CODEC_CHANGE_CODEC_H_
