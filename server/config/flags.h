// SPDX-License-Identifier: Apache-2.0
// The server's command line: every setting as a flag, --config, --print_config, --version and
// --help.
#ifndef ARCLANE_SERVER_CONFIG_FLAGS_H_
#define ARCLANE_SERVER_CONFIG_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/server_config.h"

namespace arclane {

struct CommandLine {
  ServerConfig config;
  bool print_config = false;
  std::string config_file;  // Empty: none.
  // Variables that begin with ARCLANE_ and name no setting.
  std::vector<std::string> ignored_environment;
};

// Reads flags, environment and file. Dashes and underscores in flag names are the same. Prints and
// exits for --help and --version; returns INVALID_ARGUMENT with every error of all three, unknown
// flags included, one a line. Call it once, at the start of main.
absl::StatusOr<CommandLine> ReadCommandLine(int argc, char** argv, const std::string& version);

// The settings as they are now: the same flags and environment, and the file as it stands.
// INVALID_ARGUMENT as above. After ReadCommandLine.
absl::StatusOr<ServerConfig> ReadSettingsAgain(const std::string& config_file);

// What --help prints.
std::string HelpText();

}  // namespace arclane

#endif  // ARCLANE_SERVER_CONFIG_FLAGS_H_
