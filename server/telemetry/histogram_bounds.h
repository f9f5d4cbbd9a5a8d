// SPDX-License-Identifier: Apache-2.0
// The bounds of the histograms' buckets. A bucket counts what is at most its bound.
#ifndef ARCLANE_SERVER_TELEMETRY_HISTOGRAM_BOUNDS_H_
#define ARCLANE_SERVER_TELEMETRY_HISTOGRAM_BOUNDS_H_

#include <cstddef>
#include <span>

namespace arclane {

// Of a call, in seconds: from a hit's few microseconds to what should long have been refused.
// Objectives are judged at bounds, exactly: an objective of another time needs its bound here.
inline constexpr double kCallDurationBounds_s[] = {10e-6,  25e-6, 50e-6,  100e-6, 250e-6,
                                                   500e-6, 1e-3,  2.5e-3, 5e-3,   10e-3,
                                                   25e-3,  50e-3, 100e-3, 1.0};
// Of a stage of a plan, in seconds: the funnel of a short corridor takes a tenth of a microsecond.
inline constexpr double kStageDurationBounds_s[] = {
    100e-9, 250e-9, 500e-9, 1e-6,   2.5e-6, 5e-6,  10e-6, 25e-6, 50e-6,  100e-6,
    250e-6, 500e-6, 1e-3,   2.5e-3, 5e-3,   10e-3, 25e-3, 50e-3, 100e-3, 1.0};
// Of a commit to the store, in seconds: in memory, on a disk that syncs, on one that is ill.
inline constexpr double kCommitDurationBounds_s[] = {100e-6, 250e-6, 500e-6, 1e-3,  2.5e-3,
                                                     5e-3,   10e-3,  25e-3,  50e-3, 100e-3,
                                                     250e-3, 500e-3, 1.0,    2.5,   10.0};
// Of things counted: portals and samples of a plan, items of a batch.
inline constexpr double kCountBounds[] = {0,   1,   2,    4,    8,     16,    32,     64,
                                          128, 256, 1024, 4096, 16384, 65536, 262144, 1000000};

// The first bucket that counts `value`; bounds.size() for what is above all. NaN too.
inline size_t BucketOf(std::span<const double> bounds, double value) {
  size_t bucket = 0;
  // Without branches: what comes next cannot be foreseen.
  for (const double bound : bounds) bucket += !(value <= bound);
  return bucket;
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_HISTOGRAM_BOUNDS_H_
