// SPDX-License-Identifier: Apache-2.0
// Who may call what: methods need a role, roles are granted to identities by patterns. Pure; what
// the identities are worth is decided by those who verified them.
#ifndef ARCLANE_SERVER_SERVICE_SECURITY_AUTHORIZATION_H_
#define ARCLANE_SERVER_SERVICE_SECURITY_AUTHORIZATION_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/config/role_grant.h"

namespace arclane {

// One identity of a caller. URIs and names of hosts are different kinds: a host cannot pass for a
// URI, whatever it is called.
struct Identity {
  enum class Kind {
    kUri,     // A URI of the certificate, such as spiffe://game/zone-7.
    kDns,     // A DNS name of the certificate.
    kSocket,  // The caller came over a Unix socket; its name is "unix".
  };
  Kind kind = Kind::kDns;
  std::string name;
};
inline constexpr char kSocketIdentity[] = "unix";

bool Fits(const RoleGrant& grant, const Identity& identity);

class AuthorizationPolicy {
 public:
  // `open_services` are full names of services that need no role.
  AuthorizationPolicy(std::vector<RoleGrant> grants, std::vector<std::string> open_services);

  // `path` is /package.Service/Method. OK, or PERMISSION_DENIED with a message that names the
  // method, the caller and the role that is needed. Methods that are unknown need kAdmin; other
  // services of this server, such as reflection, need any role. Cost: a look-up and, at most, every
  // pattern once for each identity.
  absl::Status Decide(std::string_view path, std::span<const Identity> identities) const;
  // The role that a method needs.
  static Role RoleNeeded(std::string_view path);

 private:
  const std::vector<RoleGrant> grants_;
  const std::vector<std::string> open_services_;
};

// What a refusal or a log line calls the caller: the first URI, otherwise the first name, otherwise
// nothing. Visible ASCII, and short.
std::string NameOfCaller(std::span<const Identity> identities);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_SECURITY_AUTHORIZATION_H_
