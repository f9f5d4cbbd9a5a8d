// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/curve.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/planning/spline/curve_record.h"

namespace arclane {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::OwnedCurve;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

OwnedCurve MakeBezier() {
  OwnedCurve curve;
  curve.control.x = {0, 1, 2, 3, 4, 5, 6};
  curve.control.y = {0, 2, -2, 0, 1, 2, 0};
  return curve;
}

OwnedCurve MakeBSpline(int degree, size_t count) {
  OwnedCurve curve;
  curve.kind = CurveKind::kBSpline;
  curve.degree = degree;
  for (size_t i = 0; i < count; ++i) {
    curve.control.x.push_back(static_cast<double>(i));
    curve.control.y.push_back(static_cast<double>((i * i) % 7));
  }
  return curve;
}

OwnedCurve MakeNurbs() {
  OwnedCurve curve = MakeBSpline(3, 6);
  curve.kind = CurveKind::kNurbs;
  curve.weights = {1, 2, 1, 1, 3, 1};
  return curve;
}

OwnedCurve MakeHermite() {
  OwnedCurve curve;
  curve.kind = CurveKind::kHermite;
  curve.control.x = {0, 1, 2};
  curve.control.y = {0, 1, 0};
  curve.tangents = curve.control;
  return curve;
}

OwnedCurve MakeCatmullRom() {
  OwnedCurve curve = MakeHermite();
  curve.kind = CurveKind::kCatmullRom;
  curve.tangents = {};
  return curve;
}

std::vector<std::string> Violations(const OwnedCurve& curve, const CurveLimits& limits = {}) {
  std::vector<std::string> texts;
  for (const CurveViolation& violation : ValidateCurve(curve.Input(), limits)) {
    texts.push_back(violation.field + ": " + violation.description);
  }
  return texts;
}

TEST(CurveValidationTest, AcceptsEveryKind) {
  for (const OwnedCurve& curve : {MakeBezier(), MakeBSpline(1, 2), MakeBSpline(5, 9), MakeNurbs(),
                                  MakeHermite(), MakeCatmullRom()}) {
    EXPECT_THAT(Violations(curve), IsEmpty());
    EXPECT_TRUE(Curve::Create(curve.Input()).ok());
  }
}

struct BadCase {
  std::string name;
  std::function<OwnedCurve()> make;
  std::string violation;
};

class BadCurveTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadCurveTest, NamesTheField) {
  const OwnedCurve curve = GetParam().make();
  EXPECT_THAT(Violations(curve), Contains(HasSubstr(GetParam().violation)));
  const auto created = Curve::Create(curve.Input());
  EXPECT_EQ(created.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(created.status().message()), HasSubstr(GetParam().violation));
}

template <typename Change>
std::function<OwnedCurve()> Changed(OwnedCurve (*make)(), Change change) {
  return [make, change] {
    OwnedCurve curve = make();
    change(curve);
    return curve;
  };
}

