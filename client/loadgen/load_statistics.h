// SPDX-License-Identifier: Apache-2.0
// What a load run counts.
#ifndef ARCLANE_CLIENT_LOADGEN_LOAD_STATISTICS_H_
#define ARCLANE_CLIENT_LOADGEN_LOAD_STATISTICS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/loadgen/latency_histogram.h"

namespace arclane {

// "OK", "UNAVAILABLE", ...: the names of gRPC's codes.
std::string CodeName(int code);

// One series: the calls of one part of the mix, or the Pings of the same bytes. Latencies are
// nanoseconds, from the intended start (open loop) or the start (closed loop) to the end, retries
// and waits included.
struct SeriesStatistics {
  LatencyHistogram latency;         // Of calls that ended with OK.
  LatencyHistogram failed_latency;  // Of the others.
  LatencyHistogram start_lag;       // Actual minus intended start; open loop only.
  std::map<int, uint64_t> codes;    // Ended calls by gRPC code.
  uint64_t attempts = 0;            // All tries of ended calls: calls + retries.
  uint64_t not_started = 0;         // Due in the run, not started before its end.
  uint64_t request_bytes = 0;       // Of ended calls.
  uint64_t response_bytes = 0;      // Of calls that ended with OK.
  uint64_t items_ok = 0;            // Of batches.
  uint64_t items_failed = 0;

  uint64_t ok() const { return latency.count(); }
  uint64_t failed() const { return failed_latency.count(); }
  uint64_t ended() const { return ok() + failed(); }
  void Merge(const SeriesStatistics& other);
};

// One second of the run.
struct IntervalStatistics {
  LatencyHistogram plan_latency;  // Of calls that ended with OK.
  LatencyHistogram ping_latency;
  uint64_t failed = 0;
  uint64_t in_flight = 0;  // At its end.

  void Merge(const IntervalStatistics& other);
  void Clear();
};

// What was spent on one kind of call: wall-clock time of its slices, waits for their last answers
// included, and CPU time of both processes.
struct TimeSpent {
  double active_s = 0.0;
  double client_cpu_s = 0.0;
  double server_cpu_s = -1.0;  // Negative: not measured.
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_LOAD_STATISTICS_H_
