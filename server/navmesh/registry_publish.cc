// SPDX-License-Identifier: Apache-2.0
// New versions: as a whole, or made from another by replacing tiles.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/navmesh/mesh_manifest.h"
#include "server/navmesh/registry.h"
#include "server/navmesh/registry_directory.h"
#include "server/navmesh/registry_state.h"

namespace arclane {
namespace {

struct Content {
  MeshInfo info;
  std::vector<ReadTile> tiles;
  std::vector<GateDefinition> gates;
};

NavMeshResult<Content> ReadContent(std::string_view mset, const NeutralMesh* neutral,
                                   bool is_update) {
  Content content;
  if (neutral != nullptr) {
    auto read = BuildNeutralTiles(*neutral, {.is_update = is_update, .keep_stored = true});
    if (!read.ok()) return std::move(read).failure();
    content.info = read->info;
    content.tiles = std::move(read->tiles);
    content.gates = neutral->gates;
    return content;
  }
  auto read = ReadMset(mset);
  if (!read.ok()) return std::move(read).failure();
  content.info.params = read->params;
  content.tiles = std::move(read->tiles);
  for (const ReadTile& tile : content.tiles) {
    content.info.baked_radius = std::max(content.info.baked_radius, tile.tile->walkable_radius);
  }
  return content;
}

// A failure of the content, together with what is wrong with the request beside it.
NavMeshFailure Joined(MeshViolations violations, NavMeshFailure content) {
  if (violations.empty() || NavMeshReasonCode(content.reason) != absl::StatusCode::kInvalidArgument)
    return content;
  violations.AddAll(content, "content");
  return std::move(violations).ToFailure(content.reason);
}

void AddPlaces(const std::vector<GateDefinition>& gates, const char* list, GatePlaces& places) {
  for (size_t i = 0; i < gates.size(); ++i)
    places.defined.emplace_back(gates[i].id, absl::StrCat(list, "[", i, "]"));
}
constexpr char kContentGates[] = "gates";
constexpr char kRequestGates[] = "request.gates";

absl::flat_hash_set<ContentDigest> TileDigests(const NavMeshState& state, NavMeshVersion except) {
  absl::flat_hash_set<ContentDigest> digests;
  for (const VersionState& version : state.versions) {
    const NavMeshSnapshot* snapshot = version.record->snapshot.get();
    if (snapshot == nullptr || version.record->version == except) continue;
    for (uint32_t slot = 0; slot < snapshot->slot_count(); ++slot) {
      if (snapshot->tile(slot) != nullptr) digests.insert(snapshot->tile(slot)->tile->digest);
    }
  }
  return digests;
}

// The oldest version that may go, or null.
const VersionState* OldestSpare(const NavMeshState& state,
                                const std::map<NavMeshVersion, size_t>& worlds_on,
                                NavMeshVersion keep) {
  const VersionState* oldest = nullptr;
  for (const VersionState& version : state.versions) {
    const NavMeshVersion number = version.record->version;
    if (number == state.active || number == keep || worlds_on.contains(number)) continue;
    if (oldest == nullptr || version.record->sequence < oldest->record->sequence) oldest = &version;
  }
  return oldest;
}

// The states of a version that still mean something in another.
std::shared_ptr<const StateOverlay> CarryOver(const StateOverlay& overlay,
                                              const NavMeshSnapshot& snapshot) {
  std::vector<StateChange> kept;
  for (const StateChange& change : overlay.Changes()) {
    if (CheckChanges(snapshot, {change}, 1).empty()) kept.push_back(change);
  }
  return StateOverlay().With(kept);
}

// What shows that tiles belong to another mesh than the base; empty when nothing does. A neutral
// mesh of an update need not say again what its base says.
std::string OtherMesh(const NavMeshSnapshot& base, const Content& content) {
  const MeshInfo& before = base.info();
  const MeshInfo& after = content.info;
  if (after.source != before.source || after.up != before.up || after.params != before.params)
    return "its format, up axis, origin, tile size or limits are not those of the base version";
  if (after.source == TileSource::kNeutral) {
    if (after.baked_radius != 0.0 && after.baked_radius != before.baked_radius) {
      return absl::StrCat("its baked_radius ", after.baked_radius, " is not the base version's, ",
                          before.baked_radius);
    }
    if (after.max_step != 0.0 && after.max_step != before.max_step) {
      return absl::StrCat("its max_step ", after.max_step, " is not the base version's, ",
                          before.max_step);
    }
    return "";
  }
  // The radius of a version may have been given beside its file: tiles are compared with tiles.
  absl::flat_hash_set<double> radii;
  for (uint32_t slot = 0; slot < base.slot_count(); ++slot) {
    if (base.tile(slot) != nullptr) radii.insert(base.tile(slot)->tile->walkable_radius);
  }
  for (const ReadTile& tile : content.tiles) {
    if (radii.empty() || radii.contains(tile.tile->walkable_radius)) continue;
    return absl::StrCat("the agent radius ", tile.tile->walkable_radius, " of its tile ",
                        ToString(tile.tile->at), " is not that of the base version's tiles, ",
                        *radii.begin());
  }
  return "";
}

// Tiles put over those of a base.
class TileReplacement {
 public:
  explicit TileReplacement(const NavMeshSnapshot& base) : base_(base) {
    for (uint32_t slot = 0; slot < base.slot_count(); ++slot) {
      tiles_.push_back(base.tile(slot) == nullptr ? nullptr : base.tile(slot)->tile);
    }
  }

