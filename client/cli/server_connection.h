// SPDX-License-Identifier: Apache-2.0
// Calls of the command line to its server.
#ifndef ARCLANE_CLIENT_CLI_SERVER_CONNECTION_H_
#define ARCLANE_CLIENT_CLI_SERVER_CONNECTION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/cli/error_report.h"
#include "client/sdk/client.h"

namespace arclane {

// The client for --server, --deadline and the flags on TLS. kInvalidArgument for flags that it
// refuses; does not wait for a connection.
absl::StatusOr<std::unique_ptr<Client>> ConnectTo(const ServerFlags& server);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_SERVER_CONNECTION_H_
