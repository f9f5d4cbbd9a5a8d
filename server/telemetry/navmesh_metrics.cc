// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/navmesh_metrics.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace arclane {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

ClientMetric Value(MetricType type, double value) {
  ClientMetric metric;
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  return metric;
}

MetricFamily Single(const char* name, const char* help, MetricType type, uint64_t value) {
  return {name, help, type, {Value(type, static_cast<double>(value))}};
}

MetricFamily CacheRequests(const NavMeshNumbers& numbers) {
  MetricFamily family{"arclane_cache_requests_total",
                      "Requests that name a navmesh, by what the cache did for them.",
                      MetricType::Counter,
                      {}};
  const std::pair<const char*, uint64_t> results[] = {{"hit", numbers.cache_hits},
                                                      {"miss", numbers.cache_misses},
                                                      {"coalesced", numbers.cache_coalesced},
                                                      {"bypass", numbers.cache_bypassed}};
  for (const auto& [result, count] : results) {
    ClientMetric metric = Value(MetricType::Counter, static_cast<double>(count));
    metric.label = {{"result", result}};
    family.metric.push_back(std::move(metric));
  }
  return family;
}

// A version's number is a label, not the value: numbers above 2^53 would be rounded.
MetricFamily ActiveVersions(const NavMeshNumbers& numbers) {
  MetricFamily family{"arclane_navmesh_active_info",
                      "Always 1; the labels tell the version of a navmesh that is active.",
                      MetricType::Gauge,
                      {}};
  const size_t count = std::min(numbers.active.size(), kMostActiveVersions);
  for (const ActiveVersion& active : std::span(numbers.active).first(count)) {
    ClientMetric metric = Value(MetricType::Gauge, 1);
    const std::string version = active.version == 0 ? "none" : std::to_string(active.version);
    metric.label = {{"navmesh", active.navmesh_id}, {"version", version}};
    family.metric.push_back(std::move(metric));
  }
  return family;
}

MetricFamily PreparedRequests(const NavMeshNumbers& numbers) {
  MetricFamily family{"arclane_prepared_requests_total",
                      "Plans that looked for a prepared corridor or curve, by what they found.",
                      MetricType::Counter,
                      {}};
  struct Row {
    const char* kind;
    const char* result;
    uint64_t count;
  };
  for (const Row& row : {Row{"corridor", "hit", numbers.prepared_corridor_hits},
                         Row{"corridor", "miss", numbers.prepared_corridor_misses},
                         Row{"curve", "hit", numbers.prepared_curve_hits},
                         Row{"curve", "miss", numbers.prepared_curve_misses}}) {
    ClientMetric metric = Value(MetricType::Counter, static_cast<double>(row.count));
    metric.label = {{"kind", row.kind}, {"result", row.result}};
    family.metric.push_back(std::move(metric));
  }
  return family;
}

}  // namespace

void NavMeshMetrics::SetSource(std::function<NavMeshNumbers()> source) {
  const std::lock_guard lock(mutex_);
  source_ = std::move(source);
}

std::vector<MetricFamily> NavMeshMetrics::Collect() const {
  NavMeshNumbers n;
  {
    const std::lock_guard lock(mutex_);
    if (source_) n = source_();
  }
  return {
      Single("arclane_navmeshes", "Navmeshes known.", MetricType::Gauge, n.navmeshes),
      Single("arclane_navmesh_versions", "Versions of navmeshes held.", MetricType::Gauge,
             n.versions),
      Single("arclane_navmesh_bytes", "Memory of the versions held, bytes.", MetricType::Gauge,
             n.bytes),
      Single("arclane_navmesh_worlds", "Worlds.", MetricType::Gauge, n.worlds),
      Single("arclane_navmesh_publishing_bytes", "Bytes of publications being received.",
             MetricType::Gauge, n.publishing_bytes),
      Single("arclane_navmesh_stored_bytes", "Size of the store of navmeshes.", MetricType::Gauge,
             n.stored_bytes),
      ActiveVersions(n),
      CacheRequests(n),
      PreparedRequests(n),
      Single("arclane_cache_stale_total",
             "Misses for which an answer was kept that holds for another state.",
             MetricType::Counter, n.cache_stale),
      Single("arclane_cache_insertions_total", "Answers, corridors and curves kept.",
             MetricType::Counter, n.cache_insertions),
      Single("arclane_cache_evictions_total", "Answers that gave way to others.",
             MetricType::Counter, n.cache_evictions),
      Single("arclane_cache_rejections_total", "Answers too large to be kept.", MetricType::Counter,
             n.cache_rejections),
      Single("arclane_cache_entries", "Answers, corridors and curves kept now.", MetricType::Gauge,
             n.cache_entries),
      Single("arclane_cache_bytes", "Memory of what is kept, keys and overhead included.",
             MetricType::Gauge, n.cache_bytes),
      Single("arclane_cache_bytes_limit", "Most such memory (cache_bytes).", MetricType::Gauge,
             n.cache_bytes_limit),
  };
}

}  // namespace arclane
