// SPDX-License-Identifier: Apache-2.0
// What an operator asks of the running process by signals.
#ifndef ARCLANE_SERVER_OPERATOR_SIGNALS_H_
#define ARCLANE_SERVER_OPERATOR_SIGNALS_H_

#include <csignal>
#include <string>

#include "server/config/server_config.h"
#include "server/service/server.h"

namespace arclane {

// Blocks the signals below, and those that end the process, in every thread that is started after
// this: only AwaitEnd takes them, so that nothing runs inside a signal handler.
void BlockSignals();

// Until SIGTERM or SIGINT, whose number it returns; a second one then ends the process at once.
// Meanwhile: SIGHUP reads the settings again and applies those on logs, and has the certificate
// looked at; SIGUSR1 starts a CPU profile or ends it; SIGUSR2 logs from debug on, or as before.
int AwaitEnd(const ServerConfig& config, const std::string& config_file, Server& server);

AccessLogOptions AccessLogOptionsOf(const ServerConfig& config);

}  // namespace arclane

#endif  // ARCLANE_SERVER_OPERATOR_SIGNALS_H_
