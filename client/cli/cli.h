// SPDX-License-Identifier: Apache-2.0
// The command line `arclane` as a function, so that tests run exactly what the program runs.
#ifndef ARCLANE_CLIENT_CLI_CLI_H_
#define ARCLANE_CLIENT_CLI_CLI_H_

#include <istream>
#include <ostream>

#include "client/cli/exit_code.h"

namespace arclane {

struct CliStreams {
  std::istream& in;
  std::ostream& out;  // Answers.
  std::ostream& err;  // Errors, hints and progress.
};

// Runs one command. Reads the environment variable ARCLANE_SERVER.
ExitCode RunCli(int argc, const char* const* argv, CliStreams streams);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_CLI_H_
