// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace arclane {
namespace {

// The nearest-rank percentile by its definition.
uint64_t ExactPercentile(std::vector<uint64_t> values, double percent) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<size_t>(
      std::ceil(percent * static_cast<double>(values.size()) / 100.0 * (1 - 4e-16)));
  return values[std::clamp<size_t>(rank, 1, values.size()) - 1];
}

void ExpectWithinBound(double reported, uint64_t exact) {
  EXPECT_LE(std::abs(reported - static_cast<double>(exact)),
            LatencyHistogram::kRelativeError * static_cast<double>(exact))
      << reported << " for " << exact;
}

TEST(LatencyHistogramTest, IsEmptyAtFirst) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min(), 0u);
  EXPECT_EQ(histogram.max(), 0u);
  EXPECT_EQ(histogram.mean(), 0.0);
  EXPECT_EQ(histogram.Percentile(50), 0.0);
  EXPECT_TRUE(histogram.Steps().empty());
}

TEST(LatencyHistogramTest, ReportsOneValueExactlyAtEveryPercentile) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{511}, uint64_t{512},
                               uint64_t{123'456'789}, LatencyHistogram::kLargestValue}) {
    LatencyHistogram histogram;
    histogram.Add(value);
    for (const double percent : {0.0, 50.0, 100.0}) {
      EXPECT_EQ(histogram.Percentile(percent), static_cast<double>(value));
    }
    EXPECT_EQ(histogram.mean(), static_cast<double>(value));
  }
}

TEST(LatencyHistogramTest, IsExactBelow512) {
  LatencyHistogram histogram;
  for (uint64_t value = 0; value < 512; ++value) histogram.Add(value);
  for (int rank = 1; rank <= 512; ++rank) {
    EXPECT_EQ(histogram.Percentile(100.0 * rank / 512), rank - 1.0);
  }
}

TEST(LatencyHistogramTest, TakesTheSmallestValueThatTheShareDoesNotExceed) {
  LatencyHistogram histogram;
  for (uint64_t value = 1; value <= 10; ++value) histogram.Add(value);
  EXPECT_EQ(histogram.Percentile(-5), 1.0);
  EXPECT_EQ(histogram.Percentile(10), 1.0);
  EXPECT_EQ(histogram.Percentile(10.1), 2.0);
  EXPECT_EQ(histogram.Percentile(50), 5.0);
  EXPECT_EQ(histogram.Percentile(99.9), 10.0);
  EXPECT_EQ(histogram.Percentile(200), 10.0);
}

TEST(LatencyHistogramTest, KeepsItsRankWhereThePercentIsNoBinaryFraction) {
  LatencyHistogram histogram;  // 1..1000 below 512 and in narrow buckets above.
  for (uint64_t value = 1; value <= 500; ++value) histogram.Add(value);
  // 99.8% of 500 is rank 499.
  EXPECT_EQ(histogram.Percentile(99.8), 499.0);
}

TEST(LatencyHistogramTest, EveryPowerOfTwoAndItsNeighboursStayWithinTheBound) {
  for (int bit = 0; bit < 44; ++bit) {
    for (const int64_t offset : {-1, 0, 1}) {
      const auto value = static_cast<uint64_t>((int64_t{1} << bit) + offset);
      LatencyHistogram histogram;
      histogram.Add(0);
      histogram.Add(value);
      histogram.Add(LatencyHistogram::kLargestValue);
      ExpectWithinBound(histogram.Percentile(50), value);
    }
  }
}

TEST(LatencyHistogramTest, RandomValuesStayWithinTheBoundAtEveryPercentile) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> latency(12.0, 0.3 * static_cast<double>(seed % 7 + 1));
    LatencyHistogram histogram;
    std::vector<uint64_t> values;
    double sum = 0.0;
    for (int i = 0; i < 5000; ++i) {
      const auto value =
          std::min(static_cast<uint64_t>(latency(random)), LatencyHistogram::kLargestValue);
      values.push_back(value);
      histogram.Add(value);
      sum += static_cast<double>(value);
    }
    for (const double percent : {0.0, 1.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
      SCOPED_TRACE(percent);
      ExpectWithinBound(histogram.Percentile(percent), ExactPercentile(values, percent));
    }
    EXPECT_EQ(histogram.min(), *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(histogram.max(), *std::max_element(values.begin(), values.end()));
    EXPECT_NEAR(histogram.mean(), sum / 5000, 1e-9 * sum / 5000);
  }
}

TEST(LatencyHistogramTest, MergingIsAddingAllValues) {
  LatencyHistogram both, first, second, empty;
  for (uint64_t i = 0; i < 1000; ++i) {
    const uint64_t value = i * i * 977;
    both.Add(value);
    (i % 3 == 0 ? first : second).Add(value);
  }
  first.Merge(second);
  first.Merge(empty);
  empty.Merge(first);
  for (const LatencyHistogram* merged : {&first, &empty}) {
    EXPECT_EQ(merged->count(), both.count());
    EXPECT_EQ(merged->min(), both.min());
    EXPECT_EQ(merged->max(), both.max());
    for (int half_percent = 0; half_percent <= 200; ++half_percent) {
      const double percent = 0.5 * half_percent;
      EXPECT_EQ(merged->Percentile(percent), both.Percentile(percent));
    }
  }
}

TEST(LatencyHistogramTest, ClearingForgetsEverything) {
  LatencyHistogram histogram;
  histogram.Add(7'000'000);
  histogram.Clear();
  EXPECT_EQ(histogram.count(), 0u);
  histogram.Add(3);
  EXPECT_EQ(histogram.min(), 3u);
  EXPECT_EQ(histogram.max(), 3u);
  EXPECT_EQ(histogram.Percentile(50), 3.0);
}

TEST(LatencyHistogramTest, ValuesBeyondTheLargestCountAsItButKeepTheirMaximum) {
  LatencyHistogram histogram;
  const uint64_t beyond = LatencyHistogram::kLargestValue * 4;
  histogram.Add(1);
  histogram.Add(beyond);
  EXPECT_EQ(histogram.max(), beyond);
  ExpectWithinBound(histogram.Percentile(100), LatencyHistogram::kLargestValue);
}

TEST(LatencyHistogramTest, StepsAscendToTheWhole) {
  LatencyHistogram histogram;
  for (const uint64_t value : {5, 5, 40, 7, 100'000}) histogram.Add(value);
  const auto steps = histogram.Steps();
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[0].value, 5.0);
  EXPECT_EQ(steps[0].share, 0.4);
  EXPECT_EQ(steps[1].value, 7.0);
  EXPECT_EQ(steps[2].value, 40.0);
  EXPECT_EQ(steps[3].share, 1.0);
  EXPECT_EQ(steps[3].value, histogram.Percentile(100));
}

}  // namespace
}  // namespace arclane