  void Remove(const UpdateTilesRequest& request, MeshViolations& violations) {
    for (size_t i = 0; i < request.removed_tiles.size(); ++i) {
      RemoveSlot(base_.SlotAt(request.removed_tiles[i]),
                 absl::StrCat("request.removed_tiles.x[", i, "]"), violations);
    }
    for (size_t i = 0; i < request.removed_refs.size(); ++i) {
      RemoveSlot(base_.SlotOf(request.removed_refs[i]),
                 absl::StrCat("request.removed_tile_refs[", i, "]"), violations);
    }
  }

  // Tiles with the content that is there already stay as they are.
  void Put(const std::vector<ReadTile>& tiles) {
    for (const ReadTile& tile : tiles) {
      const auto slot = base_.SlotAt(tile.tile->at);
      if (slot && base_.tile(*slot)->tile->digest == tile.tile->digest) {
        tiles_[*slot] = base_.tile(*slot)->tile;
        continue;
      }
      changed_.insert(tile.tile->at);
      const uint32_t target = slot ? *slot : FreeSlot();
      tiles_[target] = tile.tile;
      added_.push_back(tile.tile);
    }
  }

  std::vector<std::shared_ptr<const Tile>> tiles() const { return tiles_; }
  // Those that the base does not have.
  const std::vector<std::shared_ptr<const Tile>>& added() const { return added_; }
  std::vector<TileCoordinates> changed() const {
    std::vector<TileCoordinates> places(changed_.begin(), changed_.end());
    std::sort(places.begin(), places.end());
    return places;
  }

 private:
  void RemoveSlot(std::optional<uint32_t> slot, std::string place, MeshViolations& violations) {
    if (!slot) {
      violations.Add(std::move(place), "there is no such tile");
      return;
    }
    if (tiles_[*slot] == nullptr) {
      violations.Add(std::move(place), "the tile is removed twice");
      return;
    }
    changed_.insert(tiles_[*slot]->at);
    tiles_[*slot] = nullptr;
  }

  uint32_t FreeSlot() {
    while (next_free_ < tiles_.size() &&
           (tiles_[next_free_] != nullptr ||
            (next_free_ < base_.slot_count() && base_.tile(next_free_) != nullptr))) {
      ++next_free_;
    }
    if (next_free_ == tiles_.size()) tiles_.push_back(nullptr);
    return next_free_++;
  }

