// SPDX-License-Identifier: Apache-2.0
// `arclane plan-corridor`, `plan-waypoints`, `plan-spline` and `plan-speed`: each sends the
// requests of a file and tells the answers in order.
#ifndef ARCLANE_CLIENT_CLI_PLAN_COMMAND_H_
#define ARCLANE_CLIENT_CLI_PLAN_COMMAND_H_

#include <cstdint>
#include <optional>
#include <string>

#include "client/cli/cli.h"
#include "client/cli/error_report.h"
#include "client/cli/exit_code.h"
#include "client/cli/plan_method.h"

namespace arclane {

struct PlanFlags {
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
template <typename Method>
ExitCode RunPlan(const PlanFlags& flags, const ServerFlags& server, CliStreams streams);

extern template ExitCode RunPlan<CorridorMethod>(const PlanFlags&, const ServerFlags&, CliStreams);
extern template ExitCode RunPlan<WaypointsMethod>(const PlanFlags&, const ServerFlags&, CliStreams);
extern template ExitCode RunPlan<SplineMethod>(const PlanFlags&, const ServerFlags&, CliStreams);
extern template ExitCode RunPlan<SpeedMethod>(const PlanFlags&, const ServerFlags&, CliStreams);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLAN_COMMAND_H_
