// SPDX-License-Identifier: Apache-2.0
// Neutral meshes and gates from messages. What columns mean together is checked where meshes are
// built (navmesh/neutral_mesh.h); here only what the domain type cannot hold.
#ifndef ARCLANE_SERVER_NAVMESH_CODEC_NEUTRAL_MESH_CODEC_H_
#define ARCLANE_SERVER_NAVMESH_CODEC_NEUTRAL_MESH_CODEC_H_

#include <string>
#include <vector>

#include "arclane/v1/navmesh.pb.h"
#include "server/navmesh/gates.h"
#include "server/navmesh/neutral_mesh.h"
#include "server/navmesh/result.h"

namespace arclane {

// Adds violations for unknown enum values and for columns of tiles, links and gates that differ in
// length; what belongs to those columns is then left out of the mesh.
NeutralMesh ReadNeutralMesh(const v1::NeutralNavMesh& message, MeshViolations& violations);

// Adds violations under `path`[i] for gates whose border columns differ in length.
std::vector<GateDefinition> ReadGates(const google::protobuf::RepeatedPtrField<v1::Gate>& messages,
                                      const std::string& path, MeshViolations& violations);
void EncodeGate(const GateDefinition& gate, v1::Gate* message);

v1::UpAxis EncodeUpAxis(MeshUpAxis up);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_CODEC_NEUTRAL_MESH_CODEC_H_
