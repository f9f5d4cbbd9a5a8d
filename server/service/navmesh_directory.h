// SPDX-License-Identifier: Apache-2.0
// Publishes the navmeshes that lie as files in a directory, so that replicas of a read-only
// deployment agree.
#ifndef ARCLANE_SERVER_SERVICE_NAVMESH_DIRECTORY_H_
#define ARCLANE_SERVER_SERVICE_NAVMESH_DIRECTORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "server/service/navmesh_backend.h"

namespace arclane {

// ID.bin or ID@VERSION.bin is a Detour file, ID.navmesh or ID@VERSION.navmesh an encoded
// NeutralNavMesh, with .json behind it one as protobuf JSON; without a version it is 1; the highest
// version of each navmesh becomes the active one, unless it was published before: then it is as
// active as it was left. Files of the same content may name the same version. Other files are
// passed over, and the log says so. Returns how many were published or there already; fails for a
// directory or file that cannot be read, for a name that no navmesh may have and for a mesh that is
// refused, naming the file.
absl::StatusOr<size_t> PublishDirectory(NavMeshBackend& backend, const std::string& directory);

// Tokens of lives that follow from what the directory holds, for RegistryOptions::draw_life of
// servers that nobody can change: replicas of the same files tell the same epochs of the same
// states, so a client may go on from one to the next as within one life. Fails for what cannot be
// read.
absl::StatusOr<std::function<uint64_t()>> DirectoryLives(const std::string& directory);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_NAVMESH_DIRECTORY_H_
