// SPDX-License-Identifier: Apache-2.0
#include "server/service/security/listener_credentials.h"

#include <grpc/grpc.h>

#include <utility>

namespace arclane {

ListenerCredentials::ListenerCredentials(std::shared_ptr<CertificateWatch> watch,
                                         std::shared_ptr<CallAuthorizer> authorizer)
    : watch_(std::move(watch)) {
  if (watch_ == nullptr) {
    credentials_ = grpc_insecure_server_credentials_create();
  } else {
    const bool mutual = !watch_->Current().first->client_ca_pem.empty();
    credentials_ = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            mutual ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                   : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
            &ListenerCredentials::Fetch, this));
  }
  if (authorizer != nullptr) {
    grpc_server_credentials_set_auth_metadata_processor(
        credentials_, CallAuthorizer::HookOf(std::move(authorizer)));
  }
}

ListenerCredentials::~ListenerCredentials() { grpc_server_credentials_release(credentials_); }

int ListenerCredentials::AddPortToServer(const std::string& address, grpc_server* server) {
  return grpc_server_add_http2_port(server, address.c_str(), credentials_);
}

grpc_ssl_certificate_config_reload_status ListenerCredentials::Fetch(
    void* self, grpc_ssl_server_certificate_config** out) {
  auto& credentials = *static_cast<ListenerCredentials*>(self);
  const auto [material, number] = credentials.watch_->Current();
  if (number == credentials.given_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const grpc_ssl_pem_key_cert_pair pair = {material->key_pem.c_str(),
                                           material->certificate_pem.c_str()};
  // Builds of gRPC that check their assertions want some authority, also where clients are not
  // asked for certificates and none is looked at.
  const std::string& authorities =
      material->client_ca_pem.empty() ? material->certificate_pem : material->client_ca_pem;
  *out = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
  if (*out == nullptr) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;
  credentials.given_ = number;
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace arclane