  const NavMeshSnapshot& base_;
  std::vector<std::shared_ptr<const Tile>> tiles_;
  std::vector<std::shared_ptr<const Tile>> added_;
  absl::flat_hash_set<TileCoordinates> changed_;
  uint32_t next_free_ = 0;
};

// Whether a tile goes on under the ref of the one that it replaces at its place. Neutral tiles may:
// their refs name what is at a place, and no polygon.
bool KeepsTileRef(const NavMeshSnapshot& base, const Tile& tile) {
  const auto slot = base.SlotAt(tile.at);
  return tile.source == TileSource::kNeutral && slot && base.tile(*slot)->tile->ref == tile.ref;
}

// What an update adds to the ledger of refs: those of its base, unless they are there, and those of
// its own tiles. Adds a violation for every ref of these that has named other content.
std::vector<ContentRefs> NewRefs(const RefLedger& ledger, const NavMeshSnapshot& base,
                                 const TileReplacement& replacement, MeshViolations& violations) {
  std::vector<ContentRefs> added;
  RefLedger of_base;
  for (uint32_t slot = 0; slot < base.slot_count(); ++slot) {
    if (base.tile(slot) == nullptr || ledger.HasTile(*base.tile(slot)->tile)) continue;
    ContentRefs refs = RefsOf(*base.tile(slot)->tile);
    if (ledger.Has(refs)) continue;
    of_base.Add(refs);
    added.push_back(std::move(refs));
  }
  for (const auto& tile : replacement.added()) {
    const std::string place = absl::StrCat("tile ", ToString(tile->at));
    const size_t before = violations.count();
    for (const RefLedger* known : {&ledger, static_cast<const RefLedger*>(&of_base)}) {
      if (violations.count() > before) break;
      if (!KeepsTileRef(base, *tile)) known->CheckTileRef(*tile, place, violations);
      known->CheckPolygonRefs(*tile, place, violations);
    }
    if (ContentRefs refs = RefsOf(*tile); !ledger.Has(refs)) added.push_back(std::move(refs));
  }
  return added;
}

std::vector<GateDefinition> MergedGates(const NavMeshSnapshot& base,
                                        const UpdateTilesRequest& request,
                                        const std::vector<GateDefinition>& more,
                                        MeshViolations& violations) {
  std::map<GateId, GateDefinition> gates;
  for (const GateDefinition& gate : base.gates().gates()) gates[gate.id] = gate;
  for (size_t i = 0; i < request.removed_gates.size(); ++i) {
    if (gates.erase(request.removed_gates[i]) == 0) {
      violations.Add(absl::StrCat("request.removed_gates[", i, "]"),
                     absl::StrCat("there is no gate ", request.removed_gates[i].value));
    }
  }
  absl::flat_hash_set<GateId> named;
  const auto define = [&](const std::vector<GateDefinition>& list, const char* place) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (!named.insert(list[i].id).second) {
        violations.Add(absl::StrCat(place, "[", i, "]"),
                       absl::StrCat("its id ", list[i].id.value, " is another gate's too"));
      }
      gates[list[i].id] = list[i];
    }
  };
  define(more, kContentGates);
  define(request.gates, kRequestGates);
  std::vector<GateDefinition> merged;
  for (auto& [id, gate] : gates) merged.push_back(std::move(gate));
  return merged;
}

}  // namespace

ChangeRecord RemoveVersion(const std::string& navmesh_id, NavMeshVersion version,
                           NavMeshState& state, StoreBatch& batch) {
  const auto kept = TileDigests(state, version);
  if (const NavMeshSnapshot* snapshot = state.Find(version)->record->snapshot.get()) {
    for (uint32_t slot = 0; slot < snapshot->slot_count(); ++slot) {
      if (snapshot->tile(slot) == nullptr) continue;
      const ContentDigest& digest = snapshot->tile(slot)->tile->digest;
      if (!kept.contains(digest)) batch.Remove(store_key::Tile(navmesh_id, digest));
    }
  }
  batch.Remove(store_key::Version(navmesh_id, version));
  batch.Remove(store_key::Manifest(navmesh_id, version));
  std::erase_if(state.versions,
                [&](const VersionState& v) { return v.record->version == version; });
  ChangeRecord record;
  record.type = ChangeType::kDeleted;
  record.version = version;
  return record;
}

