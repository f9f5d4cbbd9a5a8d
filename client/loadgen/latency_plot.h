// SPDX-License-Identifier: Apache-2.0
// A picture of latencies by percentile.
#ifndef ARCLANE_CLIENT_LOADGEN_LATENCY_PLOT_H_
#define ARCLANE_CLIENT_LOADGEN_LATENCY_PLOT_H_

#include <string>
#include <vector>

#include "client/loadgen/latency_histogram.h"

namespace arclane {

struct LatencyCurve {
  std::string name;
  const LatencyHistogram* histogram = nullptr;  // Nanoseconds.
  bool is_baseline = false;                     // Drawn dashed.
};

// An SVG document: latency, logarithmic, over the percentile on a scale that gives every further
// nine the same room. Curves without values are left out; without any, the picture says so. The
// same curves give the same bytes.
std::string PlotLatencies(const std::string& title, const std::string& subtitle,
                          const std::vector<LatencyCurve>& curves);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_LATENCY_PLOT_H_
