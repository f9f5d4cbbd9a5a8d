// SPDX-License-Identifier: Apache-2.0
// The calls of NavMeshRegistry from message to answer. Free of gRPC.
#ifndef ARCLANE_SERVER_SERVICE_REGISTRY_METHODS_H_
#define ARCLANE_SERVER_SERVICE_REGISTRY_METHODS_H_

#include <optional>
#include <string>

#include "arclane/v1/navmesh.pb.h"
#include "server/codec/failure.h"
#include "server/service/navmesh_backend.h"

namespace arclane {

// Why nothing may be changed here; nullopt where it may.
std::optional<Failure> RefuseChange(const NavMeshBackend& backend);

// Each fills the response and returns nullopt, or returns why the call fails; the response is then
// unspecified. Thread-safe; those that change something wait for the store.
std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::ApplyChangesRequest& request,
                                          v1::ApplyChangesResponse& response);
std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::ActivateNavMeshRequest& request,
                                          v1::ActivateNavMeshResponse& response);
std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::RetireNavMeshRequest& request,
                                          v1::RetireNavMeshResponse& response);
std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::DeleteNavMeshRequest& request,
                                          v1::DeleteNavMeshResponse& response);
std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::GetNavMeshRequest& request,
                                          v1::GetNavMeshResponse& response);
std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::ListNavMeshesRequest& request,
                                          v1::ListNavMeshesResponse& response);
std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::CreateWorldRequest& request,
                                          v1::CreateWorldResponse& response);
std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::MoveWorldRequest& request,
                                          v1::MoveWorldResponse& response);
std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::ListWorldsRequest& request,
                                          v1::ListWorldsResponse& response);
std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::DeleteWorldRequest& request,
                                          v1::DeleteWorldResponse& response);
std::optional<Failure> AnswerRegistryCall(NavMeshBackend& backend,
                                          const v1::InvalidateNavMeshRequest& request,
                                          v1::InvalidateNavMeshResponse& response);

// A header whose content has come whole; the content is checked against size and digest.
std::optional<Failure> AnswerPublication(NavMeshBackend& backend,
                                         const v1::PublishNavMeshHeader& header,
                                         const std::string& content,
                                         v1::PublishNavMeshResponse& response);
std::optional<Failure> AnswerPublication(NavMeshBackend& backend,
                                         const v1::UpdateTilesHeader& header,
                                         const std::string& content,
                                         v1::UpdateTilesResponse& response);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_REGISTRY_METHODS_H_