NavMeshResult<PublishResult> NavMeshRegistry::Publish(const PublishRequest& request) {
  MeshViolations violations = request.violations;
  if (auto violation = CheckName("request.navmesh_id", request.navmesh_id))
    violations.Add(violation->place, violation->description);
  if (request.version.value == 0) violations.Add("request.version", "must be >= 1");
  if (request.mset_digest && *request.mset_digest != DigestOf(request.mset)) {
    violations.Add("request.digest",
                   absl::StrCat("is not that of the bytes, ", DigestOf(request.mset).ToHex()));
  }
  if (request.baked_radius && !(*request.baked_radius >= 0 && *request.baked_radius <= 1e12))
    violations.Add("request.baked_radius", "must be >= 0 and finite");
  if (request.mset.empty() == (request.neutral == nullptr)) {
    if (violations.empty())
      violations.Add("request.content", "must be either a Detour file or a neutral mesh");
    return std::move(violations).ToFailure(NavMeshReason::kInvalidArgument);
  }
  auto content = ReadContent(request.mset, request.neutral, /*is_update=*/false);
  if (!content.ok()) return Joined(std::move(violations), std::move(content).failure());
  if (request.baked_radius) content->info.baked_radius = *request.baked_radius;
  if (!(content->info.baked_radius >= 0 && content->info.baked_radius <= 1e12) &&
      !request.baked_radius) {
    violations.Add("baked_radius", "must be >= 0 and finite");
  }
  GatePlaces places;
  AddPlaces(content->gates, kContentGates, places);
  AddPlaces(request.gates, kRequestGates, places);
  content->gates.insert(content->gates.end(), request.gates.begin(), request.gates.end());
  std::vector<std::shared_ptr<const Tile>> tiles;
  for (const ReadTile& tile : content->tiles) tiles.push_back(tile.tile);
  auto snapshot = NavMeshSnapshot::Assemble(content->info, std::move(tiles),
                                            std::make_shared<GateTable>(std::move(content->gates)),
                                            nullptr, next_stamp_, nullptr, &places);
  if (!snapshot.ok()) return Joined(std::move(violations), std::move(snapshot).failure());
  if (!violations.empty()) return std::move(violations).ToFailure(NavMeshReason::kInvalidArgument);
  const std::string manifest = MeshManifest::Of(**snapshot).Encode();
  const ContentDigest digest = DigestOf(manifest);

  auto entry = FindOrCreateEntry(request.navmesh_id);
  if (!entry.ok()) return std::move(entry).failure();
  MutexLock lock((*entry)->mutex);
  const auto state = (*entry)->state.Load();
  const VersionState* existing = state->Find(request.version);
  if (existing != nullptr) {
    if (existing->record->digest != digest) {
      return Fail(NavMeshReason::kVersionExists,
                  absl::StrCat("version ", request.version.value, " has other content: digest ",
                               existing->record->digest.ToHex(), ", not ", digest.ToHex()));
    }
    // A damaged version is repaired by publishing its content again.
    if (existing->record->snapshot != nullptr)
      return PublishResult{request.version, digest, state->epoch, true, {}};
  }
  auto record = std::make_shared<VersionRecord>();
  record->version = request.version;
  record->lineage = {next_lineage_.fetch_add(1, std::memory_order_relaxed)};
  record->digest = digest;
  record->snapshot = *snapshot;
  StoreBatch batch;
  const auto stored = TileDigests(*state, {});
  for (ReadTile& tile : content->tiles) {
    if (!stored.contains(tile.tile->digest))
      batch.Put(store_key::Tile((*entry)->id, tile.tile->digest), std::move(tile.stored));
  }
  batch.Put(store_key::Manifest((*entry)->id, request.version), manifest);
  VersionState added;
  added.record = std::move(record);
  added.defaults =
      existing != nullptr ? existing->defaults : std::make_shared<const StateOverlay>();
  ChangeRecord change;
  change.type = ChangeType::kPublished;
  return Add(**entry, std::move(added), std::move(change), std::move(batch), request.activate);
}

