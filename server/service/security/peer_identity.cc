// SPDX-License-Identifier: Apache-2.0
#include "server/service/security/peer_identity.h"

#include <grpcpp/security/auth_context.h>

#include <memory>

namespace arclane {
namespace {

void AddNames(const grpc_auth_context* context, const char* property, Identity::Kind kind,
              std::vector<Identity>& identities) {
  grpc_auth_property_iterator names = grpc_auth_context_find_properties_by_name(context, property);
  while (const grpc_auth_property* name = grpc_auth_property_iterator_next(&names)) {
    identities.push_back({kind, std::string(name->value, name->value_length)});
  }
}

}  // namespace

std::vector<Identity> IdentitiesOf(const grpc_auth_context* context) {
  std::vector<Identity> identities;
  AddNames(context, GRPC_PEER_URI_PROPERTY_NAME, Identity::Kind::kUri, identities);
  AddNames(context, GRPC_PEER_DNS_PROPERTY_NAME, Identity::Kind::kDns, identities);
  return identities;
}

std::string CallerOf(const grpc::CallbackServerContext& context) {
  const std::shared_ptr<const grpc::AuthContext> peer = context.auth_context();
  if (peer == nullptr) return "";
  for (const char* property : {GRPC_PEER_URI_PROPERTY_NAME, GRPC_PEER_DNS_PROPERTY_NAME}) {
    const auto names = peer->FindPropertyValues(property);
    if (!names.empty()) return std::string(names.front().data(), names.front().size());
  }
  return "";
}

}  // namespace arclane
