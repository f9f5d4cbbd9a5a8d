// SPDX-License-Identifier: Apache-2.0
// `arclane plot`: draws a plan as SVG.
#ifndef ARCLANE_CLIENT_CLI_PLOT_COMMAND_H_
#define ARCLANE_CLIENT_CLI_PLOT_COMMAND_H_

#include <string>

#include "client/cli/cli.h"
#include "client/cli/error_report.h"
#include "client/cli/exit_code.h"

namespace arclane {

struct PlotFlags {
  std::string
      file;  // {"request": ..., "response": ...}, or a request alone; "-" for the standard input.
  std::string out_file;  // Empty: the standard output.
  std::string title;     // Empty: the outcome in words.
  double width = 1000;   // Pixels.
  bool no_charts = false;
};

// The file holds a plan in a corridor, along waypoints or along a curve. A file that holds no
// answer is sent to the server first. The first of several lines is drawn.
ExitCode RunPlot(const PlotFlags& flags, const ServerFlags& server, CliStreams streams);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_COMMAND_H_
