// SPDX-License-Identifier: Apache-2.0
// A gauge that is asked for at each scrape. Seen by metrics.cc only.
#ifndef ARCLANE_SERVER_TELEMETRY_SOURCED_GAUGE_H_
#define ARCLANE_SERVER_TELEMETRY_SOURCED_GAUGE_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace arclane {

// Thread-safe. 0 without a source.
class SourcedGauge : public prometheus::Collectable {
 public:
  SourcedGauge(std::string name, std::string help);
  // An empty source ends the reading of the one before: it is not called any more afterwards.
  void SetSource(std::function<double()> source);
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::string name_;
  const std::string help_;
  mutable std::mutex mutex_;
  std::function<double()> source_;  // Under mutex_.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_SOURCED_GAUGE_H_
