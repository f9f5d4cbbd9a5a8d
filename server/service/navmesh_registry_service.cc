// SPDX-License-Identifier: Apache-2.0
#include "server/service/navmesh_registry_service.h"

#include "server/service/content_stream.h"
#include "server/service/publication_stream.h"
#include "server/service/registry_call.h"
#include "server/service/watch_navmesh_stream.h"
#include "server/service/watch_routes_stream.h"

namespace arclane {

grpc::ServerReadReactor<grpc::ByteBuffer>* NavMeshRegistryService::PublishNavMesh(Context* context,
                                                                                  Bytes* response) {
  using Stream = PublicationStreamOf<v1::PublishNavMeshRequest, v1::PublishNavMeshHeader,
                                     v1::PublishNavMeshResponse>;
  return Stream::Start(environment_, MethodId::kPublishNavMesh, *context, *response);
}

grpc::ServerReadReactor<grpc::ByteBuffer>* NavMeshRegistryService::UpdateTiles(Context* context,
                                                                               Bytes* response) {
  using Stream =
      PublicationStreamOf<v1::UpdateTilesRequest, v1::UpdateTilesHeader, v1::UpdateTilesResponse>;
  return Stream::Start(environment_, MethodId::kUpdateTiles, *context, *response);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* NavMeshRegistryService::ReadNavMesh(
    Context* context, const Bytes* request) {
  return StartContentStream(environment_, *context, *request);
}

grpc::ServerUnaryReactor* NavMeshRegistryService::ApplyChanges(Context* context,
                                                               const Bytes* request,
                                                               Bytes* response) {
  using Call = RegistryCallOf<v1::ApplyChangesRequest, v1::ApplyChangesResponse>;
  return Call::Start(environment_, MethodId::kApplyChanges, *context, *request, *response);
}

grpc::ServerUnaryReactor* NavMeshRegistryService::ActivateNavMesh(Context* context,
                                                                  const Bytes* request,
                                                                  Bytes* response) {
  using Call = RegistryCallOf<v1::ActivateNavMeshRequest, v1::ActivateNavMeshResponse>;
  return Call::Start(environment_, MethodId::kActivateNavMesh, *context, *request, *response);
}

grpc::ServerUnaryReactor* NavMeshRegistryService::RetireNavMesh(Context* context,
                                                                const Bytes* request,
                                                                Bytes* response) {
  using Call = RegistryCallOf<v1::RetireNavMeshRequest, v1::RetireNavMeshResponse>;
  return Call::Start(environment_, MethodId::kRetireNavMesh, *context, *request, *response);
}

grpc::ServerUnaryReactor* NavMeshRegistryService::DeleteNavMesh(Context* context,
                                                                const Bytes* request,
                                                                Bytes* response) {
  using Call = RegistryCallOf<v1::DeleteNavMeshRequest, v1::DeleteNavMeshResponse>;
  return Call::Start(environment_, MethodId::kDeleteNavMesh, *context, *request, *response);
}

grpc::ServerUnaryReactor* NavMeshRegistryService::GetNavMesh(Context* context, const Bytes* request,
                                                             Bytes* response) {
  using Call = RegistryCallOf<v1::GetNavMeshRequest, v1::GetNavMeshResponse>;
  return Call::Start(environment_, MethodId::kGetNavMesh, *context, *request, *response);
}

grpc::ServerUnaryReactor* NavMeshRegistryService::ListNavMeshes(Context* context,
                                                                const Bytes* request,
                                                                Bytes* response) {
  using Call = RegistryCallOf<v1::ListNavMeshesRequest, v1::ListNavMeshesResponse>;
  return Call::Start(environment_, MethodId::kListNavMeshes, *context, *request, *response);
}

grpc::ServerUnaryReactor* NavMeshRegistryService::CreateWorld(Context* context,
                                                              const Bytes* request,
                                                              Bytes* response) {
  using Call = RegistryCallOf<v1::CreateWorldRequest, v1::CreateWorldResponse>;
  return Call::Start(environment_, MethodId::kCreateWorld, *context, *request, *response);
}

grpc::ServerUnaryReactor* NavMeshRegistryService::MoveWorld(Context* context, const Bytes* request,
                                                            Bytes* response) {
  using Call = RegistryCallOf<v1::MoveWorldRequest, v1::MoveWorldResponse>;
  return Call::Start(environment_, MethodId::kMoveWorld, *context, *request, *response);
}

grpc::ServerUnaryReactor* NavMeshRegistryService::ListWorlds(Context* context, const Bytes* request,
                                                             Bytes* response) {
  using Call = RegistryCallOf<v1::ListWorldsRequest, v1::ListWorldsResponse>;
  return Call::Start(environment_, MethodId::kListWorlds, *context, *request, *response);
}

grpc::ServerUnaryReactor* NavMeshRegistryService::DeleteWorld(Context* context,
                                                              const Bytes* request,
                                                              Bytes* response) {
  using Call = RegistryCallOf<v1::DeleteWorldRequest, v1::DeleteWorldResponse>;
  return Call::Start(environment_, MethodId::kDeleteWorld, *context, *request, *response);
}

grpc::ServerUnaryReactor* NavMeshRegistryService::InvalidateNavMesh(Context* context,
                                                                    const Bytes* request,
                                                                    Bytes* response) {
  using Call = RegistryCallOf<v1::InvalidateNavMeshRequest, v1::InvalidateNavMeshResponse>;
  return Call::Start(environment_, MethodId::kInvalidateNavMesh, *context, *request, *response);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* NavMeshRegistryService::WatchNavMesh(
    Context* context, const Bytes* request) {
  return StartWatchNavMeshStream(environment_, *context, *request);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* NavMeshRegistryService::WatchRoutes(
    Context* context) {
  return StartWatchRoutesStream(environment_, *context);
}

}  // namespace arclane
