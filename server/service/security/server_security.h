// SPDX-License-Identifier: Apache-2.0
// The security of a whole server: its certificate, its policy, and the credentials of each address.
#ifndef ARCLANE_SERVER_SERVICE_SECURITY_SERVER_SECURITY_H_
#define ARCLANE_SERVER_SERVICE_SECURITY_SERVER_SECURITY_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/service/security/authorization.h"
#include "server/service/security/listener_credentials.h"
#include "server/service/security/tls_material.h"
#include "server/telemetry/access_log.h"
#include "server/telemetry/metrics.h"

namespace arclane {

struct SecurityOptions {
  // TLS on TCP addresses when a certificate is named. Unix sockets stay in clear text: the rights
  // of their file guard them.
  TlsFiles tls;
  double reload_interval_s = 10;
  // With authorities of clients, calls are authorized on every address. Without a grant everybody
  // who got in is a planner: may plan and read, and may not change anything.
  std::vector<RoleGrant> grants;
  std::vector<std::string> open_services = {"grpc.health.v1.Health"};
};

// Listens beyond this machine: neither loopback nor a Unix socket.
bool ListensBeyondThisMachine(const std::string& address);

class ServerSecurity {
 public:
  // INVALID_ARGUMENT when the certificate's files cannot be served. Log and metrics must outlive
  // the result, and the result every server that has its credentials.
  static absl::StatusOr<std::unique_ptr<ServerSecurity>> Create(const SecurityOptions& options,
                                                                AccessLog& log, Metrics& metrics);

  std::shared_ptr<grpc::ServerCredentials> CredentialsFor(const std::string& address);
  // For addresses that answer nothing but the health service, in clear text, for probes that have
  // no certificate.
  std::shared_ptr<grpc::ServerCredentials> HealthCredentials();
  bool has_tls() const { return watch_ != nullptr; }
  // Looks at the certificate's files soon, whatever the interval.
  void ReloadSoon();

 private:
  ServerSecurity(const SecurityOptions& options, std::shared_ptr<CertificateWatch> watch,
                 AccessLog& log, Metrics& metrics);

  const std::shared_ptr<CertificateWatch> watch_;
  const bool authorizes_;
  const AuthorizationPolicy policy_;
  const AuthorizationPolicy health_policy_;
  AccessLog& log_;
  Metrics& metrics_;
  // gRPC comes back to them at each handshake and does not keep them.
  std::vector<std::shared_ptr<grpc::ServerCredentials>> given_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_SECURITY_SERVER_SECURITY_H_
