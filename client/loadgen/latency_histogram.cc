// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace arclane {

// A value of `w` bits, w > kExactBits, keeps its kExactBits highest bits: with shift s = w -
// kExactBits they lie in [2^(kExactBits-1), 2^kExactBits), and the buckets of s follow those of s
// - 1.
uint64_t LatencyHistogram::BucketOf(uint64_t value) {
  value = std::min(value, kLargestValue);
  const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - kExactBits);
  return static_cast<uint64_t>(shift) * kBucketsPerPower + (value >> shift);
}

double LatencyHistogram::ValueOf(uint64_t bucket) const {
  const uint64_t shift = bucket < 2 * kBucketsPerPower ? 0 : bucket / kBucketsPerPower - 1;
  const uint64_t low = (bucket - shift * kBucketsPerPower) << shift;
  const uint64_t width = uint64_t{1} << shift;
  const double middle = static_cast<double>(low) + 0.5 * static_cast<double>(width - 1);
  return std::clamp(middle, static_cast<double>(min_), static_cast<double>(max_));
}

void LatencyHistogram::Add(uint64_t value) {
  if (buckets_.empty()) buckets_.resize(BucketOf(kLargestValue) + 1);
  ++buckets_[BucketOf(value)];
  ++count_;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  if (other.count_ == 0) return;
  if (buckets_.empty()) buckets_.resize(other.buckets_.size());
  for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

void LatencyHistogram::Clear() {
  std::fill(buckets_.begin(), buckets_.end(), 0);
  count_ = 0;
  min_ = ~uint64_t{0};
  max_ = 0;
  sum_ = 0.0;
}

double LatencyHistogram::Percentile(double percent) const {
  if (count_ == 0) return 0.0;
  const double share = std::clamp(percent, 0.0, 100.0) / 100.0;
  // 99.9% of 1,000 is rank 999, though 0.999 * 1000 rounds to a little more.
  const double exact_rank = share * static_cast<double>(count_);
  const auto rank = std::clamp<uint64_t>(
      static_cast<uint64_t>(std::ceil(exact_rank - exact_rank * 4e-16)), 1, count_);
  uint64_t seen = 0;
  for (uint64_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) return ValueOf(bucket);
  }
  return static_cast<double>(max_);
}

std::vector<LatencyHistogram::Step> LatencyHistogram::Steps() const {
  std::vector<Step> steps;
  uint64_t seen = 0;
  for (uint64_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    if (buckets_[bucket] == 0) continue;
    seen += buckets_[bucket];
    steps.push_back({static_cast<double>(seen) / static_cast<double>(count_), ValueOf(bucket)});
  }
  return steps;
}

}  // namespace arclane
