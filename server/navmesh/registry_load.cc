// SPDX-License-Identifier: Apache-2.0
// Rebuilding the registry from what its store holds.
#include <algorithm>
#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "server/navmesh/mesh_manifest.h"
#include "server/navmesh/ref_ledger.h"
#include "server/navmesh/registry.h"
#include "server/navmesh/registry_directory.h"
#include "server/navmesh/registry_state.h"

namespace arclane {
namespace {

struct Row {
  std::string value;
  bool intact = false;
};

// All rows of one navmesh, by what follows its name in the key.
struct NavMeshRows {
  Row navmesh;
  std::map<std::string, Row> versions, manifests, tiles, worlds, changes, lives, refs;
};

uint64_t BigEndian(std::string_view bytes) {
  uint64_t v = 0;
  for (const char c : bytes.substr(0, 8)) v = v << 8 | static_cast<uint8_t>(c);
  return v;
}

}  // namespace

class RegistryLoader {
 public:
  RegistryLoader(NavMeshRegistry& registry, double now_s) : registry_(registry), now_s_(now_s) {}

  absl::Status Load() {
    const absl::Status status =
        registry_.store_->ForEach([&](std::string_view key, std::string_view value, bool intact) {
          Sort(key, value, intact);
        });
    if (!status.ok()) return status;
    auto directory = std::make_shared<NavMeshRegistry::Directory>();
    for (auto& [id, rows] : navmeshes_) {
      if (auto entry = LoadNavMesh(id, rows)) directory->entries.emplace(id, std::move(entry));
    }
    registry_.directory_->Store(std::move(directory));
    registry_.next_lineage_ = next_lineage_;
    return migration_.operations.empty() ? absl::OkStatus() : registry_.store_->Commit(migration_);
  }

 private:
  void Sort(std::string_view key, std::string_view value, bool intact) {
    const size_t end = key.find('\0');
    if (key.empty() || end == std::string_view::npos) return;
    NavMeshRows& rows = navmeshes_[std::string(key.substr(1, end - 1))];
    const std::string rest(key.substr(end + 1));
    Row row{std::string(value), intact};
    switch (key[0]) {
      case store_key::kNavMesh:
        rows.navmesh = std::move(row);
        break;
      case store_key::kVersion:
        rows.versions[rest] = std::move(row);
        break;
      case store_key::kManifest:
        rows.manifests[rest] = std::move(row);
        break;
      case store_key::kTile:
        rows.tiles[rest] = std::move(row);
        break;
      case store_key::kWorld:
        rows.worlds[rest] = std::move(row);
        break;
      case store_key::kChange:
        rows.changes[rest] = std::move(row);
        break;
      case store_key::kLife:
        rows.lives[rest] = std::move(row);
        break;
      case store_key::kRefs:
        rows.refs[rest] = std::move(row);
        break;
      default:
        break;
    }
  }

  void Damage(const std::string& id, NavMeshVersion version, std::string description) {
    registry_.damage_.push_back({id, version, std::move(description)});
  }

  std::shared_ptr<NavMeshEntry> LoadNavMesh(const std::string& id, NavMeshRows& rows) {
    NavMeshState state;
    if (!rows.navmesh.intact || !DecodeNavMeshRow(rows.navmesh.value, state)) {
      // Without its row the epoch is unknown: it goes on above every epoch that a client may have
      // seen.
      Damage(id, {}, "the navmesh's own row is damaged; no version is active");
      state = {};
      for (const auto& [rest, row] : rows.changes) {
        if (rest.size() == 9 && rest[0] == '\0')
          state.epoch.value = std::max(state.epoch.value, BigEndian(rest.substr(1)));
      }
      ++state.epoch.value;
      state.world_serial = uint64_t{1} << 24;
      rows.changes.clear();
      rows.lives.erase("");  // What clients know of it is void.
    }
    for (auto& [rest, row] : rows.versions) {
      if (auto version = LoadVersion(id, rest, row, rows)) {
        state.next_sequence = std::max(state.next_sequence, version->record->sequence + 1);
        state.versions.push_back(*std::move(version));
      }
    }
    if (state.Find(state.active) == nullptr) state.active = {};
    RefLedger refs = LoadRefs(id, rows, state);
    auto entry = std::make_shared<NavMeshEntry>(id, LoadLife(id, "", rows),
                                                std::make_shared<const NavMeshState>(state),
                                                registry_.options_.navmesh_log_records);
    LoadChanges(rows, "", state.epoch, *entry->log);
    MutexLock lock(entry->mutex);
    entry->refs = std::move(refs);
    for (auto& [world_id, row] : rows.worlds) LoadWorld(entry, state, world_id, row, rows);
    return entry;
  }

