// SPDX-License-Identifier: Apache-2.0
// How one listening address of the server is secured: clear text or TLS, and who may call what.
#ifndef ARCLANE_SERVER_SERVICE_SECURITY_LISTENER_CREDENTIALS_H_
#define ARCLANE_SERVER_SERVICE_SECURITY_LISTENER_CREDENTIALS_H_

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "server/service/security/call_authorizer.h"
#include "server/service/security/certificate_watch.h"

namespace arclane {

// For one address: gRPC tells each address by itself when the certificate changes. Own, because the
// C++ credentials of gRPC can neither ask for the certificate at each handshake nor be authorized
// in clear text, while those below them can.
class ListenerCredentials final : public grpc::ServerCredentials {
 public:
  // Clear text when `watch` is null; everybody may call everything when `authorizer` is null.
  // Clients must show a certificate that the authorities of `watch` vouch for, if it has any.
  ListenerCredentials(std::shared_ptr<CertificateWatch> watch,
                      std::shared_ptr<CallAuthorizer> authorizer);
  ~ListenerCredentials() override;

  // Not used: the authorizer is given at construction.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override;
  // Called by gRPC at every handshake, one at a time.
  static grpc_ssl_certificate_config_reload_status Fetch(void* self,
                                                         grpc_ssl_server_certificate_config** out);

  const std::shared_ptr<CertificateWatch> watch_;
  uint64_t given_ = 0;  // The number of the material that gRPC has.
  grpc_server_credentials* credentials_ = nullptr;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_SECURITY_LISTENER_CREDENTIALS_H_
