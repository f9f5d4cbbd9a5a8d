// SPDX-License-Identifier: Apache-2.0
// arclane.v1.NavMeshRegistry by gRPC's callback API, on raw bytes.
#ifndef ARCLANE_SERVER_SERVICE_NAVMESH_REGISTRY_SERVICE_H_
#define ARCLANE_SERVER_SERVICE_NAVMESH_REGISTRY_SERVICE_H_

#include "arclane/v1/navmesh.grpc.pb.h"
#include "server/service/service_environment.h"

namespace arclane {

template <typename Base>
using RawUnaryNavMeshMethods = v1::NavMeshRegistry::WithRawCallbackMethod_ApplyChanges<
    v1::NavMeshRegistry::WithRawCallbackMethod_ActivateNavMesh<
        v1::NavMeshRegistry::WithRawCallbackMethod_RetireNavMesh<
            v1::NavMeshRegistry::WithRawCallbackMethod_DeleteNavMesh<
                v1::NavMeshRegistry::WithRawCallbackMethod_GetNavMesh<
                    v1::NavMeshRegistry::WithRawCallbackMethod_ListNavMeshes<
                        v1::NavMeshRegistry::WithRawCallbackMethod_CreateWorld<
                            v1::NavMeshRegistry::WithRawCallbackMethod_MoveWorld<
                                v1::NavMeshRegistry::WithRawCallbackMethod_ListWorlds<
                                    v1::NavMeshRegistry::WithRawCallbackMethod_DeleteWorld<
                                        v1::NavMeshRegistry::
                                            WithRawCallbackMethod_InvalidateNavMesh<Base>>>>>>>>>>>;
using NavMeshRegistryMethods =
    RawUnaryNavMeshMethods<v1::NavMeshRegistry::WithRawCallbackMethod_PublishNavMesh<
        v1::NavMeshRegistry::WithRawCallbackMethod_UpdateTiles<
            v1::NavMeshRegistry::WithRawCallbackMethod_ReadNavMesh<
                v1::NavMeshRegistry::WithRawCallbackMethod_WatchNavMesh<
                    v1::NavMeshRegistry::WithRawCallbackMethod_WatchRoutes<
                        v1::NavMeshRegistry::Service>>>>>>;

// `environment.navmeshes` must be set.
class NavMeshRegistryService final : public NavMeshRegistryMethods {
 public:
  explicit NavMeshRegistryService(ServiceEnvironment environment) : environment_(environment) {}

  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;
  grpc::ServerReadReactor<Bytes>* PublishNavMesh(Context* context, Bytes* response) override;
  grpc::ServerReadReactor<Bytes>* UpdateTiles(Context* context, Bytes* response) override;
  grpc::ServerUnaryReactor* ApplyChanges(Context* context, const Bytes* request,
                                         Bytes* response) override;
  grpc::ServerUnaryReactor* ActivateNavMesh(Context* context, const Bytes* request,
                                            Bytes* response) override;
  grpc::ServerUnaryReactor* RetireNavMesh(Context* context, const Bytes* request,
                                          Bytes* response) override;
  grpc::ServerUnaryReactor* DeleteNavMesh(Context* context, const Bytes* request,
                                          Bytes* response) override;
  grpc::ServerUnaryReactor* GetNavMesh(Context* context, const Bytes* request,
                                       Bytes* response) override;
  grpc::ServerUnaryReactor* ListNavMeshes(Context* context, const Bytes* request,
                                          Bytes* response) override;
  grpc::ServerWriteReactor<Bytes>* ReadNavMesh(Context* context, const Bytes* request) override;
  grpc::ServerUnaryReactor* CreateWorld(Context* context, const Bytes* request,
                                        Bytes* response) override;
  grpc::ServerUnaryReactor* MoveWorld(Context* context, const Bytes* request,
                                      Bytes* response) override;
  grpc::ServerUnaryReactor* ListWorlds(Context* context, const Bytes* request,
                                       Bytes* response) override;
  grpc::ServerUnaryReactor* DeleteWorld(Context* context, const Bytes* request,
                                        Bytes* response) override;
  grpc::ServerUnaryReactor* InvalidateNavMesh(Context* context, const Bytes* request,
                                              Bytes* response) override;
  grpc::ServerWriteReactor<Bytes>* WatchNavMesh(Context* context, const Bytes* request) override;
  grpc::ServerBidiReactor<Bytes, Bytes>* WatchRoutes(Context* context) override;

 private:
  ServiceEnvironment environment_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_NAVMESH_REGISTRY_SERVICE_H_
