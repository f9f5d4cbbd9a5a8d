// SPDX-License-Identifier: Apache-2.0
// A histogram of latencies with a bounded relative error, after the idea of HdrHistogram (Gil
// Tene): every power of two is cut into the same number of equal buckets.
#ifndef ARCLANE_CLIENT_LOADGEN_LATENCY_HISTOGRAM_H_
#define ARCLANE_CLIENT_LOADGEN_LATENCY_HISTOGRAM_H_

#include <cstdint>
#include <vector>

namespace arclane {

// Values are nanoseconds, or any other count; adding one costs a few instructions and no
// allocation after the first. Not thread-safe.
//
// Error: values below 512 are exact. Others fall into buckets whose width is at most 1/256 of their
// lower end, and a bucket is reported as its middle, so that
//   |Percentile(p) - exact nearest-rank percentile| <= kRelativeError * exact,  kRelativeError =
//   1/512.
// count, min, max and the mean are exact (the mean within the rounding of doubles). Values above
// kLargestValue (2^44 ns, almost five hours) count as that value in Percentile, not in max().
class LatencyHistogram {
 public:
  static constexpr double kRelativeError = 1.0 / 512;
  static constexpr uint64_t kLargestValue = (uint64_t{1} << 44) - 1;

  void Add(uint64_t value);
  // As if every value of `other` had been added here.
  void Merge(const LatencyHistogram& other);
  void Clear();

  uint64_t count() const { return count_; }
  // 0 when empty.
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }
  double mean() const { return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_); }

  // The nearest-rank percentile: the smallest value that at least `percent` per cent of the values
  // do not exceed; within [min, max]. `percent` is clamped to [0, 100]. 0 when empty. Costs one
  // pass over about 9,500 buckets.
  double Percentile(double percent) const;

  // A bucket that holds values: the share of all values up to and with it, in (0, 1], and its value
  // as Percentile reports it.
  struct Step {
    double share;
    double value;
  };
  // The whole distribution, ascending.
  std::vector<Step> Steps() const;

 private:
  // Values below 2^kExactBits have buckets of their own; above, each power of two has
  // 2^(kExactBits - 1) buckets.
  static constexpr int kExactBits = 9;
  static constexpr uint64_t kBucketsPerPower = uint64_t{1} << (kExactBits - 1);

  static uint64_t BucketOf(uint64_t value);
  double ValueOf(uint64_t bucket) const;

  std::vector<uint64_t> buckets_;  // Empty until the first value.
  uint64_t count_ = 0;
  uint64_t min_ = ~uint64_t{0};
  uint64_t max_ = 0;
  double sum_ = 0.0;
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_LATENCY_HISTOGRAM_H_
