// SPDX-License-Identifier: Apache-2.0
// Every reference curve, at bounds from 1e-3 to 1e-12: lengths, points, tangents and curvatures.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/spline/sample.h"
#include "tests/support/reference_data.h"
#include "tests/unit/planning/spline/curve_record.h"

namespace arclane {
namespace {

using testing::CurveOf;
using testing::OwnedCurve;
using testing::ToDouble;

constexpr double kBounds[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12};

double LargestCoordinate(const OwnedCurve& curve) {
  double largest = 0.0;
  for (const auto* column : {&curve.control.x, &curve.control.y, &curve.control.z}) {
    for (double value : *column) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

// One ulp of the coordinates as sent.
double CoordinateUlp(const OwnedCurve& curve) {
  const double largest = LargestCoordinate(curve);
  return std::nextafter(largest, INFINITY) - largest;
}

struct Samples {
  std::vector<double> x, y, z, tx, ty, tz, curvature, parameter;
  std::vector<int32_t> segment;
  std::vector<uint8_t> marks;
};

Samples Take(const ArcLengthMap& map, const std::vector<double>& distances) {
  SampleRequest request;
  request.mode = SampleSpacing::kDistances;
  request.distances = distances;
  request.out_of_range = OutOfRange::kClamp;
  const auto layout = LayOutSamples(map, request);
  EXPECT_TRUE(layout.ok()) << layout.status();
  const size_t n = layout->count;
  Samples s;
  for (auto* column : {&s.x, &s.y, &s.z, &s.tx, &s.ty, &s.tz, &s.curvature, &s.parameter}) {
    column->assign(n, 0.0);
  }
  s.segment.resize(n);
  s.marks.resize(n);
  SampleColumns columns;
  columns.x = s.x;
  columns.y = s.y;
  columns.tangent_x = s.tx;
  columns.tangent_y = s.ty;
  if (map.curve().dimension() == 3) {
    columns.z = s.z;
    columns.tangent_z = s.tz;
  }
  columns.curvature = s.curvature;
  columns.parameter = s.parameter;
  columns.segment = s.segment;
  columns.marks = s.marks;
  SampleCurve(map, *layout, columns);
  return s;
}

// Largest |dr/dt| of a segment.
double LargestSpeed(const Curve& curve, int segment) {
  double largest = 0.0;
  for (int k = 0; k <= 64; ++k) {
    const CurvePoint point = curve.Evaluate(segment, k / 64.0);
    largest = std::max(largest, std::hypot(point.first[0], point.first[1], point.first[2]));
  }
  return largest;
}

class SplineReferenceTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SplineReferenceTest, PointsLieWhereTheirDistanceSays) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  double worst_of_bound = 0.0;
  for (const auto& record : testing::ReadRecords(dir + "/spline/" + GetParam())) {
    const std::string id = record["id"];
    SCOPED_TRACE(id);
    const OwnedCurve owned = CurveOf(record);
    const double length = ToDouble(record["length"]);
    const double ulp = CoordinateUlp(owned);
    for (const double bound : kBounds) {
      for (const InverseMode mode : {InverseMode::kTabulated, InverseMode::kDirect}) {
        auto curve = Curve::Create(owned.Input());
        ASSERT_TRUE(curve.ok()) << curve.status();
        const auto map = ArcLengthMap::Create(*std::move(curve), {bound, mode});
        ASSERT_TRUE(map.ok()) << map.status();
        const auto& inverse = record["inverse"];
        std::vector<double> distances;
        for (const auto& sample : inverse) distances.push_back(ToDouble(sample["s"]));
        const Samples samples = Take(*map, distances);
        for (size_t i = 0; i < distances.size(); ++i) {
          ASSERT_TRUE(std::isfinite(samples.x[i]) && std::isfinite(samples.y[i]) &&
                      std::isfinite(samples.z[i]));
        }
        EXPECT_LE(map->error_bound(), bound * map->length()) << "bound " << bound;
        EXPECT_NEAR(map->length(), length, bound * length + ulp) << "bound " << bound;
        EXPECT_NEAR(map->length(), length, map->error_bound() + ulp) << "bound " << bound;
        for (size_t i = 0; i < distances.size(); ++i) {
          const auto& point = inverse[i]["point"];
          const double dx = samples.x[i] - ToDouble(point[0]);
          const double dy = samples.y[i] - ToDouble(point[1]);
          const double dz = point.size() > 2 ? samples.z[i] - ToDouble(point[2]) : 0.0;
          const double error = std::hypot(dx, dy, dz);
          EXPECT_LE(error, bound * length + ulp)
              << "bound " << bound << " s " << distances[i] << " mode " << static_cast<int>(mode);
          EXPECT_LE(error, map->error_bound() + 2 * ulp)
              << "reported at bound " << bound << " s " << distances[i];
          if (length > 0.0) {
            worst_of_bound = std::max(worst_of_bound, (error - ulp) / (bound * length));
          }
        }
      }
    }
  }
  std::printf("%s: largest error over bound %.3g\n", GetParam().c_str(), worst_of_bound);
}

TEST_P(SplineReferenceTest, TangentsAndCurvaturesAgree) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  int judged = 0;
  double worst_tangent = 0.0, worst_curvature = 0.0;
  for (const auto& record : testing::ReadRecords(dir + "/spline/" + GetParam())) {
    const std::string id = record["id"];
    SCOPED_TRACE(id);
    const OwnedCurve owned = CurveOf(record);
    const double length = ToDouble(record["length"]);
    auto curve = Curve::Create(owned.Input());
    ASSERT_TRUE(curve.ok()) << curve.status();
    const auto map = ArcLengthMap::Create(*std::move(curve));
    ASSERT_TRUE(map.ok());
    const auto& inverse = record["inverse"];
    std::vector<double> distances;
    for (const auto& sample : inverse) distances.push_back(ToDouble(sample["s"]));
    const Samples samples = Take(*map, distances);
    for (size_t i = 0; i < distances.size(); ++i) {
      const auto& expected = inverse[i];
      SCOPED_TRACE("s " + std::to_string(distances[i]));
      if (expected["tangent"].is_null()) {
        EXPECT_EQ(samples.marks[i], kTangentUndefined | kCurvatureUndefined);
        EXPECT_EQ(samples.tx[i], 0.0);
        continue;
      }
      const auto& tangent = expected["tangent"];
      const double t = ToDouble(expected["t"]);
      const int segment = expected["segment"];
      if (expected["curvature"].is_null()) {
        EXPECT_EQ(samples.marks[i], kCurvatureUndefined);
        EXPECT_TRUE(std::isnan(samples.curvature[i]));
        EXPECT_NEAR(samples.tx[i], ToDouble(tangent[0]), 1e-8);
        EXPECT_NEAR(samples.ty[i], ToDouble(tangent[1]), 1e-8);
        continue;
      }
      const CurvePoint at = map->curve().Evaluate(segment, t);
      const double speed = std::hypot(at.first[0], at.first[1], at.first[2]);
      if (speed < 1e-3 * LargestSpeed(map->curve(), segment)) continue;
      ++judged;
      EXPECT_EQ(samples.segment[i], segment);
      const double kappa = ToDouble(expected["curvature"]);
      const double tangent_error =
          std::hypot(samples.tx[i] - ToDouble(tangent[0]), samples.ty[i] - ToDouble(tangent[1]),
                     tangent.size() > 2 ? samples.tz[i] - ToDouble(tangent[2]) : 0.0);
      const double tangent_bound = 1e-8 + std::abs(kappa) * 1e-9 * length;
      const double curvature_bound = 1e-6 * std::abs(kappa) + 1e-6 / length;
      EXPECT_LE(tangent_error, tangent_bound);
      EXPECT_NEAR(samples.curvature[i], kappa, curvature_bound);
      worst_tangent = std::max(worst_tangent, tangent_error / tangent_bound);
      worst_curvature =
          std::max(worst_curvature, std::abs(samples.curvature[i] - kappa) / curvature_bound);
    }
  }
  std::printf("%s: %d judged; largest error over tolerance: tangent %.3g, curvature %.3g\n",
              GetParam().c_str(), judged, worst_tangent, worst_curvature);
  EXPECT_GT(judged, 0);
}

TEST_P(SplineReferenceTest, SegmentLengthsAndForwardMapAgree) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  for (const auto& record : testing::ReadRecords(dir + "/spline/" + GetParam())) {
    const std::string id = record["id"];
    SCOPED_TRACE(id);
    const OwnedCurve owned = CurveOf(record);
    const double length = ToDouble(record["length"]);
    auto curve = Curve::Create(owned.Input());
    ASSERT_TRUE(curve.ok()) << curve.status();
    const auto map = ArcLengthMap::Create(*std::move(curve));
    ASSERT_TRUE(map.ok());
    const auto& lengths = record["per_segment_length"];
    ASSERT_EQ(static_cast<size_t>(map->curve().segment_count()), lengths.size());
    for (size_t i = 0; i < lengths.size(); ++i) {
      EXPECT_NEAR(map->SegmentLength(static_cast<int>(i)), ToDouble(lengths[i]), 1e-9 * length);
    }
    for (const auto& sample : record["inverse"]) {
      const double s = ToDouble(sample["s"]);
      EXPECT_NEAR(map->DistanceAt(sample["segment"], ToDouble(sample["t"])), s, 2e-9 * length);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Data, SplineReferenceTest,
                         ::testing::Values("splines_dev.jsonl.gz", "icons.jsonl.gz",
                                           "issues.jsonl.gz"),
                         [](const auto& param_info) {
                           return param_info.param.substr(0, param_info.param.find('.'));
                         });

}  // namespace
}  // namespace arclane
