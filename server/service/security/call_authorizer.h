// SPDX-License-Identifier: Apache-2.0
// Asks an AuthorizationPolicy before each call of a listener, before a byte of its message is read.
#ifndef ARCLANE_SERVER_SERVICE_SECURITY_CALL_AUTHORIZER_H_
#define ARCLANE_SERVER_SERVICE_SECURITY_CALL_AUTHORIZER_H_

#include <grpc/grpc_security.h>

#include <memory>
#include <string_view>
#include <vector>

#include "server/service/security/authorization.h"
#include "server/telemetry/access_log.h"
#include "server/telemetry/metrics.h"

namespace arclane {

// Thread-safe. What is refused is counted by method and logged within the limits of the log, with
// method and caller and nothing else of the call.
class CallAuthorizer {
 public:
  // `own` are identities of all callers of the listener, such as that of a socket. Policy, log and
  // metrics must outlive the authorizer.
  CallAuthorizer(const AuthorizationPolicy& policy, std::vector<Identity> own, AccessLog& log,
                 Metrics& metrics);

  // As gRPC's hook, which owns what it is given until it destroys it. The hook is what
  // grpc::AuthMetadataProcessor is called by, without the copy of all metadata that the C++ form
  // makes for each call.
  static grpc_auth_metadata_processor HookOf(std::shared_ptr<CallAuthorizer> authorizer);

 private:
  absl::Status Decide(std::string_view path, const grpc_auth_context* peer) const;

  const AuthorizationPolicy& policy_;
  const std::vector<Identity> own_;
  AccessLog& log_;
  Metrics& metrics_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_SECURITY_CALL_AUTHORIZER_H_
