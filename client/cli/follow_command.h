// SPDX-License-Identifier: Apache-2.0
// `arclane follow`: plans a route, lets an agent follow it, and tells and draws what happened.
#ifndef ARCLANE_CLIENT_CLI_FOLLOW_COMMAND_H_
#define ARCLANE_CLIENT_CLI_FOLLOW_COMMAND_H_

#include <string>
#include <vector>

#include "client/cli/cli.h"
#include "client/cli/error_report.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow_simulation.h"

namespace arclane {

struct FollowFlags {
  std::string file;  // A PlanCorridorRequest; "-" for the standard input.
  std::string integrator = "hold";
  std::vector<std::string> close_gates;  // "ID@SECONDS".
  double log_every_s = 0.25;             // Rows of the log; every change of status has one, too.
  std::string out_file;                  // Of the log. Empty: the standard output.
  std::string svg_file;                  // Empty: no picture.
  std::string title;
  double width = 1000;
  FollowScenario scenario;
};

ExitCode RunFollow(const FollowFlags& flags, const ServerFlags& server, CliStreams streams);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_FOLLOW_COMMAND_H_