  // A new one where none is stored, as in directories of before lives had tokens.
  LifeToken LoadLife(const std::string& id, const std::string& world_id, const NavMeshRows& rows) {
    if (const auto it = rows.lives.find(world_id); it != rows.lives.end() && it->second.intact) {
      if (const LifeToken stored = DecodeLifeRow(it->second.value); stored.value != 0) {
        // Counted ones go on above it.
        registry_.next_life_ = std::max<uint64_t>(registry_.next_life_, stored.value + 1);
        return stored;
      }
    }
    const LifeToken life = registry_.NewLife();
    migration_.Put(store_key::Life(id, world_id), EncodeLifeRow(life));
    return life;
  }

  // The ledger of refs. What the rows are short of, as in directories of before there were any, is
  // taken from the versions that are there; of refs that these gave up, other than in tiles that
  // are still there, the content is not known.
  RefLedger LoadRefs(const std::string& id, const NavMeshRows& rows, NavMeshState& state) {
    RefLedger ledger;
    for (const auto& [rest, row] : rows.refs) {
      state.next_sequence = std::max(state.next_sequence, BigEndian(rest) + 1);
      const auto refs = row.intact ? DecodeRefs(row.value) : std::nullopt;
      if (!refs) {
        Damage(id, {}, "what an update has added to the ledger of refs is damaged");
        continue;
      }
      for (const ContentRefs& content : *refs) ledger.Add(content);
    }
    std::vector<ContentRefs> missing;
    const auto add = [&](ContentRefs refs) {
      if (ledger.Has(refs)) return;
      ledger.Add(refs);
      missing.push_back(std::move(refs));
    };
    for (const VersionState& version : state.versions) {
      if (version.record->base_version.value == 0) continue;
      const VersionState* base = state.Find(version.record->base_version);
      for (const VersionState* tiles_of : {&version, base}) {
        if (tiles_of == nullptr || tiles_of->record->snapshot == nullptr) continue;
        const NavMeshSnapshot& snapshot = *tiles_of->record->snapshot;
        for (uint32_t slot = 0; slot < snapshot.slot_count(); ++slot) {
          if (snapshot.tile(slot) != nullptr) add(RefsOf(*snapshot.tile(slot)->tile));
        }
      }
    }
    for (const VersionState& version : state.versions) {
      if (version.record->snapshot == nullptr) continue;
      const NavMeshSnapshot& snapshot = *version.record->snapshot;
      std::vector<uint64_t> polygons;
      for (const auto& [ref, at] : snapshot.retired().All()) {
        if (snapshot.info().source == TileSource::kDetour) {
          if (!ledger.Find(TileRef{ref})) add({kSeveralContents, TileRef{ref}, {}});
        } else if (!ledger.Find(PolygonRef{ref})) {
          polygons.push_back(ref);
        }
      }
      if (!polygons.empty()) add({kSeveralContents, std::nullopt, RangesOf(std::move(polygons))});
    }
    if (!missing.empty())
      migration_.Put(store_key::Refs(id, state.next_sequence++), EncodeRefs(missing));
    return ledger;
  }

  std::optional<VersionState> LoadVersion(const std::string& id, const std::string& rest,
                                          const Row& row, NavMeshRows& rows) {
    auto record = std::make_shared<VersionRecord>();
    VersionState version;
    record->version = {BigEndian(rest)};
    if (!row.intact || !DecodeVersionRow(row.value, *record, version) ||
        record->version.value != BigEndian(rest)) {
      *record = {};
      record->version = {BigEndian(rest)};
      record->damage = "its row is damaged";
      version.defaults = std::make_shared<const StateOverlay>();
    } else {
      record->snapshot = LoadSnapshot(rest, *record, rows);
    }
    if (record->snapshot == nullptr) {
      if (record->damage.empty()) record->damage = "its stored content is damaged";
      record->damage = absl::StrCat("version ", record->version.value, " of navmesh '", id,
                                    "': ", record->damage);
      Damage(id, record->version, record->damage);
    }
    next_lineage_ = std::max(next_lineage_, record->lineage.value + 1);
    version.record = std::move(record);
    version.state_id = registry_.NextStateId();
    return version;
  }

  std::shared_ptr<const NavMeshSnapshot> LoadSnapshot(const std::string& rest,
                                                      VersionRecord& record, NavMeshRows& rows) {
    const auto it = rows.manifests.find(rest);
    if (it == rows.manifests.end() || !it->second.intact ||
        DigestOf(it->second.value) != record.digest) {
      record.damage = "its manifest is missing or fails its digest";
      return nullptr;
    }
    const auto manifest = MeshManifest::Decode(it->second.value);
    if (!manifest) {
      record.damage = "its manifest is of no known form";
      return nullptr;
    }
    std::vector<std::shared_ptr<const Tile>> tiles(manifest->slot_count);
    for (const MeshManifest::StoredTile& stored : manifest->tiles) {
      tiles[stored.slot] = LoadTile(stored, manifest->info, rows);
      if (tiles[stored.slot] == nullptr) {
        record.damage = absl::StrCat("tile ", stored.ref.value, " is missing or fails its digest");
        return nullptr;
      }
    }
    // A version made from another shares with it again what both have.
    auto& base = snapshots_[record.lineage.value];
    RetiredRefs retired;
    retired.Add(manifest->retired);
    auto snapshot = NavMeshSnapshot::Assemble(manifest->info, std::move(tiles),
                                              std::make_shared<GateTable>(manifest->gates),
                                              base.get(), registry_.next_stamp_, &retired);
    if (!snapshot.ok()) {
      record.damage = std::string(snapshot.status().message());
      return nullptr;
    }
    base = *snapshot;
    return *snapshot;
  }

