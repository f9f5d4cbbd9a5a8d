// SPDX-License-Identifier: Apache-2.0
// Who the peer of a connection is, as far as its certificate, verified by gRPC, or its socket says.
#ifndef ARCLANE_SERVER_SERVICE_SECURITY_PEER_IDENTITY_H_
#define ARCLANE_SERVER_SERVICE_SECURITY_PEER_IDENTITY_H_

#include <grpc/grpc_security.h>
#include <grpcpp/server_context.h>

#include <string>
#include <vector>

#include "server/service/security/authorization.h"

namespace arclane {

// The URIs and DNS names of the certificate's subject alternative name; none without a certificate.
// The common name is not one: authorities do not vouch for what it means.
std::vector<Identity> IdentitiesOf(const grpc_auth_context* context);

// The same in one text for a log line, such as spiffe://game/zone-7; empty without a certificate.
std::string CallerOf(const grpc::CallbackServerContext& context);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_SECURITY_PEER_IDENTITY_H_
