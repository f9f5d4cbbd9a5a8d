// SPDX-License-Identifier: Apache-2.0
// Worlds, and changes of state on them and on versions.
#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "server/navmesh/byte_stream.h"
#include "server/navmesh/registry.h"
#include "server/navmesh/registry_directory.h"
#include "server/navmesh/registry_state.h"

namespace arclane {
namespace {

// A world's epochs start at its serial number here, so that a world that is created again never
// repeats one.
constexpr int kWorldSerialShift = 32;

ContentDigest DigestOfChanges(const ApplyRequest& request) {
  ByteWriter writer;
  writer.Write(request.version.value);
  writer.Bytes(EncodeChanges(request.changes));
  return DigestOf(writer.data());
}

// The answer to a request that was answered before, or nullopt when it is new.
std::optional<NavMeshResult<ApplyResult>> Replay(const ChangeLog* log,
                                                 const ApplyRequest& request) {
  if (log == nullptr || request.request_id.empty()) return std::nullopt;
  const auto before = log->FindRequest(DigestOf(request.request_id));
  if (before == nullptr) return std::nullopt;
  if (before->content != DigestOfChanges(request)) {
    return Fail(NavMeshReason::kRequestIdReused,
                absl::StrCat("request id '", std::string(request.request_id),
                             "' was used for other changes"));
  }
  return ApplyResult{before->version, before->epoch, true};
}

NavMeshFailure EpochMismatch(Epoch expected, Epoch current) {
  NavMeshFailure failure =
      Fail(NavMeshReason::kEpochMismatch,
           expected > current ? absl::StrCat("epoch ", expected.value, " is still to come")
                              : absl::StrCat("changed since epoch ", expected.value));
  absl::StrAppend(&failure.message, "; the current one is ", current.value);
  failure.metadata.emplace_back("current_epoch", absl::StrCat(current.value));
  return failure;
}

ChangeRecord RecordOf(const ApplyRequest& request, NavMeshVersion version) {
  ChangeRecord record;
  record.type = ChangeType::kStateChanged;
  record.version = version;
  record.changes = request.changes;
  if (!request.request_id.empty()) record.request = DigestOf(request.request_id);
  record.content = DigestOfChanges(request);
  return record;
}

// Those that the caller has found, and those of the changes on this version.
MeshViolations AllViolations(const ApplyRequest& request, const NavMeshSnapshot& snapshot,
                             size_t max_changes) {
  MeshViolations all = request.violations;
  MeshViolations found = CheckChanges(snapshot, request.changes, max_changes, request.place_of);
  if (found.empty() || (request.changes.empty() && !all.empty())) return all;
  all.AddAll(std::move(found).ToFailure(), "changes");
  return all;
}

NavMeshFailure Named(MeshViolation violation) {
  MeshViolations violations;
  violations.Add(std::move(violation.place), std::move(violation.description));
  return std::move(violations).ToFailure(NavMeshReason::kInvalidArgument);
}

}  // namespace

NavMeshRegistry::WorldShard& NavMeshRegistry::ShardOf(std::string_view key) const {
  return world_shards_[std::hash<std::string_view>()(key) % kWorldShards];
}

NavMeshRegistry::WorldPtr NavMeshRegistry::FindWorld(std::string_view navmesh_id,
                                                     std::string_view world_id) const {
  const std::string key = WorldKey(navmesh_id, world_id);
  WorldShard& shard = ShardOf(key);
  MutexLock lock(shard.mutex);
  const auto it = shard.worlds.find(key);
  return it == shard.worlds.end() ? nullptr : it->second;
}

NavMeshResult<WorldDescription> NavMeshRegistry::CreateWorld(std::string_view navmesh_id,
                                                             std::string_view world_id,
                                                             NavMeshVersion version, double now_s) {
  if (auto violation = CheckName("world_id", world_id)) return Named(std::move(*violation));
  const EntryPtr entry = FindEntry(navmesh_id);
  if (entry == nullptr) {
    return Fail(NavMeshReason::kUnknownNavMesh,
                absl::StrCat("there is no navmesh '", std::string(navmesh_id), "'"));
  }
  MutexLock lock(entry->mutex);
  const WorldPtr existing = FindWorld(navmesh_id, world_id);
  if (existing != nullptr) {
    WorldDescription description = Describe(*existing);
    if (version.value != 0 && description.version != version) {
      return Fail(
          NavMeshReason::kWorldExists,
          absl::StrCat("world '", existing->id, "' stands on version ", description.version.value));
    }
    existing->last_used_s.store(now_s, std::memory_order_relaxed);
    return description;
  }
  NavMeshState next = *entry->state.Load();
  const NavMeshVersion wanted = version.value == 0 ? next.active : version;
  const VersionState* state = next.Find(wanted);
  if (state == nullptr) return NoSuchVersion(entry->id, wanted);
  if (state->retired)
    return Fail(NavMeshReason::kRetiredVersion,
                absl::StrCat("version ", wanted.value, " is retired"));
  if (state->record->snapshot == nullptr)
    return Fail(NavMeshReason::kDamagedVersion, state->record->damage);
  if (world_count_.load(std::memory_order_relaxed) >= options_.max_worlds) {
    return Fail(NavMeshReason::kLimitExceeded,
                absl::StrCat("there are ", options_.max_worlds, " worlds already"));
  }
  auto world = std::make_shared<World>();
  world->id = std::string(world_id);
  world->navmesh = entry;
  world->life = NewLife();
  world->last_used_s.store(now_s, std::memory_order_relaxed);
  WorldRow row{wanted, {++next.world_serial << kWorldSerialShift}, {}};
  {
    MutexLock world_lock(world->mutex);
    world->version = row.version;
    world->epoch = row.epoch;
  }
  StoreBatch batch;
  batch.Put(store_key::World(entry->id, world_id), EncodeWorldRow(row));
  batch.Put(store_key::Life(entry->id, world_id), EncodeLifeRow(world->life));
  // No change of the navmesh's epoch: worlds come and go without those who watch the map.
  if (auto stored = Advance(*entry, std::move(next), {}, std::move(batch)); !stored.ok())
    return std::move(stored).failure();
  ++entry->worlds_on[row.version];
  world_count_.fetch_add(1, std::memory_order_relaxed);
  const std::string key = WorldKey(navmesh_id, world_id);
  WorldShard& shard = ShardOf(key);
  MutexLock shard_lock(shard.mutex);
  shard.worlds.emplace(key, world);
  return Describe(*world);
}

NavMeshResult<WorldDescription> NavMeshRegistry::GetWorld(std::string_view navmesh_id,
                                                          std::string_view world_id) const {
  const WorldPtr world = FindWorld(navmesh_id, world_id);
  if (world == nullptr)
    return Fail(NavMeshReason::kUnknownWorld,
                absl::StrCat("there is no world '", std::string(world_id), "'"));
  return Describe(*world);
}

WorldPage NavMeshRegistry::ListWorlds(std::string_view navmesh_id, size_t page_size,
                                      std::string_view page_token) const {
  page_size = std::clamp<size_t>(page_size, 1, 1000);
  std::vector<WorldPtr> worlds;
  for (WorldShard& shard : world_shards_) {
    MutexLock lock(shard.mutex);
    for (const auto& [key, world] : shard.worlds) {
      if (world->navmesh->id == navmesh_id && world->id > page_token) worlds.push_back(world);
    }
  }
  const size_t count = std::min(page_size, worlds.size());
  std::partial_sort(worlds.begin(), worlds.begin() + static_cast<ptrdiff_t>(count), worlds.end(),
                    [](const WorldPtr& a, const WorldPtr& b) { return a->id < b->id; });
  WorldPage page;
  for (size_t i = 0; i < count; ++i) page.worlds.push_back(Describe(*worlds[i]));
  if (count < worlds.size()) page.next_page_token = worlds[count - 1]->id;
  return page;
}

NavMeshResult<WorldDescription> NavMeshRegistry::MoveWorld(std::string_view navmesh_id,
                                                           std::string_view world_id,
                                                           NavMeshVersion version) {
  const WorldPtr world = FindWorld(navmesh_id, world_id);
  if (world == nullptr)
    return Fail(NavMeshReason::kUnknownWorld,
                absl::StrCat("there is no world '", std::string(world_id), "'"));
  NavMeshEntry& entry = *world->navmesh;
  MutexLock lock(entry.mutex);
  MutexLock commit_lock(world->commit_mutex);
  const auto state = entry.state.Load();
  const NavMeshVersion wanted = version.value == 0 ? state->active : version;
  const VersionState* target = state->Find(wanted);
  if (target == nullptr) return NoSuchVersion(entry.id, wanted);
  if (target->retired)
    return Fail(NavMeshReason::kRetiredVersion,
                absl::StrCat("version ", wanted.value, " is retired"));
  if (target->record->snapshot == nullptr)
    return Fail(NavMeshReason::kDamagedVersion, target->record->damage);
  NavMeshVersion before;
  WorldRow row;
  std::shared_ptr<ChangeLog> log;
  {
    MutexLock world_lock(world->mutex);
    if (world->deleted)
      return Fail(NavMeshReason::kUnknownWorld,
                  absl::StrCat("there is no world '", world->id, "'"));
    before = world->version;
    row.epoch = {world->epoch.value + 1};
    if (world->overlay != nullptr) row.states = world->overlay->Changes();
    if (world->log == nullptr)
      world->log = std::make_shared<ChangeLog>(world->epoch, options_.world_log_records);
    log = world->log;
  }
  if (before == wanted) return Describe(*world);
  row.version = wanted;
  std::erase_if(row.states, [&](const StateChange& change) {
    return !CheckChanges(*target->record->snapshot, {change}, 1).empty();
  });
  auto record = std::make_shared<ChangeRecord>();
  record->type = ChangeType::kMoved;
  record->version = wanted;
  record->base_version = before;
  record->epoch = row.epoch;
  StoreBatch batch;
  batch.Put(store_key::World(entry.id, world->id), EncodeWorldRow(row));
  batch.Put(store_key::Change(entry.id, world->id, row.epoch), record->Encode());
  batch.Remove(
      store_key::Change(entry.id, world->id, {row.epoch.value - options_.world_log_records}));
  if (const absl::Status status = store_->Commit(batch); !status.ok()) {
    return Fail(NavMeshReason::kStoreFailed, std::string(status.message()));
  }
  {
    MutexLock world_lock(world->mutex);
    world->version = wanted;
    world->epoch = row.epoch;
    world->overlay = row.states.empty() ? nullptr : StateOverlay().With(row.states);
    world->over_state_id = 0;
  }
  ++entry.worlds_on[wanted];
  if (--entry.worlds_on[before] == 0) entry.worlds_on.erase(before);
  log->Append(std::move(record));
  return Describe(*world);
}

NavMeshResult<Epoch> NavMeshRegistry::DropWorld(const WorldPtr& world,
                                                std::optional<double> idle_since_s) {
  NavMeshEntry& entry = *world->navmesh;
  MutexLock lock(entry.mutex);
  MutexLock commit_lock(world->commit_mutex);
  const std::string key = WorldKey(entry.id, world->id);
  Epoch epoch;
  NavMeshVersion version;
  {
    MutexLock world_lock(world->mutex);
    if (world->deleted ||
        (idle_since_s && world->last_used_s.load(std::memory_order_relaxed) > *idle_since_s)) {
      return Fail(NavMeshReason::kUnknownWorld,
                  absl::StrCat("there is no world '", world->id, "'"));
    }
    epoch = world->epoch;
    version = world->version;
  }
  StoreBatch batch;
  batch.Remove(store_key::World(entry.id, world->id));
  batch.Remove(store_key::Life(entry.id, world->id));
  const uint64_t first = epoch.value >> kWorldSerialShift << kWorldSerialShift;
  for (uint64_t e = epoch.value; e > first && epoch.value - e < options_.world_log_records; --e) {
    batch.Remove(store_key::Change(entry.id, world->id, {e}));
  }
  if (const absl::Status status = store_->Commit(batch); !status.ok()) {
    return Fail(NavMeshReason::kStoreFailed, std::string(status.message()));
  }
  {
    WorldShard& shard = ShardOf(key);
    MutexLock shard_lock(shard.mutex);
    shard.worlds.erase(key);
  }
  if (--entry.worlds_on[version] == 0) entry.worlds_on.erase(version);
  world_count_.fetch_sub(1, std::memory_order_relaxed);
  std::shared_ptr<ChangeLog> log;
  {
    MutexLock world_lock(world->mutex);
    world->deleted = true;
    log = world->log;
  }
  if (log != nullptr) log->Close();
  return epoch;
}

NavMeshResult<Epoch> NavMeshRegistry::DeleteWorld(std::string_view navmesh_id,
                                                  std::string_view world_id) {
  const WorldPtr world = FindWorld(navmesh_id, world_id);
  if (world == nullptr)
    return Fail(NavMeshReason::kUnknownWorld,
                absl::StrCat("there is no world '", std::string(world_id), "'"));
  return DropWorld(world, std::nullopt);
}

size_t NavMeshRegistry::ExpireWorlds(double now_s) {
  const double idle_since_s = now_s - options_.world_idle_s;
  std::vector<WorldPtr> idle;
  for (WorldShard& shard : world_shards_) {
    MutexLock lock(shard.mutex);
    for (const auto& [key, world] : shard.worlds) {
      if (world->last_used_s.load(std::memory_order_relaxed) <= idle_since_s) idle.push_back(world);
    }
  }
  size_t expired = 0;
  for (const WorldPtr& world : idle) expired += DropWorld(world, idle_since_s).ok();
  return expired;
}

NavMeshResult<ApplyResult> NavMeshRegistry::ApplyChanges(const ApplyRequest& request,
                                                         double now_s) {
  if (!request.request_id.empty()) {
    if (auto violation = CheckName("request_id", request.request_id);
        violation && request.violations.empty())
      return Named(std::move(*violation));
  }
  // What is wrong with the request by itself goes before what is not there.
  const auto missing = [&](NavMeshFailure failure) {
    if (request.violations.empty()) return failure;
    return MeshViolations(request.violations).ToFailure(NavMeshReason::kInvalidArgument);
  };
  if (!request.world_id.empty()) {
    const WorldPtr world = FindWorld(request.navmesh_id, request.world_id);
    if (world != nullptr) return ApplyToWorld(world, request, now_s);
    return missing(Fail(NavMeshReason::kUnknownWorld,
                        absl::StrCat("there is no world '", std::string(request.world_id), "'")));
  }
  const EntryPtr entry = FindEntry(request.navmesh_id);
  if (entry == nullptr) {
    return missing(
        Fail(NavMeshReason::kUnknownNavMesh,
             absl::StrCat("there is no navmesh '", std::string(request.navmesh_id), "'")));
  }
  MutexLock lock(entry->mutex);
  if (auto replayed = Replay(entry->log.get(), request)) return *std::move(replayed);
  NavMeshState next = *entry->state.Load();
  const NavMeshVersion version = request.version.value == 0 ? next.active : request.version;
  VersionState* state = next.Find(version);
  if (state == nullptr) return missing(NoSuchVersion(entry->id, version));
  if (state->record->snapshot == nullptr)
    return Fail(NavMeshReason::kDamagedVersion, state->record->damage);
  if (request.violations.empty() && request.expected_epoch &&
      (state->changed > *request.expected_epoch || next.epoch < *request.expected_epoch)) {
    return EpochMismatch(*request.expected_epoch, next.epoch);
  }
  if (auto violations =
          AllViolations(request, *state->record->snapshot, options_.max_changes_per_request);
      !violations.empty()) {
    return std::move(violations).ToFailure(NavMeshReason::kInvalidArgument);
  }
  state->defaults = state->defaults->With(request.changes);
  state->changed = {next.epoch.value + 1};
  state->state_id = NextStateId();
  StoreBatch batch;
  batch.Put(store_key::Version(entry->id, version), EncodeVersionRow(*state));
  auto epoch = Advance(*entry, std::move(next), {RecordOf(request, version)}, std::move(batch));
  if (!epoch.ok()) return std::move(epoch).failure();
  return ApplyResult{version, *epoch, false};
}

NavMeshResult<ApplyResult> NavMeshRegistry::ApplyToWorld(const WorldPtr& world,
                                                         const ApplyRequest& request,
                                                         double now_s) {
  world->last_used_s.store(now_s, std::memory_order_relaxed);
  const NavMeshEntry& entry = *world->navmesh;
  MutexLock commit_lock(world->commit_mutex);
  WorldRow row;
  std::shared_ptr<const StateOverlay> overlay;
  std::shared_ptr<ChangeLog> log;
  {
    MutexLock lock(world->mutex);
    if (world->deleted)
      return Fail(NavMeshReason::kUnknownWorld,
                  absl::StrCat("there is no world '", world->id, "'"));
    if (world->log == nullptr)
      world->log = std::make_shared<ChangeLog>(world->epoch, options_.world_log_records);
    log = world->log;
    row.version = world->version;
    row.epoch = world->epoch;
    overlay = world->overlay;
  }
  if (auto replayed = Replay(log.get(), request)) return *std::move(replayed);
  if (request.version.value != 0 && request.version != row.version) {
    return OtherVersion(world->id, row.version, request.version);
  }
  if (request.violations.empty() && request.expected_epoch &&
      row.epoch != *request.expected_epoch) {
    return EpochMismatch(*request.expected_epoch, row.epoch);
  }
  const auto state = entry.state.Load();
  const VersionRecord& record_of_version = *state->Find(row.version)->record;
  if (record_of_version.snapshot == nullptr)
    return Fail(NavMeshReason::kDamagedVersion, record_of_version.damage);
  const NavMeshSnapshot& snapshot = *record_of_version.snapshot;
  if (auto violations = AllViolations(request, snapshot, options_.max_changes_per_request);
      !violations.empty()) {
    return std::move(violations).ToFailure(NavMeshReason::kInvalidArgument);
  }
  overlay = (overlay == nullptr ? StateOverlay() : *overlay).With(request.changes);
  row.epoch = {row.epoch.value + 1};
  row.states = overlay->Changes();
  ChangeRecord record = RecordOf(request, row.version);
  record.epoch = row.epoch;
  StoreBatch batch;
  batch.Put(store_key::World(entry.id, world->id), EncodeWorldRow(row));
  batch.Put(store_key::Change(entry.id, world->id, row.epoch), record.Encode());
  batch.Remove(
      store_key::Change(entry.id, world->id, {row.epoch.value - options_.world_log_records}));
  if (const absl::Status status = store_->Commit(batch); !status.ok()) {
    return Fail(NavMeshReason::kStoreFailed, std::string(status.message()));
  }
  {
    MutexLock lock(world->mutex);
    world->epoch = row.epoch;
    world->overlay = std::move(overlay);
    world->over_state_id = 0;
  }
  const ApplyResult result{row.version, row.epoch, false};
  log->Append(std::make_shared<const ChangeRecord>(std::move(record)));
  return result;
}

}  // namespace arclane