OwnedCurve MakeCubicBSpline() { return MakeBSpline(3, 6); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadCurveTest,
    ::testing::Values(
        BadCase{"NaN", Changed(MakeBezier, [](OwnedCurve& c) { c.control.x[5] = kNaN; }),
                "spline.control.x[5]: must be finite, got NaN"},
        BadCase{"Infinity", Changed(MakeBezier, [](OwnedCurve& c) { c.control.y[0] = -kInfinity; }),
                "spline.control.y[0]: must be finite, got -Infinity"},
        BadCase{"TooLarge", Changed(MakeBezier, [](OwnedCurve& c) { c.control.y[1] = 1e200; }),
                "spline.control.y[1]: must be at most 1e+150"},
        BadCase{"BezierCount",
                Changed(MakeBezier,
                        [](OwnedCurve& c) {
                          c.control.x.pop_back();
                          c.control.y.pop_back();
                        }),
                "spline.control: must have 3 n + 1 points"},
        BadCase{"Empty", Changed(MakeBezier, [](OwnedCurve& c) { c.control = {}; }),
                "spline.control: must have 3 n + 1 points, n >= 1, got 0"},
        BadCase{"OddColumn", Changed(MakeBezier, [](OwnedCurve& c) { c.control.y.pop_back(); }),
                "spline.control.y: must have as many values as x (7), got 6"},
        BadCase{"MixedDimension",
                Changed(MakeBezier,
                        [](OwnedCurve& c) {
                          c.control.z = {1, 2};
                        }),
                "spline.control.z: must be empty or have as many values as x (7), got 2"},
        BadCase{"OpenEnds", Changed(MakeBezier, [](OwnedCurve& c) { c.closed = true; }),
                "spline.closed: must end where it starts"},
        BadCase{"TangentDimension",
                Changed(MakeHermite,
                        [](OwnedCurve& c) {
                          c.tangents.z = {0, 0, 0};
                        }),
                "spline.tangents.z: must have as many values as control.z (0), got 3"},
        BadCase{"TangentMissing", Changed(MakeHermite, [](OwnedCurve& c) { c.tangents = {}; }),
                "spline.tangents.x: must have as many values"},
        BadCase{"TangentNaN", Changed(MakeHermite, [](OwnedCurve& c) { c.tangents.y[2] = kNaN; }),
                "spline.tangents.y[2]: must be finite"},
        BadCase{"StrayTangents", Changed(MakeBezier, [](OwnedCurve& c) { c.tangents = c.control; }),
                "spline.tangents: must be empty"},
        BadCase{"AlphaAbove", Changed(MakeCatmullRom, [](OwnedCurve& c) { c.alpha = 1.5; }),
                "spline.alpha: must be in [0, 1], got 1.5"},
        BadCase{"AlphaNaN", Changed(MakeCatmullRom, [](OwnedCurve& c) { c.alpha = kNaN; }),
                "spline.alpha: must be in [0, 1], got NaN"},
        BadCase{"DegreeZero", Changed(MakeCubicBSpline, [](OwnedCurve& c) { c.degree = 0; }),
                "spline.degree: must be in [1, 5], got 0"},
        BadCase{"DegreeSix", Changed(MakeCubicBSpline, [](OwnedCurve& c) { c.degree = 6; }),
                "spline.degree: must be in [1, 5], got 6"},
        BadCase{"FewControls",
                Changed(MakeCubicBSpline,
                        [](OwnedCurve& c) {
                          c.degree = 5;
                          c.control.x.resize(5);
                          c.control.y.resize(5);
                        }),
                "spline.control: must have at least 6 points, got 5"},
        BadCase{"KnotsShort",
                Changed(MakeCubicBSpline,
                        [](OwnedCurve& c) {
                          c.knots = {0, 1};
                        }),
                "spline.knots: must have points + degree + 1 = 10 values, got 2"},
        BadCase{"KnotsDecrease",
                Changed(MakeCubicBSpline,
                        [](OwnedCurve& c) { c.knots = {0, 0, 0, 0, 2, 1, 3, 3, 3, 3}; }),
                "spline.knots[5]: must not be below the knot before it, got 1 after 2"},
        BadCase{"KnotMultiplicity",
                Changed(MakeCubicBSpline,
                        [](OwnedCurve& c) { c.knots = {0, 0, 0, 0, 0, 1, 2, 2, 2, 2}; }),
                "spline.knots[4]: must repeat at most degree + 1 = 4 times"},
        BadCase{"KnotNaN",
                Changed(MakeCubicBSpline,
                        [](OwnedCurve& c) { c.knots = {0, 0, 0, 0, kNaN, 1, 2, 2, 2, 2}; }),
                "spline.knots[4]: must be finite"},
        BadCase{"NoDomain",
                Changed(MakeCubicBSpline,
                        [](OwnedCurve& c) {
                          c.control.x.resize(4);
                          c.control.y.resize(4);
                          c.knots = {0, 0, 0, 1, 1, 1, 1, 2};
                        }),
                "spline.knots: must leave a domain"},
        BadCase{"StrayKnots",
                Changed(MakeBezier,
                        [](OwnedCurve& c) {
                          c.knots = {0, 1};
                        }),
                "spline.knots: must be empty"},
        BadCase{"WeightZero", Changed(MakeNurbs, [](OwnedCurve& c) { c.weights[1] = 0; }),
                "spline.weights[1]: must be > 0 and finite, got 0"},
        BadCase{"WeightNegative", Changed(MakeNurbs, [](OwnedCurve& c) { c.weights[2] = -1; }),
                "spline.weights[2]: must be > 0 and finite, got -1"},
        BadCase{"WeightRatio", Changed(MakeNurbs, [](OwnedCurve& c) { c.weights[2] = 1e12; }),
                "spline.weights: must differ by a ratio of at most 1e+09"},
        BadCase{"WeightCount", Changed(MakeNurbs, [](OwnedCurve& c) { c.weights.pop_back(); }),
                "spline.weights: must have one value a control point (6), got 5"},
        BadCase{"StrayWeights", Changed(MakeBezier, [](OwnedCurve& c) { c.weights = {1}; }),
                "spline.weights: must be empty"},
        BadCase{"UnknownKind",
                Changed(MakeBezier, [](OwnedCurve& c) { c.kind = static_cast<CurveKind>(99); }),
                "spline.kind: must be a known kind of curve"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(CurveValidationTest, ListsAllViolationsAtOnce) {
  OwnedCurve curve = MakeNurbs();
  curve.control.x[0] = kNaN;
  curve.control.y[3] = kInfinity;
  curve.weights[5] = -2;
  curve.knots = {0, 0, 0, 0, 5, 1, 6, 6, 6, 6};
  EXPECT_EQ(Violations(curve).size(), 4u);
}

TEST(CurveValidationTest, CountsWhatItDoesNotList) {
  OwnedCurve curve = MakeBSpline(3, 500);
  for (double& x : curve.control.x) x = kNaN;
  const auto violations = Violations(curve);
  ASSERT_EQ(violations.size(), 101u);
  EXPECT_THAT(violations.back(), HasSubstr("has 400 more violations"));
}

TEST(CurveValidationTest, RefusesAMillionControlPointsWithoutReadingThem) {
  OwnedCurve curve = MakeBSpline(3, 1000000);
  curve.control.x[7] = kNaN;
  const auto violations = Violations(curve);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0], "spline.control: must have at most 65536 points, got 1000000");
}

TEST(CurveValidationTest, PrefixIsTheCallers) {
  OwnedCurve curve = MakeCatmullRom();
  curve.alpha = 2;
  EXPECT_EQ(ValidateCurve(curve.Input(), {}, "plans[3].spline")[0].field, "plans[3].spline.alpha");
  EXPECT_EQ(ValidateCurve(curve.Input(), {}, "")[0].field, "alpha");
}

TEST(CurveTest, BezierInterpolatesItsEndsExactly) {
  const OwnedCurve owned = MakeBezier();
  const auto curve = Curve::Create(owned.Input());
  ASSERT_TRUE(curve.ok());
  ASSERT_EQ(curve->segment_count(), 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(curve->Evaluate(i, 0.0).position[1], owned.control.y[3 * i]);
    EXPECT_EQ(curve->Evaluate(i, 1.0).position[0], owned.control.x[3 * i + 3]);
    EXPECT_EQ(curve->Evaluate(i, 0.0).first[1],
              3 * (owned.control.y[3 * i + 1] - owned.control.y[3 * i]));
  }
}

TEST(CurveTest, HermiteHasItsTangents) {
  OwnedCurve owned = MakeHermite();
  owned.closed = true;
  const auto curve = Curve::Create(owned.Input());
  ASSERT_TRUE(curve.ok());
  ASSERT_EQ(curve->segment_count(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(curve->Evaluate(i, 0.0).first[0], owned.tangents.x[i], 1e-15);
    EXPECT_NEAR(curve->Evaluate(i, 1.0).first[1], owned.tangents.y[(i + 1) % 3], 1e-15);
  }
}

TEST(CurveTest, UniformCatmullRomHasCentralDifferencesAsTangents) {
  OwnedCurve owned = MakeCatmullRom();
  owned.alpha = 0.0;
  const auto curve = Curve::Create(owned.Input());
  ASSERT_TRUE(curve.ok());
  const CurvePoint middle = curve->Evaluate(1, 0.0);
  EXPECT_NEAR(middle.first[0], 1.0, 1e-15);
  EXPECT_NEAR(middle.first[1], 0.0, 1e-15);
  // The mirrored point makes the end's tangent the chord's.
  EXPECT_NEAR(curve->Evaluate(0, 0.0).first[1], 1.0, 1e-15);
}

TEST(CurveTest, WithoutKnotsABSplineIsClamped) {
  const OwnedCurve owned = MakeBSpline(3, 7);
  const auto curve = Curve::Create(owned.Input());
  ASSERT_TRUE(curve.ok());
  EXPECT_EQ(curve->segment_count(), 4);
  EXPECT_EQ(curve->Evaluate(0, 0.0).position[1], owned.control.y.front());
  EXPECT_NEAR(curve->Evaluate(3, 1.0).position[0], owned.control.x.back(), 1e-14);
}

TEST(CurveTest, ARationalQuadraticIsACircle) {
  OwnedCurve owned;
  owned.kind = CurveKind::kNurbs;
  owned.degree = 2;
  owned.control.x = {1, 1, 0};
  owned.control.y = {0, 1, 1};
  owned.weights = {1, std::sqrt(0.5), 1};
  const auto curve = Curve::Create(owned.Input());
  ASSERT_TRUE(curve.ok());
  for (double t : {0.0, 0.1, 0.35, 0.5, 0.99, 1.0}) {
    const CurvePoint p = curve->Evaluate(0, t);
    EXPECT_NEAR(std::hypot(p.position[0], p.position[1]), 1.0, 4e-16);
    EXPECT_NEAR(p.position[0] * p.first[0] + p.position[1] * p.first[1], 0.0, 1e-15);
  }
}

TEST(CurveTest, ATriangleOfDegreeOneClosesPeriodically) {
  OwnedCurve owned;
  owned.kind = CurveKind::kBSpline;
  owned.degree = 1;
  owned.closed = true;
  owned.control.x = {0, 4, 4, 0};
  owned.control.y = {0, 0, 3, 0};
  const auto curve = Curve::Create(owned.Input());
  ASSERT_TRUE(curve.ok()) << curve.status();
  EXPECT_EQ(curve->segment_count(), 3);
}

}  // namespace
}  // namespace arclane
