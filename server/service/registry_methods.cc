// SPDX-License-Identifier: Apache-2.0
#include "server/service/registry_methods.h"

#include <utility>
#include <vector>

#include "server/digest/digest.h"
#include "server/navmesh_codec/change_codec.h"
#include "server/navmesh_codec/description_codec.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/navmesh_codec/neutral_mesh_codec.h"

namespace arclane {
namespace {

constexpr uint32_t kDefaultPageSize = 100;

size_t PageSize(uint32_t asked) { return asked == 0 ? kDefaultPageSize : asked; }

Failure Invalid(MeshViolations violations) {
  return ToFailure(std::move(violations).ToFailure(NavMeshReason::kInvalidArgument));
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

// The whole content of a publication in its format.
struct Content {
  std::string_view mset;
  std::optional<NeutralMesh> neutral;

  const NeutralMesh* neutral_or_null() const { return neutral ? &*neutral : nullptr; }
};

template <typename Header>
std::optional<Failure> ReadContent(const Header& header, const std::string& bytes,
                                   Content& content) {
  const ContentDigest digest = DigestOf(bytes);
  if (header.content_sha256() != digest.view()) {
    return InvalidField("header.content_sha256",
                        "is not the SHA-256 of the content, which is " + digest.ToHex());
  }
  switch (header.format()) {
    case v1::NAV_MESH_FORMAT_DETOUR_MSET:
      content.mset = bytes;
      return std::nullopt;
    case v1::NAV_MESH_FORMAT_NEUTRAL: {
      v1::NeutralNavMesh message;
      if (!message.ParseFromString(bytes)) {
        NavMeshFailure failure;
        failure.reason = NavMeshReason::kMalformed;
        failure.message = "the content is no arclane.v1.NeutralNavMesh";
        return ToFailure(failure);
      }
      auto mesh = ReadNeutralMesh(message);
      if (!mesh.ok()) return ToFailure(mesh.failure());
      content.neutral = *std::move(mesh);
      return std::nullopt;
    }
    default:
      return InvalidField("header.format",
                          "must be DETOUR_MSET or NEUTRAL, got " + std::to_string(header.format()));
  }
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
  ApplyRequest apply;
  apply.navmesh_id = request.navmesh_id();
  apply.version = {request.version()};
  apply.world_id = request.world_id();
  apply.request_id = request.request_id();
  if (request.has_expected_epoch()) apply.expected_epoch = Epoch{request.expected_epoch()};
  apply.changes = ReadStateChanges(request.changes(), "changes", violations);
  if (violations.empty() && apply.changes.empty())
    violations.Add("changes", "required: at least one change");
  if (!violations.empty()) return Invalid(std::move(violations));
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
  if (auto refusal = RefuseChange(backend)) return refusal;
  const auto epoch = backend.registry().Activate(request.navmesh_id(), {request.version()});
  if (!epoch.ok()) return ToFailure(epoch.failure());
  response.set_epoch(epoch->value);
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::RetireNavMeshRequest& request,
                                          v1::RetireNavMeshResponse& response) {
  if (auto refusal = RefuseChange(backend)) return refusal;
  const auto epoch = backend.registry().Retire(request.navmesh_id(), {request.version()});
  if (!epoch.ok()) return ToFailure(epoch.failure());
  response.set_epoch(epoch->value);
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::DeleteNavMeshRequest& request,
                                          v1::DeleteNavMeshResponse& response) {
  if (auto refusal = RefuseChange(backend)) return refusal;
  const auto epoch = backend.registry().Delete(request.navmesh_id(), {request.version()});
  if (!epoch.ok()) return ToFailure(epoch.failure());
  response.set_epoch(epoch->value);
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::GetNavMeshRequest& request,
                                          v1::GetNavMeshResponse& response) {
  const auto description = backend.registry().Get(request.navmesh_id());
  if (!description.ok()) return ToFailure(description.failure());
  EncodeNavMesh(*description, response.mutable_navmesh());
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::ListNavMeshesRequest& request,
                                          v1::ListNavMeshesResponse& response) {
  const NavMeshPage page =
      backend.registry().List(PageSize(request.page_size()), request.page_token());
  for (const NavMeshDescription& description : page.navmeshes)
    EncodeNavMesh(description, response.add_navmeshes());
  response.set_next_page_token(page.next_page_token);
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::CreateWorldRequest& request,
                                          v1::CreateWorldResponse& response) {
  if (auto refusal = RefuseChange(backend)) return refusal;
  const auto world = backend.registry().CreateWorld(request.navmesh_id(), request.world_id(),
                                                    {request.version()}, NavMeshBackend::Now());
  if (!world.ok()) return ToFailure(world.failure());
  EncodeWorld(*world, response.mutable_world());
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::MoveWorldRequest& request,
                                          v1::MoveWorldResponse& response) {
  if (auto refusal = RefuseChange(backend)) return refusal;
  const auto world =
      backend.registry().MoveWorld(request.navmesh_id(), request.world_id(), {request.version()});
  if (!world.ok()) return ToFailure(world.failure());
  EncodeWorld(*world, response.mutable_world());
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::ListWorldsRequest& request,
                                          v1::ListWorldsResponse& response) {
  // A navmesh that is not there is told apart from one without worlds.
  if (const auto navmesh = backend.registry().Get(request.navmesh_id()); !navmesh.ok())
    return ToFailure(navmesh.failure());
  const WorldPage page = backend.registry().ListWorlds(
      request.navmesh_id(), PageSize(request.page_size()), request.page_token());
  for (const WorldDescription& world : page.worlds) EncodeWorld(world, response.add_worlds());
  response.set_next_page_token(page.next_page_token);
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::DeleteWorldRequest& request,
                                          v1::DeleteWorldResponse& response) {
  if (auto refusal = RefuseChange(backend)) return refusal;
  const auto epoch = backend.registry().DeleteWorld(request.navmesh_id(), request.world_id());
  if (!epoch.ok()) return ToFailure(epoch.failure());
  response.set_epoch(epoch->value);
  return std::nullopt;
}

std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::InvalidateNavMeshRequest& request,
                                          v1::InvalidateNavMeshResponse&) {
  if (auto refusal = RefuseChange(backend)) return refusal;
  if (request.navmesh_id().empty() || request.navmesh_id().size() > kMaxNameBytes) {
    return InvalidField("navmesh_id",
                        "required: a name of 1 to " + std::to_string(kMaxNameBytes) + " bytes");
  }
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
  Content content;
  if (auto failure = ReadContent(header, bytes, content)) return failure;
  MeshViolations violations;
  PublishRequest publish;
  publish.navmesh_id = header.navmesh_id();
  publish.version = {header.version()};
  publish.mset = content.mset;
  publish.neutral = content.neutral_or_null();
  publish.gates = ReadGates(header.gates(), "header.gates", violations);
  if (header.has_baked_radius()) publish.baked_radius = header.baked_radius();
  publish.activate = !header.inactive();
  if (!violations.empty()) return Invalid(std::move(violations));
  const auto result = backend.registry().Publish(publish);
  if (!result.ok()) return ToFailure(result.failure());
  EncodePublished(backend, header.navmesh_id(), *result, response);
  return std::nullopt;
}

std::optional<Failure> AnswerPublication(NavMeshBackend& backend,
                                         const v1::UpdateTilesHeader& header,
                                         const std::string& bytes,
                                         v1::UpdateTilesResponse& response) {
  Content content;
  if (header.content_bytes() > 0) {
    if (auto failure = ReadContent(header, bytes, content)) return failure;
  }
  MeshViolations violations;
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
  if (!violations.empty()) return Invalid(std::move(violations));
  // The base as it is before: its refs of the replaced tiles are what callers know them by.
  const auto base =
      backend.registry().View(header.navmesh_id(), update.base_version, "", NavMeshBackend::Now());
  const auto result = backend.registry().UpdateTiles(update);
  if (!result.ok()) return ToFailure(result.failure());
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