NavMeshResult<PublishResult> NavMeshRegistry::UpdateTiles(const UpdateTilesRequest& request) {
  MeshViolations violations = request.violations;
  if (auto violation = CheckName("request.navmesh_id", request.navmesh_id))
    violations.Add(violation->place, violation->description);
  if (request.version.value == 0) violations.Add("request.version", "must be >= 1");
  if (!request.mset.empty() && request.neutral != nullptr)
    violations.Add("request.content", "must be either a Detour file or a neutral mesh");
  Content content;
  if (!request.mset.empty() || request.neutral != nullptr) {
    auto read = ReadContent(request.mset, request.neutral, /*is_update=*/true);
    if (!read.ok()) return Joined(std::move(violations), std::move(read).failure());
    content = *std::move(read);
  }
  if (content.tiles.empty() && content.gates.empty() && request.removed_tiles.empty() &&
      request.removed_refs.empty() && request.gates.empty() && request.removed_gates.empty() &&
      violations.empty()) {
    violations.Add("request.content_bytes",
                   "required: no tile and no gate is added, replaced or removed");
  }
  // What is wrong with the request by itself goes before what is not there.
  const auto missing = [&](NavMeshFailure failure) {
    return violations.empty() ? std::move(failure)
                              : std::move(violations).ToFailure(NavMeshReason::kInvalidArgument);
  };
  const EntryPtr entry = FindEntry(request.navmesh_id);
  if (entry == nullptr) {
    return missing(
        Fail(NavMeshReason::kUnknownNavMesh,
             absl::StrCat("there is no navmesh '", std::string(request.navmesh_id), "'")));
  }
  MutexLock lock(entry->mutex);
  const auto state = entry->state.Load();
  NavMeshVersion base_version =
      request.base_version.value == 0 ? state->active : request.base_version;
  if (const VersionState* made = state->Find(request.version);
      made != nullptr && request.base_version.value == 0 && made->record->base_version.value != 0) {
    base_version = made->record->base_version;  // Sent again: what was active then is meant.
  }
  const VersionState* base = state->Find(base_version);
  if (base == nullptr) return missing(NoSuchVersion(entry->id, base_version));
  if (base->record->snapshot == nullptr)
    return Fail(NavMeshReason::kDamagedVersion, base->record->damage);
  const NavMeshSnapshot& before = *base->record->snapshot;
  if (!content.tiles.empty()) {
    if (std::string other = OtherMesh(before, content); !other.empty()) {
      violations.Add("request.content", std::move(other));
      return std::move(violations).ToFailure(NavMeshReason::kInvalidArgument);
    }
  }
  TileReplacement replacement(before);
  replacement.Remove(request, violations);
  std::vector<GateDefinition> gates = MergedGates(before, request, content.gates, violations);
  GatePlaces places;
  AddPlaces(content.gates, kContentGates, places);
  AddPlaces(request.gates, kRequestGates, places);
  places.of_base = kRequestGates;
  replacement.Put(content.tiles);
  // Tiles with larger coordinates than any before need the wider tolerance.
  MeshInfo info = before.info();
  info.tolerance = std::max(info.tolerance, content.info.tolerance);
  auto snapshot = NavMeshSnapshot::Assemble(info, replacement.tiles(),
                                            std::make_shared<GateTable>(std::move(gates)), &before,
                                            next_stamp_, nullptr, &places);
  MeshViolations reused;
  const std::vector<ContentRefs> refs = NewRefs(entry->refs, before, replacement, reused);
  if (!reused.empty() &&
      (snapshot.ok() || snapshot.failure().reason == NavMeshReason::kBrokenMesh)) {
    if (!snapshot.ok()) reused.AddAll(snapshot.failure(), "content");
    return Joined(std::move(violations), std::move(reused).ToFailure());
  }
  if (!snapshot.ok()) return Joined(std::move(violations), std::move(snapshot).failure());
  if (!violations.empty()) return std::move(violations).ToFailure(NavMeshReason::kInvalidArgument);
  const std::string manifest = MeshManifest::Of(**snapshot).Encode();
  const ContentDigest digest = DigestOf(manifest);
  if (const VersionState* existing = state->Find(request.version)) {
    if (existing->record->digest != digest) {
      return Fail(NavMeshReason::kVersionExists,
                  absl::StrCat("version ", request.version.value, " has other content: digest ",
                               existing->record->digest.ToHex(), ", not ", digest.ToHex()));
    }
    return PublishResult{request.version, digest, state->epoch, true, replacement.changed()};
  }
  auto record = std::make_shared<VersionRecord>();
  record->version = request.version;
  record->base_version = base_version;
  record->lineage = base->record->lineage;
  record->digest = digest;
  record->snapshot = *snapshot;
  StoreBatch batch;
  const auto stored = TileDigests(*state, {});
  for (ReadTile& tile : content.tiles) {
    if (!stored.contains(tile.tile->digest))
      batch.Put(store_key::Tile(entry->id, tile.tile->digest), std::move(tile.stored));
  }
  batch.Put(store_key::Manifest(entry->id, request.version), manifest);
  VersionState added;
  added.record = std::move(record);
  added.defaults = CarryOver(*base->defaults, **snapshot);
  ChangeRecord change;
  change.type = ChangeType::kTilesUpdated;
  change.base_version = base_version;
  change.replaced_tiles = replacement.changed();
  if (!refs.empty()) batch.Put(store_key::Refs(entry->id, state->next_sequence), EncodeRefs(refs));
  auto result =
      Add(*entry, std::move(added), std::move(change), std::move(batch), request.activate);
  if (!result.ok()) return result;
  for (const ContentRefs& content_refs : refs) entry->refs.Add(content_refs);
  return result;
}