  std::shared_ptr<const Tile> LoadTile(const MeshManifest::StoredTile& stored, const MeshInfo& info,
                                       NavMeshRows& rows) {
    auto& tile = tiles_[stored.digest];
    if (const auto shared = tile.lock()) return shared;
    const auto it = rows.tiles.find(std::string(stored.digest.view()));
    if (it == rows.tiles.end() || !it->second.intact) return nullptr;
    std::shared_ptr<const Tile> decoded = DecodeTile(it->second.value, stored.ref, info);
    if (decoded == nullptr || decoded->digest != stored.digest) return nullptr;
    tile = decoded;
    return decoded;
  }

  // The unbroken run of changes that ends with the current epoch.
  void LoadChanges(const NavMeshRows& rows, const std::string& world_id, Epoch last,
                   ChangeLog& log) {
    std::vector<std::shared_ptr<const ChangeRecord>> records;
    const std::string prefix = world_id + '\0';
    for (auto it = rows.changes.lower_bound(prefix);
         it != rows.changes.end() && it->first.starts_with(prefix); ++it) {
      if (it->first.size() != prefix.size() + 8) continue;
      auto record = it->second.intact ? ChangeRecord::Decode(it->second.value) : nullptr;
      if (record == nullptr ||
          (!records.empty() && record->epoch.value != records.back()->epoch.value + 1))
        records.clear();
      if (record != nullptr) records.push_back(std::move(record));
    }
    if (records.empty() || records.back()->epoch != last) return;
    for (auto& record : records) log.Append(std::move(record));
  }

  void LoadWorld(const std::shared_ptr<NavMeshEntry>& entry, NavMeshState& state,
                 const std::string& world_id, const Row& row, const NavMeshRows& rows)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(entry->mutex) {
    WorldRow stored;
    if (!row.intact || !DecodeWorldRow(row.value, stored) ||
        state.Find(stored.version) == nullptr) {
      Damage(entry->id, {},
             absl::StrCat("world '", world_id, "' is damaged or its version is gone"));
      return;
    }
    auto world = std::make_shared<World>();
    world->id = world_id;
    world->navmesh = entry;
    world->life = LoadLife(entry->id, world_id, rows);
    world->last_used_s = now_s_;
    {
      MutexLock lock(world->mutex);
      world->version = stored.version;
      world->epoch = stored.epoch;
      if (!stored.states.empty()) world->overlay = StateOverlay().With(stored.states);
      auto log = std::make_shared<ChangeLog>(stored.epoch, registry_.options_.world_log_records);
      LoadChanges(rows, world_id, stored.epoch, *log);
      if (!log->ReadAfter({stored.epoch.value - 1}, 1).too_far_behind) world->log = std::move(log);
    }
    ++entry->worlds_on[stored.version];
    registry_.world_count_.fetch_add(1, std::memory_order_relaxed);
    const std::string key = WorldKey(entry->id, world_id);
    auto& shard = registry_.ShardOf(key);
    MutexLock lock(shard.mutex);
    shard.worlds.emplace(key, std::move(world));
  }

  NavMeshRegistry& registry_;
  const double now_s_;
  uint64_t next_lineage_ = 1;
  StoreBatch migration_;  // What directories of older servers do not have.
  std::map<std::string, NavMeshRows> navmeshes_;
  absl::flat_hash_map<ContentDigest, std::weak_ptr<const Tile>> tiles_;
  std::map<uint64_t, std::shared_ptr<const NavMeshSnapshot>>
      snapshots_;  // By lineage, the latest read.
};

NavMeshResult<std::unique_ptr<NavMeshRegistry>> NavMeshRegistry::Open(
    const RegistryOptions& options, std::shared_ptr<NavMeshStore> store, double now_s) {
  std::unique_ptr<NavMeshRegistry> registry(new NavMeshRegistry(options, std::move(store)));
  if (const absl::Status status = RegistryLoader(*registry, now_s).Load(); !status.ok()) {
    return Fail(NavMeshReason::kStoreFailed, std::string(status.message()));
  }
  return registry;
}

}  // namespace arclane
