// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/load_statistics.h"

#include "absl/status/status.h"

namespace arclane {

std::string CodeName(int code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

void SeriesStatistics::Merge(const SeriesStatistics& other) {
  latency.Merge(other.latency);
  failed_latency.Merge(other.failed_latency);
  start_lag.Merge(other.start_lag);
  for (const auto& [code, count] : other.codes) codes[code] += count;
  attempts += other.attempts;
  not_started += other.not_started;
  request_bytes += other.request_bytes;
  response_bytes += other.response_bytes;
  items_ok += other.items_ok;
  items_failed += other.items_failed;
}

void IntervalStatistics::Merge(const IntervalStatistics& other) {
  plan_latency.Merge(other.plan_latency);
  ping_latency.Merge(other.ping_latency);
  failed += other.failed;
  in_flight += other.in_flight;
}

void IntervalStatistics::Clear() {
  plan_latency.Clear();
  ping_latency.Clear();
  failed = 0;
  in_flight = 0;
}

}  // namespace arclane
