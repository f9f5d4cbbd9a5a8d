// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/sample_kernels.h"

#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/spline/arc_length.h"

namespace arclane {
namespace {

struct Description {
  std::vector<double> x, y, z, weights;
  int degree;
};

Description RandomSpline(std::mt19937_64& random, int degree, bool spatial, bool rational) {
  std::uniform_real_distribution<double> uniform(-50.0, 50.0), weight(0.25, 4.0);
  Description spline{{}, {}, {}, {}, degree};
  for (int i = 0; i < degree + 4; ++i) {
    spline.x.push_back(1000.0 + uniform(random));
    spline.y.push_back(uniform(random));
    if (spatial) spline.z.push_back(uniform(random));
    if (rational) spline.weights.push_back(weight(random));
  }
  return spline;
}

ArcLengthMap MapOfSpline(const Description& spline) {
  CurveInput input;
  input.kind = spline.weights.empty() ? CurveKind::kBSpline : CurveKind::kNurbs;
  input.control = {spline.x, spline.y, spline.z};
  input.weights = spline.weights;
  input.degree = spline.degree;
  return *ArcLengthMap::Create(*Curve::Create(input));
}

bool SameBits(const std::vector<double>& a, const std::vector<double>& b, size_t count) {
  return std::memcmp(a.data(), b.data(), count * sizeof(double)) == 0;
}

// One run of samples of a span by the kernels of one width: t, position, tangent, curvature,
// squared speed.
std::vector<std::vector<double>> RunOf(const ArcLengthMap& map, const ArcSpan& span, int count,
                                       bool directions, KernelWidth width) {
  const CurvePiece& piece = map.curve().piece(span.segment);
  const SampleKernels kernels =
      SelectKernels(map.curve().dimension(), piece.degree, piece.rational, directions, width);
  const auto& origin = map.curve().origin();
  const SampleFrame frame = {{origin[0], origin[1], origin[2]}, map.curve().inverse_scale()};
  const size_t room = static_cast<size_t>(count) + static_cast<size_t>(kParameterGroup);
  std::vector<std::vector<double>> rows(9, std::vector<double>(room, 0.0));
  std::vector<double> distance(room, span.end);
  for (int i = 0; i < count; ++i) {
    distance[i] = span.begin + (span.end - span.begin) * i / count;
  }
  kernels.parameters(span, distance.data(), count, rows[0].data());
  const RunColumns out = {{rows[1].data(), rows[2].data(), rows[3].data()},
                          {rows[4].data(), rows[5].data(), rows[6].data()},
                          rows[7].data(),
                          rows[8].data()};
  kernels.points(piece, frame, rows[0].data(), count, out);
  return rows;
}

TEST(SampleKernelsTest, TheWidthOfVectorsChangesNoBit) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::mt19937_64 random(seed);
    for (int shape = 0; shape < 20; ++shape) {
      const int degree = 1 + shape % 5;
      const bool spatial = shape / 5 % 2 == 1, rational = shape / 10 == 1;
      const ArcLengthMap map = MapOfSpline(RandomSpline(random, degree, spatial, rational));
      for (const ArcSpan& span : map.spans()) {
        for (const int count : {1, 2, 3, 5, 8, 17, 64}) {
          for (const bool directions : {false, true}) {
            const auto wide = RunOf(map, span, count, directions, KernelWidth::kBest);
            const auto narrow = RunOf(map, span, count, directions, KernelWidth::kTwoLanes);
            for (size_t row = 0; row < wide.size(); ++row) {
              ASSERT_TRUE(SameBits(wide[row], narrow[row], static_cast<size_t>(count)))
                  << "seed " << seed << " shape " << shape << " count " << count << " row " << row;
            }
          }
        }
      }
    }
  }
}

TEST(SampleKernelsTest, ScatteredSamplesHaveTheBitsOfRuns) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::mt19937_64 random(seed);
    for (int shape = 0; shape < 20; ++shape) {
      const int degree = 1 + shape % 5;
      const bool spatial = shape / 5 % 2 == 1, rational = shape / 10 == 1;
      const ArcLengthMap map = MapOfSpline(RandomSpline(random, degree, spatial, rational));
      constexpr int kCount = 33;
      const int dimension = map.curve().dimension();
      for (size_t index = 0; index < map.spans().size(); ++index) {
        const ArcSpan& span = map.spans()[index];
        const auto run = RunOf(map, span, kCount, true, KernelWidth::kBest);
        const SampleKernels kernels = SelectKernels(dimension, degree, rational, true);
        const auto& origin = map.curve().origin();
        const SampleFrame frame = {{origin[0], origin[1], origin[2]}, map.curve().inverse_scale()};
        std::vector<double> distance(kCount), t(kCount);
        const std::vector<int32_t> span_of(kCount, static_cast<int32_t>(index));
        for (int i = 0; i < kCount; ++i) {
          distance[i] = span.begin + (span.end - span.begin) * i / kCount;
        }
        ScatteredParameters(map.spans().data(), span_of.data(), distance.data(), kCount, t.data());
        std::vector<std::vector<double>> rows(13, std::vector<double>(kCount + kSampleVector, 1.0));
        double* const position[3] = {rows[0].data(), rows[1].data(), rows[2].data()};
        const DerivativeRows derivatives = {{rows[3].data(), rows[4].data(), rows[5].data()},
                                            {rows[6].data(), rows[7].data(), rows[8].data()}};
        kernels.scattered_points(map.curve().pieces().data(), map.spans().data(), span_of.data(),
                                 frame, t.data(), kCount, position, &derivatives);
        const RunColumns out = {{nullptr, nullptr, nullptr},
                                {rows[9].data(), rows[10].data(), rows[11].data()},
                                rows[12].data(),
                                rows[2].data()};
        for (int c = 0; c < dimension; ++c) {
          ASSERT_TRUE(SameBits(rows[c], run[1 + c], kCount)) << "seed " << seed << " " << shape;
        }
        ASSERT_TRUE(SameBits(t, run[0], kCount));
        kernels.directions(derivatives, frame, kCount, out);
        for (int c = 0; c < dimension; ++c) {
          ASSERT_TRUE(SameBits(rows[9 + c], run[4 + c], kCount)) << "seed " << seed << " " << shape;
        }
        ASSERT_TRUE(SameBits(rows[12], run[7], kCount)) << "seed " << seed << " shape " << shape;
      }
    }
  }
}

}  // namespace
}  // namespace arclane
