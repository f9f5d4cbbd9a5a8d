// SPDX-License-Identifier: Apache-2.0
// `arclane ping`, `limits` and `health`: is a server there, how fast is it, what does it accept.
#ifndef ARCLANE_CLIENT_CLI_SERVER_COMMANDS_H_
#define ARCLANE_CLIENT_CLI_SERVER_COMMANDS_H_

#include <cstdint>
#include <string>

#include "client/cli/cli.h"
#include "client/cli/error_report.h"
#include "client/cli/exit_code.h"

namespace arclane {

struct PingFlags {
  uint32_t count = 5;         // Pings, one after the other; >= 1.
  uint32_t request_size = 0;  // Bytes of payload.
  uint32_t response_size = 0;
  bool stream = false;  // Over one stream rather than as calls.
};
// Prints each round trip when there are few, and their spread.
ExitCode RunPing(const PingFlags& flags, const ServerFlags& server, CliStreams streams);

ExitCode RunLimits(bool json, const ServerFlags& server, CliStreams streams);

// Asks once. kOk only when `service` is serving; prints one word. For health checks of containers.
ExitCode RunHealth(const std::string& service, const ServerFlags& server, CliStreams streams);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_SERVER_COMMANDS_H_
