// SPDX-License-Identifier: Apache-2.0
// One load run from the first connection to the last answer.
#ifndef ARCLANE_CLIENT_LOADGEN_LOAD_RUN_H_
#define ARCLANE_CLIENT_LOADGEN_LOAD_RUN_H_

#include <atomic>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/loadgen/load_options.h"
#include "client/loadgen/load_statistics.h"
#include "client/loadgen/request_mix.h"

namespace arclane {

// One second of the run, from its begin to `time_s`; warm-up has times up to 0.
struct TimelineEntry {
  double time_s = 0.0;
  double seconds = 1.0;  // Its length.
  IntervalStatistics statistics;
};

struct LoadReport {
  // Parts of the mix by name, and for each the Pings of the same bytes.
  std::vector<std::string> names;
  std::vector<SeriesStatistics> plans;
  std::vector<SeriesStatistics> pings;
  // All parts together.
  SeriesStatistics all_plans;
  SeriesStatistics all_pings;
  TimeSpent plan_time;
  TimeSpent ping_time;
  double measured_s = 0.0;
  std::vector<TimelineEntry> timeline;
  std::vector<std::string> warnings;  // What makes the figures less than they seem.
};

// Runs the load of `options`; FaultsOf(options) must be empty. Takes as long as warm_up + duration,
// and behind each of them at most twice the deadline. A line of progress goes to `progress` every
// second unless options.quiet. When `stop` becomes true the run ends early, with what it has.
// UNAVAILABLE when no connection can be made within 5 s or a mesh cannot be published.
absl::StatusOr<LoadReport> RunLoad(const LoadOptions& options, RequestMix mix,
                                   const std::atomic<bool>& stop, std::ostream& progress);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_LOAD_RUN_H_
