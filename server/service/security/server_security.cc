// SPDX-License-Identifier: Apache-2.0
#include "server/service/security/server_security.h"

#include <utility>

#include "server/service/socket_file.h"

namespace arclane {
namespace {

std::vector<RoleGrant> GrantsOrDefault(std::vector<RoleGrant> grants) {
  if (grants.empty()) grants.push_back({Role::kPlanner, "*"});
  return grants;
}

}  // namespace

bool ListensBeyondThisMachine(const std::string& address) {
  if (IsUnixAddress(address)) return false;
  const std::string host = address.substr(0, address.rfind(':'));
  return host != "localhost" && host != "[::1]" && host.rfind("127.", 0) != 0;
}

absl::StatusOr<std::unique_ptr<ServerSecurity>> ServerSecurity::Create(
    const SecurityOptions& options, AccessLog& log, Metrics& metrics) {
  std::shared_ptr<CertificateWatch> watch;
  if (!options.tls.certificate.empty()) {
    auto started = CertificateWatch::Start(options.tls, options.reload_interval_s, metrics);
    if (!started.ok()) return started.status();
    watch = *std::move(started);
  }
  return std::unique_ptr<ServerSecurity>(
      new ServerSecurity(options, std::move(watch), log, metrics));
}

ServerSecurity::ServerSecurity(const SecurityOptions& options,
                               std::shared_ptr<CertificateWatch> watch, AccessLog& log,
                               Metrics& metrics)
    : watch_(std::move(watch)),
      authorizes_(watch_ != nullptr && !options.tls.client_ca.empty()),
      policy_(GrantsOrDefault(options.grants), options.open_services),
      health_policy_({}, {"grpc.health.v1.Health"}),
      log_(log),
      metrics_(metrics) {}

std::shared_ptr<grpc::ServerCredentials> ServerSecurity::CredentialsFor(
    const std::string& address) {
  const bool socket = IsUnixAddress(address);
  std::vector<Identity> own;
  if (socket) own.push_back({Identity::Kind::kSocket, kSocketIdentity});
  std::shared_ptr<CallAuthorizer> authorizer;
  if (authorizes_) {
    authorizer = std::make_shared<CallAuthorizer>(policy_, std::move(own), log_, metrics_);
  }
  given_.push_back(
      std::make_shared<ListenerCredentials>(socket ? nullptr : watch_, std::move(authorizer)));
  return given_.back();
}

std::shared_ptr<grpc::ServerCredentials> ServerSecurity::HealthCredentials() {
  auto authorizer =
      std::make_shared<CallAuthorizer>(health_policy_, std::vector<Identity>(), log_, metrics_);
  given_.push_back(std::make_shared<ListenerCredentials>(nullptr, std::move(authorizer)));
  return given_.back();
}

void ServerSecurity::ReloadSoon() {
  if (watch_ != nullptr) watch_->CheckSoon();
}

}  // namespace arclane
