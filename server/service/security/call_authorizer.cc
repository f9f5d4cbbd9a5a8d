// SPDX-License-Identifier: Apache-2.0
#include "server/service/security/call_authorizer.h"

#include <grpc/slice.h>

#include <string>
#include <utility>

#include "server/service/security/peer_identity.h"
#include "server/service/service_labels.h"

namespace arclane {
namespace {

std::string_view SliceView(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)), GRPC_SLICE_LENGTH(slice)};
}

std::string_view PathOf(const grpc_metadata* metadata, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (SliceView(metadata[i].key) == ":path") return SliceView(metadata[i].value);
  }
  return {};
}

}  // namespace

CallAuthorizer::CallAuthorizer(const AuthorizationPolicy& policy, std::vector<Identity> own,
                               AccessLog& log, Metrics& metrics)
    : policy_(policy), own_(std::move(own)), log_(log), metrics_(metrics) {}

absl::Status CallAuthorizer::Decide(std::string_view path, const grpc_auth_context* peer) const {
  std::vector<Identity> identities = IdentitiesOf(peer);
  identities.insert(identities.end(), own_.begin(), own_.end());
  absl::Status status = policy_.Decide(path, identities);
  if (status.ok()) return status;
  metrics_.AuthorizationDenied(MethodIndexOf(path));
  const std::string caller = NameOfCaller(identities);
  const LogField fields[] = {{"path", path.substr(0, 256)},
                             {"caller", caller},
                             {"needs", RoleName(AuthorizationPolicy::RoleNeeded(path))}};
  log_.Refused("call denied", fields);
  return status;
}

grpc_auth_metadata_processor CallAuthorizer::HookOf(std::shared_ptr<CallAuthorizer> authorizer) {
  using Held = std::shared_ptr<CallAuthorizer>;
  grpc_auth_metadata_processor hook;
  hook.state = new Held(std::move(authorizer));
  hook.destroy = [](void* state) { delete static_cast<Held*>(state); };
  hook.process = [](void* state, grpc_auth_context* peer, const grpc_metadata* metadata,
                    size_t count, grpc_process_auth_metadata_done_cb done, void* call) {
    const absl::Status status = (*static_cast<Held*>(state))->Decide(PathOf(metadata, count), peer);
    // gRPC copies the message.
    done(call, nullptr, 0, nullptr, 0, status.ok() ? GRPC_STATUS_OK : GRPC_STATUS_PERMISSION_DENIED,
         status.ok() ? nullptr : std::string(status.message()).c_str());
  };
  return hook;
}

}  // namespace arclane
