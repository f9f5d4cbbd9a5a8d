// SPDX-License-Identifier: Apache-2.0
// The same curve described in another way has the same points at the same distances: reversed, of
// elevated degree, with inserted knots, split, moved by an exact offset, scaled by a power of two.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/spline/arc_length.h"
#include "server/planning/spline/sample.h"

namespace arclane {
namespace {

struct Polygon {
  std::vector<double> x, y, z;
  size_t size() const { return x.size(); }
  void Push(double px, double py, double pz) {
    x.push_back(px);
    y.push_back(py);
    z.push_back(pz);
  }
};

struct Description {
  CurveKind kind = CurveKind::kBezier;
  Polygon control;
  int degree = 3;
  std::vector<double> knots;
  std::vector<double> weights;

  CurveInput Input() const {
    CurveInput input;
    input.kind = kind;
    input.control = {control.x, control.y, control.z};
    input.degree = degree;
    input.knots = knots;
    input.weights = weights;
    return input;
  }
  std::string Text() const {
    std::ostringstream text;
    text.precision(17);
    text << "kind " << static_cast<int>(kind) << " degree " << degree << " control";
    for (size_t i = 0; i < control.size(); ++i) {
      text << " [" << control.x[i] << "," << control.y[i] << "," << control.z[i] << "]";
    }
    text << " knots";
    for (double u : knots) text << " " << u;
    text << " weights";
    for (double w : weights) text << " " << w;
    return text.str();
  }
};

// A random chain with the troubles of real ones: doubled controls, zero segments, reversals, cusps.
Description RandomChain(std::mt19937_64& random, int segments) {
  // Multiples of 2^-10 below 2^7: offsets and powers of two act on them exactly.
  const auto coordinate = [&] {
    return static_cast<double>(static_cast<int64_t>(random() % 200001) - 100000) / 1024.0;
  };
  Description chain;
  for (int i = 0; i < 3 * segments + 1; ++i) {
    const uint64_t fate = random() % 12;
    Polygon& c = chain.control;
    if (i > 0 && fate == 0) {
      c.Push(c.x.back(), c.y.back(), c.z.back());
    } else if (i > 1 && fate == 1) {
      c.Push(c.x[i - 2], c.y[i - 2], c.z[i - 2]);
    } else {
      c.Push(coordinate(), coordinate(), coordinate());
    }
  }
  return chain;
}

Description RandomBSpline(std::mt19937_64& random, int degree, int count) {
  Description spline = RandomChain(random, (count + 1) / 3 + 1);
  spline.kind = CurveKind::kBSpline;
  spline.degree = degree;
  for (auto* column : {&spline.control.x, &spline.control.y, &spline.control.z}) {
    column->resize(count);
  }
  double u = 0.0;
  for (int i = 0; i < count + degree + 1; ++i) {
    spline.knots.push_back(u);
    if (i >= degree && i < count) u += static_cast<double>(1 + random() % 8) / 8.0;
  }
  return spline;
}

ArcLengthMap MapOf(const Description& description, double bound) {
  auto curve = Curve::Create(description.Input());
  EXPECT_TRUE(curve.ok()) << curve.status() << "\n" << description.Text();
  return *ArcLengthMap::Create(*std::move(curve), {bound});
}

struct Point {
  double x, y, z;
};

Point At(const ArcLengthMap& map, double s) {
  SampleRequest request;
  request.mode = SampleSpacing::kDistances;
  request.out_of_range = OutOfRange::kClamp;
  request.distances = {&s, 1};
  const auto layout = LayOutSamples(map, request);
  Point p{};
  SampleColumns columns;
  columns.x = {&p.x, 1};
  columns.y = {&p.y, 1};
  columns.z = {&p.z, 1};
  SampleCurve(map, *layout, columns);
  return p;
}

struct Relation {
  bool reversed = false;
  double offset = 0.0;
  double scale = 1.0;
};

void ExpectSamePoints(const Description& a, const Description& b, const Relation& relation,
                      double bound, uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + " bound " + std::to_string(bound) +
               "\nfirst: " + a.Text() + "\nsecond: " + b.Text());
  const ArcLengthMap map_a = MapOf(a, bound), map_b = MapOf(b, bound);
  const double length = map_a.length();
  ASSERT_LE(map_a.error_bound(), bound * length);
  ASSERT_LE(map_b.error_bound(), bound * map_b.length());
  // Both descriptions round their own controls, by a few ulps of the coordinates.
  const double largest = 100.0 + std::abs(relation.offset);
  const double rounding = 16 * 0x1p-52 * largest;
  const double allowed = map_a.error_bound() + map_b.error_bound() / relation.scale + rounding;
  EXPECT_NEAR(map_b.length() / relation.scale, length, allowed);
  for (int k = 0; k <= 40; ++k) {
    const double s = length * k / 40;
    const double mirrored = relation.reversed ? length - s : s;
    const Point p = At(map_a, s), q = At(map_b, mirrored * relation.scale);
    const double dx = (q.x - relation.offset) / relation.scale - p.x;
    const double dy = (q.y - relation.offset) / relation.scale - p.y;
    const double dz = (q.z - relation.offset) / relation.scale - p.z;
    // A reversed curve measures from the other end: the error of its length comes on top.
    EXPECT_LE(std::hypot(dx, dy, dz), relation.reversed ? 2 * allowed : allowed) << "s " << s;
  }
}

constexpr double kBounds[] = {1e-3, 1e-6, 1e-9, 1e-12};
constexpr int kRounds = 60;

template <typename Body>
void ForRandomCurves(Body body) {
  for (uint64_t seed = 1; seed <= kRounds; ++seed) {
    std::mt19937_64 random(seed);
    for (double bound : kBounds) body(random, bound, seed);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(SplineInvarianceTest, Reversal) {
  ForRandomCurves([](std::mt19937_64& random, double bound, uint64_t seed) {
    const Description chain = RandomChain(random, 3);
    Description reversed = chain;
    for (auto* column : {&reversed.control.x, &reversed.control.y, &reversed.control.z}) {
      std::reverse(column->begin(), column->end());
    }
    ExpectSamePoints(chain, reversed, {true, 0.0, 1.0}, bound, seed);
  });
}

TEST(SplineInvarianceTest, ExactOffset) {
  ForRandomCurves([](std::mt19937_64& random, double bound, uint64_t seed) {
    const Description chain = RandomChain(random, 3);
    Description moved = chain;
    const double offset = 1 << 23;
    for (auto* column : {&moved.control.x, &moved.control.y, &moved.control.z}) {
      for (double& value : *column) value += offset;
    }
    ExpectSamePoints(chain, moved, {false, offset, 1.0}, bound, seed);
  });
}

TEST(SplineInvarianceTest, PowerOfTwoChangesNoBit) {
  ForRandomCurves([](std::mt19937_64& random, double bound, uint64_t seed) {
    const Description chain = RandomChain(random, 3);
    for (double scale : {0x1p-40, 0x1p13, 0x1p400, 0x1p-500}) {
      Description scaled = chain;
      for (auto* column : {&scaled.control.x, &scaled.control.y, &scaled.control.z}) {
        for (double& value : *column) value *= scale;
      }
      const ArcLengthMap a = MapOf(chain, bound), b = MapOf(scaled, bound);
      ASSERT_EQ(b.length(), a.length() * scale) << "seed " << seed << " " << chain.Text();
      for (int k = 0; k <= 20; ++k) {
        const double s = a.length() * k / 20;
        const Point p = At(a, s), q = At(b, s * scale);
        ASSERT_EQ(q.x, p.x * scale) << "seed " << seed << " s " << s << " " << chain.Text();
        ASSERT_EQ(q.z, p.z * scale) << "seed " << seed << " s " << s << " " << chain.Text();
      }
    }
  });
}

TEST(SplineInvarianceTest, DegreeElevation) {
  ForRandomCurves([](std::mt19937_64& random, double bound, uint64_t seed) {
    const Description chain = RandomChain(random, 3);
    const size_t segments = (chain.control.size() - 1) / 3;
    Description elevated;
    elevated.kind = CurveKind::kBSpline;
    elevated.degree = 4;
    for (auto [from, to] : {std::pair{&chain.control.x, &elevated.control.x},
                            std::pair{&chain.control.y, &elevated.control.y},
                            std::pair{&chain.control.z, &elevated.control.z}}) {
      for (size_t i = 0; i < segments; ++i) {
        const double* b = from->data() + 3 * i;
        if (i == 0) to->push_back(b[0]);
        to->insert(to->end(), {0.25 * b[0] + 0.75 * b[1], 0.5 * b[1] + 0.5 * b[2],
                               0.75 * b[2] + 0.25 * b[3], b[3]});
      }
    }
    elevated.knots.push_back(0.0);
    for (size_t i = 0; i <= segments; ++i) {
      elevated.knots.insert(elevated.knots.end(), 4, static_cast<double>(i));
    }
    elevated.knots.push_back(static_cast<double>(segments));
    ExpectSamePoints(chain, elevated, {}, bound, seed);
  });
}

TEST(SplineInvarianceTest, Splitting) {
  ForRandomCurves([](std::mt19937_64& random, double bound, uint64_t seed) {
    const Description chain = RandomChain(random, 2);
    const double t = static_cast<double>(1 + random() % 15) / 16.0;
    Description split;
    for (auto [from, to] : {std::pair{&chain.control.x, &split.control.x},
                            std::pair{&chain.control.y, &split.control.y},
                            std::pair{&chain.control.z, &split.control.z}}) {
      const auto mix = [t](double a, double b) { return a + t * (b - a); };
      const double* b = from->data();
      const double c0 = mix(b[0], b[1]), c1 = mix(b[1], b[2]), c2 = mix(b[2], b[3]);
      const double d0 = mix(c0, c1), d1 = mix(c1, c2);
      *to = {b[0], c0, d0, mix(d0, d1), d1, c2};
      to->insert(to->end(), from->begin() + 3, from->end());
    }
    ExpectSamePoints(chain, split, {}, bound, seed);
  });
}

// Boehm's insertion of one knot.
Description InsertKnot(const Description& spline, double u) {
  const int p = spline.degree;
  const auto& knots = spline.knots;
  const auto above = std::upper_bound(knots.begin(), knots.end(), u);
  const int k = static_cast<int>(above - knots.begin()) - 1;
  Description result = spline;
  result.control = {};
  const bool rational = spline.kind == CurveKind::kNurbs;
  result.weights.clear();
  for (int i = 0; i <= static_cast<int>(spline.control.size()); ++i) {
    double a = i <= k - p ? 1.0 : 0.0;
    if (i > k - p && i <= k) a = (u - knots[i]) / (knots[i + p] - knots[i]);
    const auto weight = [&](int j) { return rational ? spline.weights[j] : 1.0; };
    const double own = a > 0.0 ? a * weight(i) : 0.0;
    const double before = a < 1.0 ? (1.0 - a) * weight(i - 1) : 0.0;
    const double w = own + before;
    const auto mix = [&](const std::vector<double>& column) {
      double sum = 0.0;
      if (own > 0.0) sum += own * column[i];
      if (before > 0.0) sum += before * column[i - 1];
      return sum / w;
    };
    result.control.Push(mix(spline.control.x), mix(spline.control.y), mix(spline.control.z));
    if (rational) result.weights.push_back(w);
  }
  result.knots.insert(result.knots.begin() + k + 1, u);
  return result;
}

TEST(SplineInvarianceTest, KnotInsertion) {
  ForRandomCurves([](std::mt19937_64& random, double bound, uint64_t seed) {
    for (int degree = 1; degree <= 5; ++degree) {
      Description spline = RandomBSpline(random, degree, degree + 4);
      if (random() % 2 == 0) {
        spline.kind = CurveKind::kNurbs;
        for (size_t i = 0; i < spline.control.size(); ++i) {
          spline.weights.push_back(static_cast<double>(1 + random() % 16) / 4.0);
        }
      }
      const double last = spline.knots.back();
      const double u = last * static_cast<double>(1 + random() % 30) / 32.0;
      ExpectSamePoints(spline, InsertKnot(spline, u), {}, bound, seed);
    }
  });
}

}  // namespace
}  // namespace arclane
