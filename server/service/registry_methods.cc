// SPDX-License-Identifier: Apache-2.0
#include "server/service/registry_methods.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/digest/digest.h"
#include "server/navmesh_codec/change_codec.h"
#include "server/navmesh_codec/description_codec.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/navmesh_codec/neutral_mesh_codec.h"
#include "server/service/registry_fields.h"

namespace arclane {
namespace {

constexpr std::string_view kNavMeshList = "navmeshes";

std::string WorldList(std::string_view navmesh_id) {
  return "worlds of " + std::string(navmesh_id);
}

// Routes with geometry of their own that name what has changed here go stale too.
void InvalidateStates(NavMeshBackend& backend, const std::string& navmesh_id,
                      const std::vector<StateChange>& changes) {
  std::vector<Dependency> things;
  for (const StateChange& change : changes) {
    // The numbers of the two enums are the same.
    things.push_back({static_cast<DependencyKind>(change.kind), change.id, kNoStamp});
  }
  backend.ledger().Invalidate(navmesh_id, things);
}

void InvalidateTiles(NavMeshBackend& backend, const std::string& navmesh_id,
                     const NavMeshView& base, const std::vector<TileCoordinates>& places) {
  std::vector<Dependency> things;
  for (const TileCoordinates& place : places) {
    const auto slot = base.snapshot().SlotAt(place);
    if (!slot) continue;
    things.push_back(
        {DependencyKind::kTile, base.snapshot().tile(*slot)->tile->ref.value, kNoStamp});
  }
  backend.ledger().Invalidate(navmesh_id, things);
}

// The whole content of a publication in its format. Neither when it cannot be read.
struct Content {
  std::string_view mset;
  std::optional<NeutralMesh> neutral;

