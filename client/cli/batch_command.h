// SPDX-License-Identifier: Apache-2.0
// `arclane plan-batch`: the requests of a file as batches, one call for up to 10,000 of them.
#ifndef ARCLANE_CLIENT_CLI_BATCH_COMMAND_H_
#define ARCLANE_CLIENT_CLI_BATCH_COMMAND_H_

#include <cstdint>
#include <string>

#include "client/cli/cli.h"
#include "client/cli/error_report.h"
#include "client/cli/exit_code.h"

namespace arclane {

struct BatchFlags {
  std::string file;               // One request a line; "-" for the standard input.
  std::string kind = "corridor";  // What a line holds: corridor, waypoints, spline, speed or item.
  std::string shared_file;        // A PlanShared; empty: nothing is shared.
  std::string navmesh_id;         // Replaces the shared navmesh's name, unless empty.
  bool json = false;              // One answer a line as Protobuf JSON rather than a table.
  std::string out_file;           // Empty: the standard output.
  uint32_t max_chunk_bytes = 0;   // As in PlanBatchRequest.
  double time_budget_s = 0;       // As in PlanBatchRequest.
  uint32_t batch_items = 10'000;  // Items of one call.
  bool bypass_cache = false;
};

// The n-th row or line of output belongs to the n-th request, also where it failed. A line that is
// no request is told with its place, and nothing is sent.
ExitCode RunPlanBatch(const BatchFlags& flags, const ServerFlags& server, CliStreams streams);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_BATCH_COMMAND_H_