NavMeshResult<PublishResult> NavMeshRegistry::Add(NavMeshEntry& entry, VersionState added,
                                                  ChangeRecord record, StoreBatch batch,
                                                  bool activate) {
  NavMeshState next = *entry.state.Load();
  const NavMeshVersion version = added.record->version;
  auto numbered = std::make_shared<VersionRecord>(*added.record);
  numbered->sequence = next.next_sequence++;
  added.record = numbered;
  added.state_id = NextStateId();
  added.changed = {next.epoch.value + 1};
  std::erase_if(next.versions, [&](const VersionState& v) { return v.record->version == version; });
  const auto at = std::find_if(next.versions.begin(), next.versions.end(),
                               [&](const VersionState& v) { return version < v.record->version; });
  next.versions.insert(at, added);
  batch.Put(store_key::Version(entry.id, version), EncodeVersionRow(added));

  record.version = version;
  PublishResult result{version, numbered->digest, {}, false, record.replaced_tiles};
  std::vector<ChangeRecord> records = {std::move(record)};
  if (activate) {
    next.active = version;
    ChangeRecord activated;
    activated.type = ChangeType::kActivated;
    activated.version = version;
    records.push_back(std::move(activated));
  }
  while (next.versions.size() > options_.max_versions ||
         BytesOf(next.versions) > options_.max_bytes) {
    const VersionState* oldest = OldestSpare(next, entry.worlds_on, version);
    if (oldest == nullptr) {
      return Fail(NavMeshReason::kLimitExceeded,
                  absl::StrCat("navmesh '", entry.id, "' would hold ", next.versions.size(),
                               " versions and ", BytesOf(next.versions), " bytes; the limits are ",
                               options_.max_versions, " and ", options_.max_bytes));
    }
    records.push_back(RemoveVersion(entry.id, oldest->record->version, next, batch));
  }
  auto epoch = Advance(entry, std::move(next), std::move(records), std::move(batch));
  if (!epoch.ok()) return std::move(epoch).failure();
  result.epoch = *epoch;
  return result;
}

}  // namespace arclane
