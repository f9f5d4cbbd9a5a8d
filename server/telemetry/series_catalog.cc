// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/series_catalog.h"

#include <algorithm>
#include <limits>

namespace arclane {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

void SeriesCatalog::Family(const char* name, const char* help) {
  FamilyOfSeries& family = families_.emplace_back();
  family.name = name;
  family.help = help;
}

SeriesCatalog::Series& SeriesCatalog::AddSeries(MetricType type, const SeriesLabels& labels) {
  FamilyOfSeries& family = families_.back();
  family.type = type;
  Series& series = family.series.emplace_back();
  for (const auto& [name, value] : labels) series.labels.push_back({name, value});
  return series;
}

size_t SeriesCatalog::AddCounter(const SeriesLabels& labels) {
  return AddSeries(MetricType::Counter, labels).cell = cell_count_++;
}

size_t SeriesCatalog::AddSummedGauge(const SeriesLabels& labels) {
  return AddSeries(MetricType::Gauge, labels).cell = cell_count_++;
}

std::atomic<double>* SeriesCatalog::AddGauge(const SeriesLabels& labels, double value) {
  std::atomic<double>* const stored = &values_.emplace_back(value);
  AddSeries(MetricType::Gauge, labels).value = stored;
  return stored;
}

HistogramCells SeriesCatalog::AddHistogram(const SeriesLabels& labels,
                                           std::span<const double> bounds, double scale) {
  Series& series = AddSeries(MetricType::Histogram, labels);
  series.histogram = {cell_count_, bounds};
  series.scale = scale;
  cell_count_ = series.histogram.sum_cell() + 1;
  return series.histogram;
}

void SeriesCatalog::Seal() { cells_ = std::make_unique<ShardedCells>(cell_count_); }

ClientMetric SeriesCatalog::Read(MetricType type, const Series& series) const {
  ClientMetric metric;
  metric.label = series.labels;
  if (series.value != nullptr) {
    metric.gauge.value = series.value->load(std::memory_order_relaxed);
  } else if (type == MetricType::Counter) {
    metric.counter.value = static_cast<double>(cells_->Sum(series.cell));
  } else if (type == MetricType::Gauge) {
    const auto sum = static_cast<int64_t>(cells_->Sum(series.cell));
    metric.gauge.value = static_cast<double>(std::max<int64_t>(0, sum));
  } else {
    const HistogramCells& cells = series.histogram;
    uint64_t count = 0;
    metric.histogram.bucket.reserve(cells.bounds.size() + 1);
    for (size_t i = 0; i <= cells.bounds.size(); ++i) {
      count += cells_->Sum(cells.first_cell + i);
      const double bound =
          i < cells.bounds.size() ? cells.bounds[i] : std::numeric_limits<double>::infinity();
      metric.histogram.bucket.push_back({count, bound});
    }
    metric.histogram.sample_count = count;
    metric.histogram.sample_sum = static_cast<double>(cells_->Sum(cells.sum_cell())) / series.scale;
  }
  return metric;
}

std::vector<MetricFamily> SeriesCatalog::Collect() const {
  std::vector<MetricFamily> collected;
  collected.reserve(families_.size());
  for (const FamilyOfSeries& family : families_) {
    MetricFamily& out = collected.emplace_back();
    out.name = family.name;
    out.help = family.help;
    out.type = family.type;
    out.metric.reserve(family.series.size());
    for (const Series& series : family.series) out.metric.push_back(Read(family.type, series));
  }
  return collected;
}

}  // namespace arclane
