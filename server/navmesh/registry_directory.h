// SPDX-License-Identifier: Apache-2.0
// Inside the registry: all navmeshes by name.
#ifndef ARCLANE_SERVER_NAVMESH_REGISTRY_DIRECTORY_H_
#define ARCLANE_SERVER_NAVMESH_REGISTRY_DIRECTORY_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "server/navmesh/registry.h"
#include "server/navmesh/registry_state.h"

namespace arclane {

// Immutable; replaced when a navmesh is added.
struct NavMeshRegistry::Directory {
  std::map<std::string, EntryPtr, std::less<>> entries;
};

// Separates the names in the key of a world.
inline std::string WorldKey(std::string_view navmesh_id, std::string_view world_id) {
  std::string key(navmesh_id);
  key += '\0';
  key.append(world_id);
  return key;
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_REGISTRY_DIRECTORY_H_
