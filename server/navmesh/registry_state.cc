// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/registry_state.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/navmesh/byte_stream.h"

namespace arclane {
namespace {

// Ascending numbers have ascending keys.
void AppendBigEndian(std::string& key, uint64_t v) {
  for (int shift = 56; shift >= 0; shift -= 8) key += static_cast<char>(v >> shift);
}

std::string Key(char kind, std::string_view id) {
  std::string key(1, kind);
  key.append(id);
  key += '\0';
  return key;
}

}  // namespace

const VersionState* NavMeshState::Find(NavMeshVersion version) const {
  const auto it = std::lower_bound(versions.begin(), versions.end(), version,
                                   [](const VersionState& state, NavMeshVersion wanted) {
                                     return state.record->version < wanted;
                                   });
  return it != versions.end() && it->record->version == version ? &*it : nullptr;
}

VersionState* NavMeshState::Find(NavMeshVersion version) {
  return const_cast<VersionState*>(static_cast<const NavMeshState*>(this)->Find(version));
}

WorldDescription Describe(World& world) {
  MutexLock lock(world.mutex);
  WorldDescription description{world.navmesh->id, world.id, world.version, world.epoch, {}};
  if (world.overlay != nullptr) description.states = world.overlay->Changes();
  return description;
}

size_t BytesOf(const std::vector<VersionState>& versions) {
  absl::flat_hash_set<const void*> seen;
  size_t bytes = 0;
  for (const VersionState& version : versions) {
    bytes += version.defaults->ByteSize();
    const NavMeshSnapshot* snapshot = version.record->snapshot.get();
    if (snapshot == nullptr || !seen.insert(snapshot).second) continue;
    bytes += sizeof(NavMeshSnapshot) + snapshot->slot_count() * 6 * sizeof(void*);
    if (seen.insert(&snapshot->gates()).second) bytes += snapshot->gates().ByteSize();
    for (uint32_t slot = 0; slot < snapshot->slot_count(); ++slot) {
      const LinkedTile* tile = snapshot->tile(slot);
      if (tile == nullptr) continue;
      if (seen.insert(tile).second) bytes += tile->ByteSize();
      if (seen.insert(tile->tile.get()).second) bytes += tile->tile->ByteSize();
    }
  }
  return bytes;
}

NavMeshDescription Describe(const NavMeshEntry& entry, const NavMeshState& state,
                            const std::map<NavMeshVersion, size_t>& worlds_on) {
  NavMeshDescription description;
  description.navmesh_id = entry.id;
  description.epoch = state.epoch;
  description.active = state.active;
  description.bytes = BytesOf(state.versions);
  for (const VersionState& version : state.versions) {
    const VersionRecord& record = *version.record;
    VersionDescription row;
    row.version = record.version;
    row.base_version = record.base_version;
    row.lineage = record.lineage;
    row.digest = record.digest;
    row.active = record.version == state.active;
    row.retired = version.retired;
    row.damage = record.damage;
    if (record.snapshot != nullptr) {
      row.tile_count = record.snapshot->tile_count();
      row.polygon_count = record.snapshot->polygon_count();
      row.bytes = record.snapshot->ByteSize();
    }
    if (const auto it = worlds_on.find(record.version); it != worlds_on.end())
      row.world_count = it->second;
    row.states = version.defaults->Changes();
    description.versions.push_back(std::move(row));
  }
  return description;
}

std::optional<MeshViolation> CheckName(const char* field, std::string_view name) {
  if (!name.empty() && name.size() <= kMaxNameBytes && name.find('\0') == std::string_view::npos)
    return std::nullopt;
  return MeshViolation{field,
                       absl::StrCat("required: 1 to ", kMaxNameBytes, " bytes, none of them NUL")};
}

NavMeshFailure Fail(NavMeshReason reason, std::string message) {
  return {reason, std::move(message), {}, 0, {}};
}

NavMeshFailure NoSuchVersion(std::string_view navmesh_id, NavMeshVersion version) {
  const std::string navmesh = absl::StrCat("navmesh '", std::string(navmesh_id), "' has no ");
  if (version.value == 0) return Fail(NavMeshReason::kNoActiveVersion, navmesh + "active version");
  NavMeshFailure failure =
      Fail(NavMeshReason::kUnknownVersion, absl::StrCat(navmesh, "version ", version.value));
  failure.metadata.emplace_back("version", absl::StrCat(version.value));
  return failure;
}

NavMeshFailure OtherVersion(std::string_view world_id, NavMeshVersion stands_on,
                            NavMeshVersion asked) {
  MeshViolations violations;
  violations.Add("world_id", absl::StrCat("world '", std::string(world_id), "' stands on version ",
                                          stands_on.value, ", not ", asked.value));
  return std::move(violations).ToFailure(NavMeshReason::kInvalidArgument);
}

MeshViolations CheckChanges(const NavMeshSnapshot& snapshot,
                            const std::vector<StateChange>& changes, size_t max_changes,
                            const std::function<std::string(size_t)>& place_of) {
  MeshViolations violations;
  if (changes.empty()) violations.Add("changes", "there are none");
  if (changes.size() > max_changes) {
    violations.Add("changes", absl::StrCat(changes.size(), " exceed the limit of ", max_changes));
    return violations;
  }
  for (size_t i = 0; i < changes.size(); ++i) {
    const StateChange& change = changes[i];
    const auto add = [&](std::string description) {
      violations.Add(place_of ? place_of(i) : absl::StrCat("changes[", i, "]"),
                     std::move(description));
    };
    switch (change.kind) {
      case StateChange::Kind::kGate:
        if (snapshot.gates().Find(GateId{change.id}) == nullptr) {
          add(absl::StrCat("there is no gate ", change.id));
        }
        break;
      case StateChange::Kind::kLink: {
        const auto at = snapshot.Find(PolygonRef{change.id});
        if (!at)
          add(snapshot.Explain(PolygonRef{change.id}, "link").violations[0].description);
        else if (!snapshot.is_link(*at))
          add(absl::StrCat("polygon ", change.id, " is no link"));
        break;
      }
      case StateChange::Kind::kAreaCost:
        if (!(std::isfinite(change.cost) && change.cost > 0)) add("a cost must be > 0 and finite");
        break;
      default:
        add("is no kind of change");
    }
  }
  return violations;
}

namespace store_key {

std::string NavMesh(std::string_view id) { return Key(kNavMesh, id); }
std::string Version(std::string_view id, NavMeshVersion version) {
  std::string key = Key(kVersion, id);
  AppendBigEndian(key, version.value);
  return key;
}
std::string Manifest(std::string_view id, NavMeshVersion version) {
  std::string key = Key(kManifest, id);
  AppendBigEndian(key, version.value);
  return key;
}
std::string Tile(std::string_view id, const ContentDigest& digest) {
  std::string key = Key(kTile, id);
  key.append(digest.view());
  return key;
}
std::string World(std::string_view id, std::string_view world) {
  std::string key = Key(kWorld, id);
  key.append(world);
  return key;
}
std::string Change(std::string_view id, std::string_view world, Epoch epoch) {
  std::string key = Key(kChange, id);
  key.append(world);
  key += '\0';
  AppendBigEndian(key, epoch.value);
  return key;
}
std::string Life(std::string_view id, std::string_view world) {
  std::string key = Key(kLife, id);
  key.append(world);
  return key;
}

std::string Refs(std::string_view id, uint64_t sequence) {
  std::string key = Key(kRefs, id);
  AppendBigEndian(key, sequence);
  return key;
}

}  // namespace store_key

std::string EncodeNavMeshRow(const NavMeshState& state) {
  ByteWriter writer;
  writer.Write(state.epoch.value);
  writer.Write(state.active.value);
  writer.Write(state.next_sequence);
  writer.Write(state.world_serial);
  return std::move(writer).Take();
}

bool DecodeNavMeshRow(std::string_view bytes, NavMeshState& state) {
  ByteReader reader(bytes);
  state.epoch.value = reader.Read<uint64_t>();
  state.active.value = reader.Read<uint64_t>();
  state.next_sequence = reader.Read<uint64_t>();
  state.world_serial = reader.Read<uint64_t>();
  return reader.finished();
}

std::string EncodeVersionRow(const VersionState& version) {
  const VersionRecord& record = *version.record;
  ByteWriter writer;
  writer.Write(record.version.value);
  writer.Write(record.base_version.value);
  writer.Write(record.lineage.value);
  writer.Write(record.sequence);
  writer.Bytes(record.digest.view());
  writer.Write<uint8_t>(version.retired);
  writer.Write(version.changed.value);
  writer.LengthPrefixed(EncodeChanges(version.defaults->Changes()));
  return std::move(writer).Take();
}

bool DecodeVersionRow(std::string_view bytes, VersionRecord& record, VersionState& version) {
  ByteReader reader(bytes);
  record.version.value = reader.Read<uint64_t>();
  record.base_version.value = reader.Read<uint64_t>();
  record.lineage.value = reader.Read<uint64_t>();
  record.sequence = reader.Read<uint64_t>();
  const std::string_view digest = reader.Bytes(32);
  if (digest.size() == 32) std::copy(digest.begin(), digest.end(), record.digest.bytes.begin());
  version.retired = reader.Read<uint8_t>() != 0;
  version.changed.value = reader.Read<uint64_t>();
  const auto changes = DecodeChanges(reader.LengthPrefixed());
  if (!changes || !reader.finished()) return false;
  version.defaults = StateOverlay().With(*changes);
  return true;
}

std::string EncodeWorldRow(const WorldRow& row) {
  ByteWriter writer;
  writer.Write(row.version.value);
  writer.Write(row.epoch.value);
  writer.LengthPrefixed(EncodeChanges(row.states));
  return std::move(writer).Take();
}

bool DecodeWorldRow(std::string_view bytes, WorldRow& row) {
  ByteReader reader(bytes);
  row.version.value = reader.Read<uint64_t>();
  row.epoch.value = reader.Read<uint64_t>();
  auto changes = DecodeChanges(reader.LengthPrefixed());
  if (!changes || !reader.finished()) return false;
  row.states = std::move(*changes);
  return true;
}

std::string EncodeLifeRow(LifeToken life) {
  ByteWriter writer;
  writer.Write(life.value);
  return std::move(writer).Take();
}

LifeToken DecodeLifeRow(std::string_view bytes) {
  ByteReader reader(bytes);
  const LifeToken life{reader.Read<uint64_t>()};
  return reader.finished() ? life : LifeToken{};
}

}  // namespace arclane
