// SPDX-License-Identifier: Apache-2.0
// Navmeshes of a service: publishing, changing, asking and watching them.
//
//   arclane::v1::PublishNavMeshHeader header;
//   header.set_navmesh_id("town");
//   header.set_version(7);
//   header.set_format(arclane::v1::NAV_MESH_FORMAT_DETOUR_MSET);
//   auto published = client->navmeshes().Publish(header, file_content);
//
//   auto watch = client->navmeshes().Watch(request);   // opens again by itself
//   while (auto event = watch->Next()) Take(*event);
#ifndef ARCLANE_CLIENT_SDK_NAVMESH_CLIENT_H_
#define ARCLANE_CLIENT_SDK_NAVMESH_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <variant>

#include "absl/time/time.h"
#include "arclane/v1/navmesh.pb.h"
#include "client/sdk/client_options.h"
#include "client/sdk/result.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace arclane {

// Follows a navmesh or a world. Not thread-safe. Destroying it ends the stream.
class NavMeshWatch {
 public:
  virtual ~NavMeshWatch() = default;
  // Waits for the next snapshot, changes or "synced". When the server goes away or cannot be
  // reached, the stream is opened again with the last epoch that was told here, so that no change
  // is missed; a client that read too slowly, or that meets another life of the navmesh or world
  // (a server without its data, a world created again), gets a snapshot marked `resync`. Fails when
  // the navmesh or world is not there, and with CANCELLED after a stop request; then it is over.
  virtual Result<v1::WatchNavMeshResponse> Next() = 0;
};

// Watches routes. Next and Update may be called at the same time, each by one thread.
class RoutesWatch {
 public:
  virtual ~RoutesWatch() = default;
  // Watches more routes, and some no longer.
  virtual void Update(const v1::WatchRoutesRequest& request) = 0;
  // Waits for routes that went stale, or for "synced". Opens the stream again as NavMeshWatch does,
  // with the routes that are watched, the epochs at which they were planned and the lives that told
  // these epochs: in another life each goes stale, since its state is unknown.
  virtual Result<v1::WatchRoutesResponse> Next() = 0;
};

// Thread-safe. Lives no longer than the Client it belongs to.
class NavMeshClient {
 public:
  // `deadline` of calls that name none; publications have none by default.
  NavMeshClient(std::shared_ptr<grpc::Channel> channel, absl::Duration deadline);
  ~NavMeshClient();

  // Sends the content in pieces; its size and digest are put into the header here.
  Result<v1::PublishNavMeshResponse> Publish(v1::PublishNavMeshHeader header,
                                             std::string_view content,
                                             const CallOptions& options = {});
  Result<v1::UpdateTilesResponse> UpdateTiles(v1::UpdateTilesHeader header,
                                              std::string_view content,
                                              const CallOptions& options = {});
  Result<v1::ApplyChangesResponse> ApplyChanges(const v1::ApplyChangesRequest& request,
                                                const CallOptions& options = {});
  Result<v1::ActivateNavMeshResponse> Activate(const v1::ActivateNavMeshRequest& request,
                                               const CallOptions& options = {});
  Result<v1::RetireNavMeshResponse> Retire(const v1::RetireNavMeshRequest& request,
                                           const CallOptions& options = {});
  Result<v1::DeleteNavMeshResponse> Delete(const v1::DeleteNavMeshRequest& request,
                                           const CallOptions& options = {});
  Result<v1::GetNavMeshResponse> Get(const v1::GetNavMeshRequest& request,
                                     const CallOptions& options = {});
  Result<v1::ListNavMeshesResponse> List(const v1::ListNavMeshesRequest& request,
                                         const CallOptions& options = {});
  // Calls `take` with the overview, then with every tile.
  Result<std::monostate> Read(const v1::ReadNavMeshRequest& request,
                              const std::function<void(const v1::ReadNavMeshResponse&)>& take,
                              const CallOptions& options = {});
  Result<v1::CreateWorldResponse> CreateWorld(const v1::CreateWorldRequest& request,
                                              const CallOptions& options = {});
  Result<v1::MoveWorldResponse> MoveWorld(const v1::MoveWorldRequest& request,
                                          const CallOptions& options = {});
  Result<v1::ListWorldsResponse> ListWorlds(const v1::ListWorldsRequest& request,
                                            const CallOptions& options = {});
  Result<v1::DeleteWorldResponse> DeleteWorld(const v1::DeleteWorldRequest& request,
                                              const CallOptions& options = {});
  Result<v1::InvalidateNavMeshResponse> Invalidate(const v1::InvalidateNavMeshRequest& request,
                                                   const CallOptions& options = {});

  // Only `options.stop` and `options.metadata` are used: watches have no deadline.
  std::unique_ptr<NavMeshWatch> Watch(const v1::WatchNavMeshRequest& request,
                                      const CallOptions& options = {});
  std::unique_ptr<RoutesWatch> WatchRoutes(const v1::WatchRoutesScope& scope,
                                           const CallOptions& options = {});

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_SDK_NAVMESH_CLIENT_H_
