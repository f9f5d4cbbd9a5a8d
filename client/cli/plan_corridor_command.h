// SPDX-License-Identifier: Apache-2.0
// `arclane plan-corridor`: sends the requests of a file and tells the answers in order.
#ifndef ARCLANE_CLIENT_CLI_PLAN_CORRIDOR_COMMAND_H_
#define ARCLANE_CLIENT_CLI_PLAN_CORRIDOR_COMMAND_H_

#include <cstdint>
#include <optional>
#include <string>

#include "client/cli/cli.h"
#include "client/cli/error_report.h"
#include "client/cli/exit_code.h"

namespace arclane {

struct PlanCorridorFlags {
  std::string file;           // Of requests; "-" for the standard input.
  bool lines = false;         // One request a line, read as they come.
  bool json = false;          // Answers as Protobuf JSON rather than tables.
  bool with_request = false;  // With json: {"request": ..., "response": ...}.
  std::string
      svg_file;  // Also draws each route; with many requests "-<line>" is put before the extension.
  std::string out_file;           // Empty: the standard output.
  std::optional<double> spacing;  // Replaces the sampling rule of every request.
  std::optional<uint32_t> count;  // Likewise.
  int parallel = 16;              // Requests in flight at once.
  size_t max_rows = 20;           // Rows of each table.
  bool quiet = false;             // No progress.
};

// A request that fails does not keep the others from being answered. With json a line of several
// that fails prints {"error": ...}, so that the n-th line of output always belongs to the n-th
// request.
ExitCode RunPlanCorridor(const PlanCorridorFlags& flags, const ServerFlags& server,
                         CliStreams streams);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLAN_CORRIDOR_COMMAND_H_
