// SPDX-License-Identifier: Apache-2.0
// Every metric of the service. metrics.md is the table of them for operators.
//
// All series are made at construction and show 0 from the start; recording is one or two
// uncontended atomic additions, never takes a lock and never looks a label up. Labels come from
// fixed lists: no map, agent, user or peer ever names a series; the one exception, the active
// version of a navmesh, is bounded in number.
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
#include "server/telemetry/metrics_access.h"

namespace arclane {

// The values of the labels. Recording names them by their index here.
struct MetricLabels {
  std::vector<std::string> methods;
  std::vector<std::string> outcomes;
  std::vector<std::string> shed_reasons;
  std::vector<std::string> stages;
  std::vector<std::string> corner_kinds;
  std::vector<std::string> corner_stop_reasons;
};

// The version of a navmesh that is active; 0: none.
struct ActiveVersion {
  std::string navmesh_id;
  uint64_t version = 0;
};
// The most navmeshes whose active version is shown: the first by id.
inline constexpr size_t kMostActiveVersions = 64;

// What navmeshes and the cache tell of themselves at a scrape.
struct NavMeshNumbers {
  uint64_t navmeshes = 0;
  uint64_t versions = 0;
  uint64_t bytes = 0;
  uint64_t worlds = 0;
  uint64_t publishing_bytes = 0;
  uint64_t stored_bytes = 0;          // Of the durable store; 0 without one.
  std::vector<ActiveVersion> active;  // Of at most kMostActiveVersions navmeshes.
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
  void Outcome(size_t outcome, uint64_t plans = 1);
  void Stage(size_t stage, double duration_s);
  // Of a plan that was made: the portals of its corridor, the samples of its answer.
  void Portals(uint64_t count);
  void Samples(uint64_t count);
  void Corners(size_t kind, uint64_t count);
  void CornerStops(size_t reason, uint64_t count);
  void Batch(uint64_t items);
  // `plans` and `bytes` are added, and may be negative.
  void QueueChanged(int plans);
  void AdmittedChanged(int64_t bytes);

  // One commit to the store of navmeshes, waiting included.
  void StoreCommitted(bool ok, double duration_s);
  // When the certificate in use expires, seconds since 1970. Until it is set: 0.
  void SetCertificateExpiry(double unix_s);
  // The certificate's files were read again; not `ok`: the pair before stays in use.
  void CertificateReloaded(bool ok);
  // A caller may not use a method, which counts as a call of it that ended; indices beyond the
  // methods stand for health and reflection.
  void AuthorizationDenied(size_t method);
  // Messages that were not logged, to bound their rate.
  void LogsDropped(uint64_t messages);

  void SetCapacity(int planner_threads, size_t queued_plans_limit, double admitted_bytes_limit);
  // What the process may use of the machine, as its cgroup says.
  void SetUsableProcessors(double processors);
  void SetServing(bool serving);
  // Asked at every scrape, from its thread. An empty function ends that: the one before is not
  // called any more once this has returned.
  void SetNavMeshSource(std::function<NavMeshNumbers()> source);
  // The same for the time, in seconds, that a plan would wait which came now.
  void SetWaitSource(std::function<double()> source);

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
  // be bound. With `access` only those whom it admits may scrape.
  static absl::StatusOr<std::unique_ptr<MetricsEndpoint>> Start(const std::string& address,
                                                                const Metrics& metrics,
                                                                MetricsAccess access = nullptr);
  ~MetricsEndpoint();
  int port() const;

 private:
  struct State;
  explicit MetricsEndpoint(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_METRICS_H_
