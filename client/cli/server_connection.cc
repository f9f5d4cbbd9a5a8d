// SPDX-License-Identifier: Apache-2.0
#include "client/cli/server_connection.h"

namespace arclane {

absl::StatusOr<std::unique_ptr<Client>> ConnectTo(const ServerFlags& server) {
  ClientOptions options;
  options.target = server.target;
  options.deadline = server.deadline;
  const bool wants_tls = server.tls || !server.tls_ca.empty() || !server.tls_certificate.empty() ||
                         !server.tls_key.empty() || !server.tls_server_name.empty();
  // Unix sockets are clear text; the flags may come from the environment.
  if (wants_tls && server.target.rfind("unix:", 0) != 0) {
    options.tls = {.ca_file = server.tls_ca,
                   .certificate_file = server.tls_certificate,
                   .key_file = server.tls_key,
                   .server_name = server.tls_server_name};
  }
  options.user_agent = "arclane-cli";
  return Client::Create(options);
}

}  // namespace arclane