  const NeutralMesh* neutral_or_null() const { return neutral ? &*neutral : nullptr; }
};

template <typename Header>
Content ReadContent(const Header& header, const std::string& bytes, MeshViolations& violations) {
  Content content;
  const ContentDigest digest = DigestOf(bytes);
  const bool is_whole = header.content_sha256() == digest.view();
  if (!is_whole) {
    violations.Add("header.content_sha256",
                   "is not the SHA-256 of the content, which is " + digest.ToHex());
  }
  switch (header.format()) {
    case v1::NAV_MESH_FORMAT_DETOUR_MSET:
      if (bytes.empty()) violations.Add("header.content_bytes", "required: there is no content");
      if (is_whole) content.mset = bytes;
      break;
    case v1::NAV_MESH_FORMAT_NEUTRAL: {
      if (!is_whole) break;
      v1::NeutralNavMesh message;
      if (message.ParseFromString(bytes)) {
        content.neutral = ReadNeutralMesh(message, violations);
      } else {
        violations.Add("content", "is no arclane.v1.NeutralNavMesh");
      }
      break;
    }
    default:
      violations.Add("header.format", absl::StrCat("must be DETOUR_MSET or NEUTRAL, got ",
                                                   static_cast<int>(header.format())));
  }
  return content;
}

// What belongs to the request of a publication stands in its header; the rest is its content.
Failure ToPublicationFailure(NavMeshFailure failure) {
  constexpr std::string_view kRequest = "request.";
  for (MeshViolation& violation : failure.violations) {
    if (violation.place.starts_with(kRequest))
      violation.place = absl::StrCat("header.", violation.place.substr(kRequest.size()));
  }
  return ToFailure(failure);
}

template <typename Response>
void EncodePublished(NavMeshBackend& backend, const std::string& navmesh_id,
                     const PublishResult& result, Response& response) {
  response.set_version(result.version.value);
  response.set_epoch(result.epoch.value);
  response.set_mesh_digest(std::string(result.digest.view()));
  response.set_already_published(result.already_published);
  // Another call may have retired or deleted the version since; its counts are then left out.
  const auto view = backend.registry().View(navmesh_id, result.version, "", NavMeshBackend::Now());
  if (!view.ok()) return;
  response.set_tile_count(view->snapshot().tile_count());
  response.set_polygon_count(view->snapshot().polygon_count());
  response.set_link_count(view->snapshot().CountLinks());
}

// Of calls that change one version as a whole.
template <typename Request, typename Response>
std::optional<Failure> ChangeVersion(
    NavMeshBackend& backend, const Request& request, Response& response,
    NavMeshResult<Epoch> (NavMeshRegistry::*change)(std::string_view, NavMeshVersion)) {
  if (auto refusal = RefuseChange(backend)) return refusal;
  if (auto failure = RegistryFields()
                         .Name("navmesh_id", request.navmesh_id())
                         .Version("version", request.version())
                         .ToFailure())
    return failure;
  const auto epoch =
      (backend.registry().*change)(request.navmesh_id(), NavMeshVersion{request.version()});
  if (!epoch.ok()) return ToFailure(epoch.failure());
  response.set_epoch(epoch->value);
  return std::nullopt;
}

// Of calls that change one world as a whole.
template <typename Request>
std::optional<Failure> CheckWorldChange(const NavMeshBackend& backend, const Request& request) {
  if (auto refusal = RefuseChange(backend)) return refusal;
  return RegistryFields()
      .Name("navmesh_id", request.navmesh_id())
      .Name("world_id", request.world_id())
      .ToFailure();
}

}  // namespace

std::optional<Failure> RefuseChange(const NavMeshBackend& backend) {
  if (!backend.read_only()) return std::nullopt;
  Failure failure;
  failure.own_reason = "READ_ONLY";
  failure.own_code = absl::StatusCode::kFailedPrecondition;
  failure.message =
      "this server is read_only: it serves the navmeshes that it was started with, and a change "
      "here would not reach its replicas";
  return failure;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::ApplyChangesRequest& request,
                                          v1::ApplyChangesResponse& response) {
  if (auto refusal = RefuseChange(backend)) return refusal;
  MeshViolations violations;
  const auto name = [&](const char* field, const std::string& value, bool required) {
    if (!required && value.empty()) return;
    if (auto violation = CheckName(field, value))
      violations.Add(violation->place, violation->description);
  };
  name("navmesh_id", request.navmesh_id(), true);
  name("world_id", request.world_id(), false);
  name("request_id", request.request_id(), false);
  ApplyRequest apply;
  apply.navmesh_id = request.navmesh_id();
  apply.version = {request.version()};
  apply.world_id = request.world_id();
  apply.request_id = request.request_id();
  if (request.has_expected_epoch()) apply.expected_epoch = Epoch{request.expected_epoch()};
  apply.changes = ReadStateChanges(request.changes(), "changes", violations);
  if (apply.changes.empty() && request.changes().area_costs().empty())
    violations.Add("changes", "required: at least one change");
  apply.place_of = [&](size_t i) {
    return StateChangePath(request.changes(), "changes", i, "area_costs");
  };
  apply.violations = std::move(violations);
  const auto result = backend.registry().ApplyChanges(apply, NavMeshBackend::Now());
  if (!result.ok()) return ToFailure(result.failure());
  if (!result->replayed) InvalidateStates(backend, request.navmesh_id(), apply.changes);
  response.set_version(result->version.value);
  response.set_epoch(result->epoch.value);
  response.set_replayed(result->replayed);
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::ActivateNavMeshRequest& request,
                                          v1::ActivateNavMeshResponse& response) {
  return ChangeVersion(backend, request, response, &NavMeshRegistry::Activate);
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::RetireNavMeshRequest& request,
                                          v1::RetireNavMeshResponse& response) {
  return ChangeVersion(backend, request, response, &NavMeshRegistry::Retire);
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::DeleteNavMeshRequest& request,
                                          v1::DeleteNavMeshResponse& response) {
  return ChangeVersion(backend, request, response, &NavMeshRegistry::Delete);
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::GetNavMeshRequest& request,
                                          v1::GetNavMeshResponse& response) {
  if (auto failure = RegistryFields().Name("navmesh_id", request.navmesh_id()).ToFailure())
    return failure;
  const auto description = backend.registry().Get(request.navmesh_id());
  if (!description.ok()) return ToFailure(description.failure());
  EncodeNavMesh(*description, response.mutable_navmesh());
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::ListNavMeshesRequest& request,
                                          v1::ListNavMeshesResponse& response) {
  std::string after;
  if (auto failure = RegistryFields()
                         .PageSize(request.page_size())
                         .PageToken(kNavMeshList, request.page_token(), &after)
                         .ToFailure())
    return failure;
  const NavMeshPage page = backend.registry().List(PageSizeOf(request.page_size()), after);
  for (const NavMeshDescription& description : page.navmeshes)
    EncodeNavMesh(description, response.add_navmeshes());
  response.set_next_page_token(PageTokenAfter(kNavMeshList, page.next_page_token));
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::CreateWorldRequest& request,
                                          v1::CreateWorldResponse& response) {
  if (auto failure = CheckWorldChange(backend, request)) return failure;
  const auto world = backend.registry().CreateWorld(request.navmesh_id(), request.world_id(),
                                                    {request.version()}, NavMeshBackend::Now());
  if (!world.ok()) return ToFailure(world.failure());
  EncodeWorld(*world, response.mutable_world());
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::MoveWorldRequest& request,
                                          v1::MoveWorldResponse& response) {
  if (auto failure = CheckWorldChange(backend, request)) return failure;
  const auto world =
      backend.registry().MoveWorld(request.navmesh_id(), request.world_id(), {request.version()});
  if (!world.ok()) return ToFailure(world.failure());
  EncodeWorld(*world, response.mutable_world());
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::ListWorldsRequest& request,
                                          v1::ListWorldsResponse& response) {
  std::string after;
  if (auto failure = RegistryFields()
                         .Name("navmesh_id", request.navmesh_id())
                         .PageSize(request.page_size())
                         .PageToken(WorldList(request.navmesh_id()), request.page_token(), &after)
                         .ToFailure())
    return failure;
  // A navmesh that is not there is told apart from one without worlds.
  if (const auto navmesh = backend.registry().Get(request.navmesh_id()); !navmesh.ok())
    return ToFailure(navmesh.failure());
  const WorldPage page =
      backend.registry().ListWorlds(request.navmesh_id(), PageSizeOf(request.page_size()), after);
  for (const WorldDescription& world : page.worlds) EncodeWorld(world, response.add_worlds());
  response.set_next_page_token(
      PageTokenAfter(WorldList(request.navmesh_id()), page.next_page_token));
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::DeleteWorldRequest& request,
                                          v1::DeleteWorldResponse& response) {
  if (auto failure = CheckWorldChange(backend, request)) return failure;
  const auto epoch = backend.registry().DeleteWorld(request.navmesh_id(), request.world_id());
  if (!epoch.ok()) return ToFailure(epoch.failure());
  response.set_epoch(epoch->value);
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::InvalidateNavMeshRequest& request,
                                          v1::InvalidateNavMeshResponse&) {
  if (auto refusal = RefuseChange(backend)) return refusal;
  if (auto failure = RegistryFields().Name("navmesh_id", request.navmesh_id()).ToFailure())
    return failure;
  const std::vector<Dependency> changed = ReadReadSet(request.changed());
  if (changed.empty()) {
    backend.ledger().InvalidateAll(request.navmesh_id());
  } else {
    backend.ledger().Invalidate(request.navmesh_id(), changed);
  }
  return std::nullopt;
}

std::optional<Failure> AnswerPublication(NavMeshBackend& backend,
                                         const v1::PublishNavMeshHeader& header,
                                         const std::string& bytes,
                                         v1::PublishNavMeshResponse& response) {
  MeshViolations violations;
  const Content content = ReadContent(header, bytes, violations);
  PublishRequest publish;
  publish.navmesh_id = header.navmesh_id();
  publish.version = {header.version()};
  publish.mset = content.mset;
  publish.neutral = content.neutral_or_null();
  publish.gates = ReadGates(header.gates(), "header.gates", violations);
  if (header.has_baked_radius()) publish.baked_radius = header.baked_radius();
  publish.activate = !header.inactive();
  publish.violations = std::move(violations);
  const auto result = backend.registry().Publish(publish);
  if (!result.ok()) return ToPublicationFailure(result.failure());
  EncodePublished(backend, header.navmesh_id(), *result, response);
  return std::nullopt;
}

std::optional<Failure> AnswerPublication(NavMeshBackend& backend,
                                         const v1::UpdateTilesHeader& header,
                                         const std::string& bytes,
                                         v1::UpdateTilesResponse& response) {
  MeshViolations violations;
  Content content;
  if (header.content_bytes() > 0) content = ReadContent(header, bytes, violations);
  UpdateTilesRequest update;
  update.navmesh_id = header.navmesh_id();
  update.base_version = {header.base_version()};
  update.version = {header.version()};
  update.mset = content.mset;
  update.neutral = content.neutral_or_null();
  update.removed_tiles = ReadTilePlaces(header.removed_tiles(), "header.removed_tiles", violations);
  for (const uint64_t ref : header.removed_tile_refs()) update.removed_refs.push_back({ref});
  update.gates = ReadGates(header.gates(), "header.gates", violations);
  for (const uint64_t gate : header.removed_gates()) update.removed_gates.push_back({gate});
  update.activate = !header.inactive();
  update.violations = std::move(violations);
  // The base as it is before: its refs of the replaced tiles are what callers know them by.
  const auto base =
      backend.registry().View(header.navmesh_id(), update.base_version, "", NavMeshBackend::Now());
  const auto result = backend.registry().UpdateTiles(update);
  if (!result.ok()) return ToPublicationFailure(result.failure());
  if (!base.ok()) {
    backend.ledger().InvalidateAll(header.navmesh_id());
  } else if (!result->already_published) {
    InvalidateTiles(backend, header.navmesh_id(), *base, result->replaced_tiles);
  }
  EncodePublished(backend, header.navmesh_id(), *result, response);
  EncodeTilePlaces(result->replaced_tiles, response.mutable_replaced_tiles());
  return std::nullopt;
}

}  // namespace arclane
