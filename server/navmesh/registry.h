// SPDX-License-Identifier: Apache-2.0
// The navmeshes that this server knows: versions, the worlds that run on them, and every change to
// either. Start here: Publish, then View for planning, ApplyChanges and UpdateTiles for what
// happens in the game, Watch for those who keep routes.
#ifndef ARCLANE_SERVER_NAVMESH_REGISTRY_H_
#define ARCLANE_SERVER_NAVMESH_REGISTRY_H_

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/navmesh/change_log.h"
#include "server/navmesh/navmesh_store.h"
#include "server/navmesh/navmesh_view.h"
#include "server/navmesh/neutral_mesh.h"
#include "server/navmesh/registry_types.h"
#include "server/navmesh/result.h"
#include "server/navmesh/watcher.h"

namespace arclane {

struct NavMeshEntry;
struct NavMeshState;
struct VersionState;
struct World;

// Thread-safe. Readers (View, Get, List) never wait for a change that is being stored. Changes of
// one navmesh, and of one world, are made one after the other; what a call has returned as done is
// in the store.
class NavMeshRegistry {
 public:
  // Reads all that the store holds. Fails only when the store cannot be read; versions whose bytes
  // are damaged are set aside and told by damage().
  static NavMeshResult<std::unique_ptr<NavMeshRegistry>> Open(const RegistryOptions& options,
                                                              std::shared_ptr<NavMeshStore> store,
                                                              double now_s);
  ~NavMeshRegistry();

  // Publishing the content that a version already has changes nothing and succeeds; other content
  // is kVersionExists.
  NavMeshResult<PublishResult> Publish(const PublishRequest& request);
  // Makes a version that shares the unchanged tiles of another and stays in its lineage.
  NavMeshResult<PublishResult> UpdateTiles(const UpdateTilesRequest& request);
  // Each returns the navmesh's epoch afterwards; doing again what is done succeeds and changes
  // nothing.
  NavMeshResult<Epoch> Activate(std::string_view navmesh_id, NavMeshVersion version);
  NavMeshResult<Epoch> Retire(std::string_view navmesh_id, NavMeshVersion version);
  NavMeshResult<Epoch> Delete(std::string_view navmesh_id, NavMeshVersion version);

  NavMeshResult<NavMeshDescription> Get(std::string_view navmesh_id) const;
  // Waits for a change that is being made. A View that is taken after it is no older, whichever
  // threads have seen the change already.
  NavMeshResult<NavMeshMoment> Moment(std::string_view navmesh_id) const;
  // By id; at most `page_size` (clamped to [1, 1000]) after `page_token`, the last id of the page
  // before.
  NavMeshPage List(size_t page_size, std::string_view page_token) const;

  // On the active version unless one is named. Creating a world again on the same version succeeds
  // and changes nothing.
  NavMeshResult<WorldDescription> CreateWorld(std::string_view navmesh_id,
                                              std::string_view world_id, NavMeshVersion version,
                                              double now_s);
  NavMeshResult<WorldDescription> GetWorld(std::string_view navmesh_id,
                                           std::string_view world_id) const;
  WorldPage ListWorlds(std::string_view navmesh_id, size_t page_size,
                       std::string_view page_token) const;
  // Lets a world go on on another version; its states of gates and links that are not there are
  // dropped.
  NavMeshResult<WorldDescription> MoveWorld(std::string_view navmesh_id, std::string_view world_id,
                                            NavMeshVersion version);
  NavMeshResult<Epoch> DeleteWorld(std::string_view navmesh_id, std::string_view world_id);
  // Deletes worlds that were not viewed or changed since now_s - options.world_idle_s; returns how
  // many. O(worlds).
  size_t ExpireWorlds(double now_s);
  double world_idle_s() const { return options_.world_idle_s; }

  // All changes or none, under the next epoch of the world or, without one, of the navmesh.
  NavMeshResult<ApplyResult> ApplyChanges(const ApplyRequest& request, double now_s);

  // The state to plan on. Version 0: the active one, or the world's. kRetiredVersion for a retired
  // version, unless through a world that stands on it.
  NavMeshResult<NavMeshView> View(std::string_view navmesh_id, NavMeshVersion version,
                                  std::string_view world_id, double now_s) const;

  // `on_ready` is called from changing threads whenever Poll may have more; it must be quick and
  // must not call the registry.
  NavMeshResult<std::unique_ptr<NavMeshWatcher>> Watch(const WatchRequest& request,
                                                       std::function<void()> on_ready);

  // What Open had to set aside, for the log.
  const std::vector<StoredDamage>& damage() const { return damage_; }
  RegistryCounts Count() const;
  // The active versions (0: none) of the first `most` navmeshes by id.
  std::vector<std::pair<std::string, NavMeshVersion>> ActiveVersions(size_t most) const;

 private:
  friend class RegistryLoader;
  friend class NavMeshWatcher;
  using EntryPtr = std::shared_ptr<NavMeshEntry>;
  using WorldPtr = std::shared_ptr<World>;
  struct Directory;
  struct WorldShard {
    mutable Mutex mutex;
    absl::flat_hash_map<std::string, WorldPtr> worlds ABSL_GUARDED_BY(mutex);
  };
  static constexpr size_t kWorldShards = 64;

  NavMeshRegistry(const RegistryOptions& options, std::shared_ptr<NavMeshStore> store);

  EntryPtr FindEntry(std::string_view navmesh_id) const;
  NavMeshResult<EntryPtr> FindOrCreateEntry(std::string_view navmesh_id);
  WorldPtr FindWorld(std::string_view navmesh_id, std::string_view world_id) const;
  WorldShard& ShardOf(std::string_view key) const;
  LifeToken NewLife();
  uint64_t NextStateId() const { return next_state_id_.fetch_add(1, std::memory_order_relaxed); }

  // Stores and publishes the successor of an entry's state; the entry's mutex is held. `records`
  // get their epochs here.
  NavMeshResult<Epoch> Advance(NavMeshEntry& entry, NavMeshState next,
                               std::vector<ChangeRecord> records, StoreBatch batch);
  NavMeshResult<PublishResult> Add(NavMeshEntry& entry, VersionState added, ChangeRecord record,
                                   StoreBatch batch, bool activate);
  NavMeshResult<Epoch> DropWorld(const WorldPtr& world, std::optional<double> idle_since_s);
  NavMeshResult<ApplyResult> ApplyToWorld(const WorldPtr& world, const ApplyRequest& request,
                                          double now_s);

  const RegistryOptions options_;
  const std::shared_ptr<NavMeshStore> store_;
  std::vector<StoredDamage> damage_;
  mutable std::atomic<uint64_t> next_state_id_{1};
  std::atomic<uint64_t> next_stamp_{1};
  std::atomic<uint64_t> next_lineage_{1};
  std::atomic<uint64_t> next_life_{1};  // Where no token can be drawn.
  Mutex directory_mutex_;               // Held while a navmesh is added.
  std::unique_ptr<SnapshotCell<Directory>> directory_;
  mutable std::array<WorldShard, kWorldShards> world_shards_;
  std::atomic<size_t> world_count_{0};
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_REGISTRY_H_
