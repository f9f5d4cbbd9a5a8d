// SPDX-License-Identifier: Apache-2.0
// What goes into the registry and what it tells.
#ifndef ARCLANE_SERVER_NAVMESH_REGISTRY_TYPES_H_
#define ARCLANE_SERVER_NAVMESH_REGISTRY_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/digest/digest.h"
#include "server/navmesh/gates.h"
#include "server/navmesh/ids.h"
#include "server/navmesh/neutral_mesh.h"
#include "server/navmesh/result.h"
#include "server/navmesh/state_overlay.h"

namespace arclane {

// Longest name of a navmesh, a world or a request, in bytes. Names are not empty and hold no NUL.
inline constexpr size_t kMaxNameBytes = 128;
// nullopt for a usable name; otherwise what is wrong with `field`.
std::optional<MeshViolation> CheckName(const char* field, std::string_view name);

struct RegistryOptions {
  size_t max_navmeshes = 1024;
  // Of one navmesh. Publishing beyond them lets the oldest versions go that are neither active nor
  // under a world; when that is not enough, publishing fails.
  size_t max_versions = 16;
  size_t max_bytes = size_t{1} << 30;
  size_t max_worlds = 100'000;
  size_t max_changes_per_request = 10'000;
  double world_idle_s = 3600.0;
  // Changes remembered for watchers that reconnect and for requests that are sent again.
  size_t navmesh_log_records = 1024;
  size_t world_log_records = 64;
  // Draws the token of a new life: 64 bits that nobody has drawn before. Thread-safe. Unset: the
  // registry counts, which tells lives of this registry apart and no others.
  std::function<uint64_t()> draw_life;
};

// Violations of a publication name what belongs to its content by the content's own columns, and
// the rest as `request.FIELD`.
struct PublishRequest {
  std::string_view navmesh_id;
  NavMeshVersion version;  // >= 1.
  // Exactly one of the two.
  std::string_view mset;  // A Detour file.
  const NeutralMesh* neutral = nullptr;
  std::vector<GateDefinition> gates;  // In addition to those of a neutral mesh.
  std::optional<double>
      baked_radius;  // Of a Detour file; default: the largest that its tiles tell.
  std::optional<ContentDigest> mset_digest;  // Checked against the bytes where given.
  bool activate = true;
  // What the caller has found wrong already: told together with what is found here.
  MeshViolations violations;
};

struct UpdateTilesRequest {
  std::string_view navmesh_id;
  NavMeshVersion base_version;  // 0: the active one.
  NavMeshVersion version;       // Of the result; >= 1.
  // The new tiles, replacing those at their places: a Detour file of the same parameters or a
  // neutral mesh with NeutralTile entries. At most one of the two.
  std::string_view mset;
  const NeutralMesh* neutral = nullptr;
  // Tiles to remove, by place or by ref.
  std::vector<TileCoordinates> removed_tiles;
  std::vector<TileRef> removed_refs;
  // Gates to add or to define anew, and to drop. A gate with a border on a replaced tile must be
  // among them.
  std::vector<GateDefinition> gates;
  std::vector<GateId> removed_gates;
  bool activate = true;
  MeshViolations violations;  // As of PublishRequest.
};

struct PublishResult {
  NavMeshVersion version;
  ContentDigest digest;
  Epoch epoch;
  bool already_published = false;
  std::vector<TileCoordinates> replaced_tiles;  // UpdateTiles: replaced, added and removed.
};

struct ApplyRequest {
  std::string_view navmesh_id;
  NavMeshVersion version;     // 0: the active one; not given together with a world.
  std::string_view world_id;  // Empty: the version's own states.
  // Sending the same changes again under the same id is answered from the log and changes nothing.
  // Empty: no such memory.
  std::string_view request_id;
  // kEpochMismatch when what is changed has changed after this epoch, or never was at it.
  std::optional<Epoch> expected_epoch;
  std::vector<StateChange> changes;
  // As of PublishRequest.
  MeshViolations violations;
  // How violations name a change, by its index. Unset: `changes[i]`.
  std::function<std::string(size_t)> place_of;
};

struct ApplyResult {
  NavMeshVersion version;
  Epoch epoch;            // Of the world or of the navmesh, after the change.
  bool replayed = false;  // Answered from the log.
};

struct VersionDescription {
  NavMeshVersion version;
  NavMeshVersion base_version;  // 0 for a version that was published as a whole.
  LineageId lineage;
  ContentDigest digest;
  bool active = false;
  bool retired = false;
  std::string damage;  // Not empty: set aside, for this reason.
  size_t tile_count = 0;
  size_t polygon_count = 0;
  size_t bytes = 0;  // All that it holds, shared or not.
  size_t world_count = 0;
  std::vector<StateChange> states;  // That differ from what the version defines.
};

struct NavMeshDescription {
  std::string navmesh_id;
  Epoch epoch;
  NavMeshVersion active;  // 0: none.
  size_t bytes = 0;       // Of all versions, what they share counted once.
  std::vector<VersionDescription> versions;
};

// How far a navmesh has come.
struct NavMeshMoment {
  LifeToken life;
  Epoch epoch;
};

struct NavMeshPage {
  std::vector<NavMeshDescription> navmeshes;
  std::string next_page_token;  // Empty at the end.
};

struct WorldDescription {
  std::string navmesh_id;
  std::string world_id;
  NavMeshVersion version;
  Epoch epoch;
  std::vector<StateChange> states;
};

struct WorldPage {
  std::vector<WorldDescription> worlds;
  std::string next_page_token;
};

struct StoredDamage {
  std::string navmesh_id;
  NavMeshVersion version;  // 0: the navmesh's own row, or a world's.
  std::string description;
};

struct RegistryCounts {
  size_t navmeshes = 0;
  size_t versions = 0;
  size_t worlds = 0;
  size_t bytes = 0;
  uint64_t stored_bytes = 0;  // By the store.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_REGISTRY_TYPES_H_
