// SPDX-License-Identifier: Apache-2.0
// Inside the registry: the immutable state of a navmesh, what guards its succession, and worlds.
#ifndef ARCLANE_SERVER_NAVMESH_REGISTRY_STATE_H_
#define ARCLANE_SERVER_NAVMESH_REGISTRY_STATE_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/navmesh/change_log.h"
#include "server/navmesh/mutex.h"
#include "server/navmesh/navmesh_store.h"
#include "server/navmesh/ref_ledger.h"
#include "server/navmesh/registry_types.h"
#include "server/navmesh/result.h"
#include "server/navmesh/snapshot.h"
#include "server/navmesh/state_overlay.h"

namespace arclane {

// What never changes about a version.
struct VersionRecord {
  NavMeshVersion version;
  NavMeshVersion base_version;
  LineageId lineage;
  uint64_t sequence = 0;  // Order of publication within the navmesh.
  ContentDigest digest;
  std::shared_ptr<const NavMeshSnapshot> snapshot;  // Null when damaged.
  std::string damage;
};

struct VersionState {
  std::shared_ptr<const VersionRecord> record;
  bool retired = false;
  std::shared_ptr<const StateOverlay> defaults;
  Epoch changed;          // When `defaults` last changed.
  uint64_t state_id = 0;  // Unique to this snapshot under these defaults.
};

// One moment of a navmesh. Replaced as a whole by every change, so that a reader sees one epoch's
// state.
struct NavMeshState {
  Epoch epoch;
  NavMeshVersion active;
  uint64_t next_sequence = 1;
  uint64_t world_serial = 0;           // Worlds created so far: the upper half of their epochs.
  std::vector<VersionState> versions;  // By version.

  const VersionState* Find(NavMeshVersion version) const;
  VersionState* Find(NavMeshVersion version);
};

struct NavMeshEntry {
  NavMeshEntry(std::string name, LifeToken its_life, std::shared_ptr<const NavMeshState> first,
               size_t log_records)
      : id(std::move(name)),
        life(its_life),
        state(first),
        log(std::make_shared<ChangeLog>(first->epoch, log_records)) {}

  const std::string id;
  const LifeToken life;
  SnapshotCell<NavMeshState> state;
  const std::shared_ptr<ChangeLog> log;
  Mutex mutex;  // Held from reading the state to storing its successor.
  std::map<NavMeshVersion, size_t> worlds_on ABSL_GUARDED_BY(mutex);
  RefLedger refs ABSL_GUARDED_BY(mutex);  // Of all versions that updates made or started from.
};

// What a world adds to its version. Untouched, all it holds is here.
struct World {
  std::string id;
  std::shared_ptr<NavMeshEntry> navmesh;
  LifeToken life;
  std::atomic<double> last_used_s{0.0};
  Mutex commit_mutex;  // Held from checking a change to having stored it; before `mutex`, after the
                       // entry's.
  Mutex mutex;         // Held for moments only.
  NavMeshVersion version ABSL_GUARDED_BY(mutex);
  Epoch epoch ABSL_GUARDED_BY(mutex);
  bool deleted ABSL_GUARDED_BY(mutex) = false;
  std::shared_ptr<const StateOverlay> overlay ABSL_GUARDED_BY(mutex);  // Null: untouched.
  std::shared_ptr<ChangeLog> log ABSL_GUARDED_BY(mutex);               // Made when first needed.
  // The state id of `overlay` over the defaults with the first id.
  uint64_t over_state_id ABSL_GUARDED_BY(mutex) = 0;
  uint64_t state_id ABSL_GUARDED_BY(mutex) = 0;
};

WorldDescription Describe(World& world);
NavMeshDescription Describe(const NavMeshEntry& entry, const NavMeshState& state,
                            const std::map<NavMeshVersion, size_t>& worlds_on);
// Bytes of all versions, what they share counted once.
size_t BytesOf(const std::vector<VersionState>& versions);

NavMeshFailure Fail(NavMeshReason reason, std::string message);
// A navmesh lacks a version that a call needs: the one of this number, or for 0 an active one.
NavMeshFailure NoSuchVersion(std::string_view navmesh_id, NavMeshVersion version);
// A request names a world and a version on which it does not stand.
NavMeshFailure OtherVersion(std::string_view world_id, NavMeshVersion stands_on,
                            NavMeshVersion asked);

// Checks changes against a version; empty when all can be applied. `place_of` as of ApplyRequest.
MeshViolations CheckChanges(const NavMeshSnapshot& snapshot,
                            const std::vector<StateChange>& changes, size_t max_changes,
                            const std::function<std::string(size_t)>& place_of = nullptr);

// Takes a version out of a state and its rows out of the store; what is left to log is returned.
ChangeRecord RemoveVersion(const std::string& navmesh_id, NavMeshVersion version,
                           NavMeshState& state, StoreBatch& batch);

// The rows of the store. Keys sort by kind, navmesh, then version, world or epoch.
namespace store_key {
inline constexpr char kNavMesh = 'n';
inline constexpr char kVersion = 'v';
inline constexpr char kManifest = 'm';
inline constexpr char kTile = 't';
inline constexpr char kWorld = 'w';
inline constexpr char kChange = 'c';
inline constexpr char kLife = 'l';
inline constexpr char kRefs = 'r';

std::string NavMesh(std::string_view id);
std::string Version(std::string_view id, NavMeshVersion version);
std::string Manifest(std::string_view id, NavMeshVersion version);
std::string Tile(std::string_view id, const ContentDigest& digest);
std::string World(std::string_view id, std::string_view world);
std::string Change(std::string_view id, std::string_view world, Epoch epoch);
// Of a world, or with an empty name of the navmesh. A row of its own, so that directories of before
// lives had tokens are read as they are.
std::string Life(std::string_view id, std::string_view world);
// What the update that made the version of this sequence number added to the ledger of refs.
std::string Refs(std::string_view id, uint64_t sequence);
}  // namespace store_key

std::string EncodeNavMeshRow(const NavMeshState& state);
bool DecodeNavMeshRow(std::string_view bytes, NavMeshState& state);
std::string EncodeVersionRow(const VersionState& version);
// Everything but the snapshot.
bool DecodeVersionRow(std::string_view bytes, VersionRecord& record, VersionState& version);
struct WorldRow {
  NavMeshVersion version;
  Epoch epoch;
  std::vector<StateChange> states;
};
std::string EncodeWorldRow(const WorldRow& row);
bool DecodeWorldRow(std::string_view bytes, WorldRow& row);
std::string EncodeLifeRow(LifeToken life);
// 0 when the bytes are none.
LifeToken DecodeLifeRow(std::string_view bytes);

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_REGISTRY_STATE_H_
