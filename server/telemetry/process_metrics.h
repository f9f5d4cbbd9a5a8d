// SPDX-License-Identifier: Apache-2.0
// What the operating system knows of this process, read at each scrape. Seen by metrics.cc only.
#ifndef ARCLANE_SERVER_TELEMETRY_PROCESS_METRICS_H_
#define ARCLANE_SERVER_TELEMETRY_PROCESS_METRICS_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <vector>

namespace arclane {

// Linux: reads /proc. A value that cannot be read is left out.
class ProcessMetrics : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_PROCESS_METRICS_H_
