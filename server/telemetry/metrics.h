// SPDX-License-Identifier: Apache-2.0
// Every metric of the service. metrics.md is the table of them for operators.
//
// All series are made at construction and show 0 from the start; recording is an atomic add or a
// short lock and never looks a label up. Labels come from fixed lists: no map, agent, user or peer
// ever names a series.
#ifndef ARCLANE_SERVER_TELEMETRY_METRICS_H_
#define ARCLANE_SERVER_TELEMETRY_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/telemetry/build_info.h"

namespace arclane {

// The values of the labels. Recording names them by their index here.
struct MetricLabels {
  std::vector<std::string> methods;
  std::vector<std::string> outcomes;
  std::vector<std::string> shed_reasons;
  std::vector<std::string> stages;
};

// What navmeshes and the cache tell of themselves at a scrape.
struct NavMeshNumbers {
  uint64_t navmeshes = 0;
  uint64_t versions = 0;
  uint64_t bytes = 0;
  uint64_t worlds = 0;
  uint64_t publishing_bytes = 0;
  uint64_t cache_hits = 0;
  uint64_t cache_misses = 0;  // Coalesced ones are not among them.
  uint64_t cache_coalesced = 0;
  uint64_t cache_bypassed = 0;
  uint64_t cache_stale = 0;
  uint64_t cache_insertions = 0;
  uint64_t cache_evictions = 0;
  uint64_t cache_rejections = 0;
  uint64_t cache_entries = 0;
  uint64_t cache_bytes = 0;
  uint64_t cache_bytes_limit = 0;
  // Corridors and curves that are kept ready for plans with other ends and speeds.
  uint64_t prepared_corridor_hits = 0;
  uint64_t prepared_corridor_misses = 0;
  uint64_t prepared_curve_hits = 0;
  uint64_t prepared_curve_misses = 0;
};

// Thread-safe. Indices must be within the lists of MetricLabels.
class Metrics {
 public:
  Metrics(const BuildInfo& build, const MetricLabels& labels);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void CallStarted(size_t method);
  // `code` is the gRPC status code as a number; others than 0..16 count as UNKNOWN (2).
  void CallEnded(size_t method, int code, double duration_s);
  // A stream began or ended: counted in flight and by code, without a duration.
  void StreamStarted(size_t method);
  void StreamEnded(size_t method, int code);

  void Shed(size_t reason);
  void Outcome(size_t outcome);
  void Stage(size_t stage, double duration_s);
  // `plans` and `bytes` are added, and may be negative.
  void QueueChanged(int plans);
  void AdmittedChanged(double bytes);

  void SetCapacity(int planner_threads, size_t queued_plans_limit, double admitted_bytes_limit);
  void SetServing(bool serving);
  // Asked at every scrape, from its thread. An empty function ends that: the one before is not
  // called any more once this has returned.
  void SetNavMeshSource(std::function<NavMeshNumbers()> source);

  // The exposition text, as GET /metrics answers.
  std::string Text() const;

 private:
  friend class MetricsEndpoint;
  struct Series;
  std::unique_ptr<Series> series_;
};

// Serves /metrics over HTTP until destroyed.
class MetricsEndpoint {
 public:
  // `address` is host:port; port 0 takes a free one. UNAVAILABLE names the address when it cannot
  // be bound.
  static absl::StatusOr<std::unique_ptr<MetricsEndpoint>> Start(const std::string& address,
                                                                const Metrics& metrics);
  ~MetricsEndpoint();
  int port() const;

 private:
  struct State;
  explicit MetricsEndpoint(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_METRICS_H_
