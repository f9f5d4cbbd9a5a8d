// SPDX-License-Identifier: Apache-2.0
// The series of one set of metrics: what each is called, and which cells it is read from. Seen by
// metrics.cc only.
//
// prometheus-cpp's own histograms lock and its counters contend; here recording goes to sharded
// cells, and prometheus-cpp only sees what a scrape collects from them.
#ifndef ARCLANE_SERVER_TELEMETRY_SERIES_CATALOG_H_
#define ARCLANE_SERVER_TELEMETRY_SERIES_CATALOG_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/telemetry/sharded_cells.h"

namespace arclane {

using SeriesLabels = std::map<std::string, std::string>;

// A histogram's cells: one a bucket, the last for what is above all bounds, and one for the sum.
struct HistogramCells {
  size_t first_cell = 0;
  std::span<const double> bounds;

  size_t sum_cell() const { return first_cell + bounds.size() + 1; }
};

// Families and series are added first, then Seal is called once; recording and collecting come
// after it. Collecting is thread-safe.
class SeriesCatalog : public prometheus::Collectable {
 public:
  // Later Add... calls add series to this family.
  void Family(const char* name, const char* help);
  // The cell of a counter.
  size_t AddCounter(const SeriesLabels& labels = {});
  // The cell of a gauge that is changed by amounts. Read while changes are made it may be off by
  // these; it is never shown below 0.
  size_t AddSummedGauge(const SeriesLabels& labels = {});
  // A gauge that is set.
  std::atomic<double>* AddGauge(const SeriesLabels& labels = {}, double value = 0.0);
  // `bounds` must outlive the catalog. The cell of the sum counts in parts of 1 / `scale`.
  HistogramCells AddHistogram(const SeriesLabels& labels, std::span<const double> bounds,
                              double scale);
  void Seal();

  ShardedCells& cells() { return *cells_; }
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct Series {
    std::vector<prometheus::ClientMetric::Label> labels;
    size_t cell = 0;                             // Of counters and summed gauges.
    const std::atomic<double>* value = nullptr;  // Of gauges that are set.
    HistogramCells histogram;
    double scale = 1.0;
  };
  struct FamilyOfSeries {
    std::string name;
    std::string help;
    prometheus::MetricType type = prometheus::MetricType::Untyped;
    std::vector<Series> series;
  };

  Series& AddSeries(prometheus::MetricType type, const SeriesLabels& labels);
  prometheus::ClientMetric Read(prometheus::MetricType type, const Series& series) const;

  std::vector<FamilyOfSeries> families_;
  std::deque<std::atomic<double>> values_;
  size_t cell_count_ = 0;
  std::unique_ptr<ShardedCells> cells_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_SERIES_CATALOG_H_
