// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/sourced_gauge.h"

#include <utility>

namespace arclane {

SourcedGauge::SourcedGauge(std::string name, std::string help)
    : name_(std::move(name)), help_(std::move(help)) {}

void SourcedGauge::SetSource(std::function<double()> source) {
  const std::lock_guard lock(mutex_);
  source_ = std::move(source);
}

std::vector<prometheus::MetricFamily> SourcedGauge::Collect() const {
  prometheus::ClientMetric metric;
  {
    const std::lock_guard lock(mutex_);
    if (source_) metric.gauge.value = source_();
  }
  return {{name_, help_, prometheus::MetricType::Gauge, {metric}}};
}

}  // namespace arclane
