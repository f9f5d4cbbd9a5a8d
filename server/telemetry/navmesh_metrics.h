// SPDX-License-Identifier: Apache-2.0
// Metrics of navmeshes and of the cache, read from their owner at each scrape. Seen by metrics.cc
// only.
#ifndef ARCLANE_SERVER_TELEMETRY_NAVMESH_METRICS_H_
#define ARCLANE_SERVER_TELEMETRY_NAVMESH_METRICS_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <mutex>
#include <vector>

#include "server/telemetry/metrics.h"

namespace arclane {

// Thread-safe. All series are there, at 0, without a source too.
class NavMeshMetrics : public prometheus::Collectable {
 public:
  // An empty source ends the reading of the one before: it is not called any more afterwards.
  void SetSource(std::function<NavMeshNumbers()> source);
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  mutable std::mutex mutex_;
  std::function<NavMeshNumbers()> source_;  // Under mutex_.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_NAVMESH_METRICS_H_
