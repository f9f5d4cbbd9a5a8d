// SPDX-License-Identifier: Apache-2.0
#include "client/cli/server_connection.h"

namespace arclane {

absl::StatusOr<std::unique_ptr<Client>> ConnectTo(const ServerFlags& server) {
  ClientOptions options;
  options.target = server.target;
  options.deadline = server.deadline;
  options.user_agent = "arclane-cli";
  return Client::Create(options);
}

}  // namespace arclane
