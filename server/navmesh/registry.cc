// SPDX-License-Identifier: Apache-2.0
// Looking up, listing, and the life of a version once it is published.
#include "server/navmesh/registry.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/navmesh/registry_directory.h"
#include "server/navmesh/registry_state.h"

namespace arclane {
namespace {

NavMeshFailure UnknownNavMesh(std::string_view id) {
  return Fail(NavMeshReason::kUnknownNavMesh,
              absl::StrCat("there is no navmesh '", std::string(id), "'"));
}

}  // namespace

NavMeshRegistry::NavMeshRegistry(const RegistryOptions& options,
                                 std::shared_ptr<NavMeshStore> store)
    : options_(options),
      store_(std::move(store)),
      directory_(std::make_unique<SnapshotCell<Directory>>(std::make_shared<Directory>())) {}

NavMeshRegistry::~NavMeshRegistry() = default;

NavMeshRegistry::EntryPtr NavMeshRegistry::FindEntry(std::string_view navmesh_id) const {
  const auto directory = directory_->Load();
  const auto it = directory->entries.find(navmesh_id);
  return it == directory->entries.end() ? nullptr : it->second;
}

NavMeshResult<NavMeshRegistry::EntryPtr> NavMeshRegistry::FindOrCreateEntry(
    std::string_view navmesh_id) {
  if (EntryPtr entry = FindEntry(navmesh_id)) return entry;
  MutexLock lock(directory_mutex_);
  const auto directory = directory_->Load();
  if (const auto it = directory->entries.find(navmesh_id); it != directory->entries.end())
    return it->second;
  if (directory->entries.size() >= options_.max_navmeshes) {
    return Fail(NavMeshReason::kLimitExceeded,
                absl::StrCat("there are ", options_.max_navmeshes, " navmeshes already"));
  }
  auto next = std::make_shared<Directory>(*directory);
  auto entry = std::make_shared<NavMeshEntry>(std::string(navmesh_id), NewLife(),
                                              std::make_shared<NavMeshState>(),
                                              options_.navmesh_log_records);
  next->entries.emplace(navmesh_id, entry);
  directory_->Store(std::move(next));
  return entry;
}

LifeToken NavMeshRegistry::NewLife() {
  if (!options_.draw_life) return {next_life_.fetch_add(1, std::memory_order_relaxed)};
  return {std::max<uint64_t>(options_.draw_life(), 1)};
}

NavMeshResult<Epoch> NavMeshRegistry::Advance(NavMeshEntry& entry, NavMeshState next,
                                              std::vector<ChangeRecord> records, StoreBatch batch) {
  std::vector<std::shared_ptr<const ChangeRecord>> appended;
  if (next.epoch.value == 0) batch.Put(store_key::Life(entry.id, ""), EncodeLifeRow(entry.life));
  for (ChangeRecord& record : records) {
    record.epoch = {++next.epoch.value};
    batch.Put(store_key::Change(entry.id, "", record.epoch), record.Encode());
    if (next.epoch.value > options_.navmesh_log_records) {
      batch.Remove(
          store_key::Change(entry.id, "", {next.epoch.value - options_.navmesh_log_records}));
    }
    appended.push_back(std::make_shared<const ChangeRecord>(std::move(record)));
  }
  batch.Put(store_key::NavMesh(entry.id), EncodeNavMeshRow(next));
  if (const absl::Status status = store_->Commit(batch); !status.ok()) {
    return Fail(NavMeshReason::kStoreFailed, std::string(status.message()));
  }
  const Epoch epoch = next.epoch;
  entry.state.Store(std::make_shared<const NavMeshState>(std::move(next)));
  for (auto& record : appended) entry.log->Append(std::move(record));
  return epoch;
}

NavMeshResult<Epoch> NavMeshRegistry::Activate(std::string_view navmesh_id,
                                               NavMeshVersion version) {
  const EntryPtr entry = FindEntry(navmesh_id);
  if (entry == nullptr) return UnknownNavMesh(navmesh_id);
  MutexLock lock(entry->mutex);
  NavMeshState next = *entry->state.Load();
  const VersionState* state = next.Find(version);
  if (state == nullptr) return NoSuchVersion(navmesh_id, version);
  if (next.active == version) return next.epoch;
  if (state->record->snapshot == nullptr)
    return Fail(NavMeshReason::kDamagedVersion, state->record->damage);
  if (state->retired)
    return Fail(NavMeshReason::kRetiredVersion,
                absl::StrCat("version ", version.value, " is retired"));
  next.active = version;
  ChangeRecord record;
  record.type = ChangeType::kActivated;
  record.version = version;
  return Advance(*entry, std::move(next), {record}, {});
}

NavMeshResult<Epoch> NavMeshRegistry::Retire(std::string_view navmesh_id, NavMeshVersion version) {
  const EntryPtr entry = FindEntry(navmesh_id);
  if (entry == nullptr) return UnknownNavMesh(navmesh_id);
  MutexLock lock(entry->mutex);
  NavMeshState next = *entry->state.Load();
  VersionState* state = next.Find(version);
  if (state == nullptr) return NoSuchVersion(navmesh_id, version);
  if (next.active == version) {
    return Fail(NavMeshReason::kActiveVersion,
                absl::StrCat("version ", version.value, " is active; activate another first"));
  }
  if (state->retired) return next.epoch;
  state->retired = true;
  ChangeRecord record;
  record.type = ChangeType::kRetired;
  record.version = version;
  StoreBatch batch;
  batch.Put(store_key::Version(entry->id, version), EncodeVersionRow(*state));
  return Advance(*entry, std::move(next), {record}, std::move(batch));
}

NavMeshResult<Epoch> NavMeshRegistry::Delete(std::string_view navmesh_id, NavMeshVersion version) {
  const EntryPtr entry = FindEntry(navmesh_id);
  if (entry == nullptr) return UnknownNavMesh(navmesh_id);
  MutexLock lock(entry->mutex);
  NavMeshState next = *entry->state.Load();
  if (next.Find(version) == nullptr) return NoSuchVersion(navmesh_id, version);
  if (next.active == version) {
    return Fail(NavMeshReason::kActiveVersion,
                absl::StrCat("version ", version.value, " is active; activate another first"));
  }
  if (entry->worlds_on.contains(version)) {
    return Fail(
        NavMeshReason::kVersionInUse,
        absl::StrCat(entry->worlds_on[version], " worlds stand on version ", version.value));
  }
  StoreBatch batch;
  ChangeRecord record = RemoveVersion(entry->id, version, next, batch);
  return Advance(*entry, std::move(next), {record}, std::move(batch));
}

NavMeshResult<NavMeshDescription> NavMeshRegistry::Get(std::string_view navmesh_id) const {
  const EntryPtr entry = FindEntry(navmesh_id);
  if (entry == nullptr) return UnknownNavMesh(navmesh_id);
  std::map<NavMeshVersion, size_t> worlds_on;
  {
    MutexLock lock(entry->mutex);
    worlds_on = entry->worlds_on;
  }
  const auto state = entry->state.Load();
  if (state->epoch.value == 0) return UnknownNavMesh(navmesh_id);
  return Describe(*entry, *state, worlds_on);
}

NavMeshResult<NavMeshMoment> NavMeshRegistry::Moment(std::string_view navmesh_id) const {
  const EntryPtr entry = FindEntry(navmesh_id);
  if (entry == nullptr) return UnknownNavMesh(navmesh_id);
  MutexLock lock(entry->mutex);
  return NavMeshMoment{entry->life, entry->state.Load()->epoch};
}

NavMeshPage NavMeshRegistry::List(size_t page_size, std::string_view page_token) const {
  page_size = std::clamp<size_t>(page_size, 1, 1000);
  const auto directory = directory_->Load();
  NavMeshPage page;
  for (auto it = directory->entries.upper_bound(page_token); it != directory->entries.end(); ++it) {
    if (page.navmeshes.size() == page_size) {
      page.next_page_token = page.navmeshes.back().navmesh_id;
      break;
    }
    // A navmesh whose first publication is still being stored is not there yet.
    if (auto description = Get(it->first); description.ok())
      page.navmeshes.push_back(*std::move(description));
  }
  return page;
}

NavMeshResult<NavMeshView> NavMeshRegistry::View(std::string_view navmesh_id,
                                                 NavMeshVersion version, std::string_view world_id,
                                                 double now_s) const {
  NavMeshView::Parts parts;
  WorldPtr world;
  if (!world_id.empty()) {
    world = FindWorld(navmesh_id, world_id);
    if (world == nullptr) {
      if (FindEntry(navmesh_id) == nullptr) return UnknownNavMesh(navmesh_id);
      return Fail(NavMeshReason::kUnknownWorld,
                  absl::StrCat("navmesh '", std::string(navmesh_id), "' has no world '",
                               std::string(world_id), "'"));
    }
    world->last_used_s.store(now_s, std::memory_order_relaxed);
  }
  const EntryPtr entry = world != nullptr ? world->navmesh : FindEntry(navmesh_id);
  if (entry == nullptr) return UnknownNavMesh(navmesh_id);
  std::shared_ptr<const NavMeshState> state;
  const VersionState* version_state = nullptr;
  if (world != nullptr) {
    MutexLock lock(world->mutex);
    if (world->deleted) {  // Since it was found.
      return Fail(NavMeshReason::kUnknownWorld,
                  absl::StrCat("there is no world '", world->id, "'"));
    }
    // A world's version stays in the navmesh's state for as long as the world stands on it.
    state = entry->state.Load();
    if (version.value != 0 && version != world->version) {
      return OtherVersion(world->id, world->version, version);
    }
    version_state = state->Find(world->version);
    if (version_state == nullptr) return NoSuchVersion(navmesh_id, world->version);
    parts.world_id = world->id;
    parts.world_epoch = world->epoch;
    parts.world_life = world->life;
    parts.world = world->overlay;
    parts.state_id = version_state->state_id;
    if (world->overlay != nullptr) {
      if (world->over_state_id != version_state->state_id) {
        world->over_state_id = version_state->state_id;
        world->state_id = NextStateId();
      }
      parts.state_id = world->state_id;
    }
  } else {
    state = entry->state.Load();
    if (state->epoch.value == 0) return UnknownNavMesh(navmesh_id);
    const NavMeshVersion wanted = version.value == 0 ? state->active : version;
    version_state = state->Find(wanted);
    if (version_state == nullptr) return NoSuchVersion(navmesh_id, wanted);
    if (version_state->retired) {
      NavMeshFailure failure =
          Fail(NavMeshReason::kRetiredVersion,
               absl::StrCat("version ", wanted.value, " of navmesh '", entry->id, "' is retired"));
      failure.metadata.emplace_back("version", absl::StrCat(wanted.value));
      return failure;
    }
    parts.state_id = version_state->state_id;
  }
  const VersionRecord& record = *version_state->record;
  if (record.snapshot == nullptr) return Fail(NavMeshReason::kDamagedVersion, record.damage);
  parts.navmesh_id = entry->id;
  parts.version = record.version;
  parts.lineage = record.lineage;
  parts.epoch = state->epoch;
  parts.life = entry->life;
  parts.snapshot = record.snapshot;
  parts.defaults = version_state->defaults;
  return NavMeshView(std::move(parts));
}

NavMeshResult<std::unique_ptr<NavMeshWatcher>> NavMeshRegistry::Watch(
    const WatchRequest& request, std::function<void()> on_ready) {
  const EntryPtr entry = FindEntry(request.navmesh_id);
  if (entry == nullptr) return UnknownNavMesh(request.navmesh_id);
  WorldPtr world;
  std::shared_ptr<ChangeLog> log = entry->log;
  if (!request.world_id.empty()) {
    world = FindWorld(request.navmesh_id, request.world_id);
    if (world == nullptr) {
      return Fail(NavMeshReason::kUnknownWorld,
                  absl::StrCat("there is no world '", std::string(request.world_id), "'"));
    }
    MutexLock lock(world->mutex);
    if (world->deleted) {
      return Fail(NavMeshReason::kUnknownWorld,
                  absl::StrCat("there is no world '", world->id, "'"));
    }
    if (world->log == nullptr)
      world->log = std::make_shared<ChangeLog>(world->epoch, options_.world_log_records);
    log = world->log;
  }
  return std::unique_ptr<NavMeshWatcher>(
      new NavMeshWatcher(entry, world, std::move(log), request, std::move(on_ready)));
}

RegistryCounts NavMeshRegistry::Count() const {
  RegistryCounts counts;
  const auto directory = directory_->Load();
  for (const auto& [id, entry] : directory->entries) {
    const auto state = entry->state.Load();
    if (state->epoch.value == 0) continue;
    ++counts.navmeshes;
    counts.versions += state->versions.size();
    counts.bytes += BytesOf(state->versions);
  }
  counts.stored_bytes = store_->SizeBytes();
  counts.worlds = world_count_.load(std::memory_order_relaxed);
  return counts;
}

std::vector<std::pair<std::string, NavMeshVersion>> NavMeshRegistry::ActiveVersions(
    size_t most) const {
  std::vector<std::pair<std::string, NavMeshVersion>> versions;
  const auto directory = directory_->Load();
  for (const auto& [id, entry] : directory->entries) {
    if (versions.size() >= most) break;
    const auto state = entry->state.Load();
    if (state->epoch.value != 0) versions.emplace_back(id, state->active);
  }
  return versions;
}

}  // namespace arclane
