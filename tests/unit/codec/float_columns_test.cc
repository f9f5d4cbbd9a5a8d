// SPDX-License-Identifier: Apache-2.0
#include "server/codec/float_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace arclane {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Half an ulp of a float, relative to the number; and of the smallest numbers.
constexpr double kHalfUlp = 0x1p-24;
constexpr double kSmallestHalf = 0x1p-150;

v1::Route RouteOf(const std::vector<double>& numbers) {
  v1::Route route;
  v1::SampleColumns& samples = *route.mutable_samples();
  v1::CornerColumns& corners = *route.mutable_corners();
  for (const double number : numbers) {
    samples.add_distance(number);
    samples.add_surface_distance(number);
    samples.add_time_s(number);
    samples.mutable_position()->add_x(number);
    samples.mutable_position()->add_y(-number);
    samples.mutable_position()->add_z(3 * number);
    samples.add_heading_rad(number);
    samples.add_speed(number);
    samples.add_curvature(-number);
    samples.add_portal_index(7);
    corners.add_kind(v1::CORNER_KIND_STOP);
    corners.mutable_position()->add_x(number);
    corners.mutable_position()->add_y(number);
    corners.mutable_position()->add_z(number);
    corners.add_turn_angle_rad(number);
    corners.add_radius(number);
    corners.add_distance(number);
  }
  return route;
}

double LargestOffset(const google::protobuf::RepeatedField<double>& column, double origin) {
  double largest = 0.0;
  for (const double value : column) largest = std::max(largest, std::abs(value - origin));
  return largest;
}

void ExpectNear(const google::protobuf::RepeatedField<double>& exact,
                const google::protobuf::RepeatedField<double>& read, const char* column) {
  ASSERT_EQ(exact.size(), read.size()) << column;
  for (int i = 0; i < exact.size(); ++i) {
    EXPECT_LE(std::abs(exact[i] - read[i]), kHalfUlp * std::abs(exact[i]) + kSmallestHalf)
        << column << "[" << i << "] of " << exact[i];
  }
}

void ExpectPointsNear(const google::protobuf::RepeatedField<double>& exact,
                      const google::protobuf::RepeatedField<double>& read, double origin,
                      const char* column) {
  ASSERT_EQ(exact.size(), read.size()) << column;
  const double offset = LargestOffset(exact, origin);
  for (int i = 0; i < exact.size(); ++i) {
    // The difference from the origin and the sum with it are rounded as doubles.
    const double doubles = 0x1p-52 * (std::abs(exact[i]) + std::abs(origin));
    EXPECT_LE(std::abs(exact[i] - read[i]), kHalfUlp * offset + doubles)
        << column << "[" << i << "] of " << exact[i];
  }
}

TEST(FloatColumnsTest, EveryNumberIsReadWithinHalfARoundingOfAFloat) {
  constexpr uint64_t kSeed = 5;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 200; ++round) {
    // Far from the world's origin, of any extent.
    const double extent = std::pow(10.0, std::uniform_real_distribution<>(-30, 30)(random));
    const double place = extent * std::pow(10.0, std::uniform_real_distribution<>(-3, 7)(random));
    std::vector<double> numbers(1 + random() % 20);
    for (double& number : numbers)
      number = place + extent * std::uniform_real_distribution<>(-1, 1)(random);
    const v1::Route exact = RouteOf(numbers);
    v1::Route route = exact;
    Violations violations;
    NarrowColumns(&route, violations);
    ASSERT_TRUE(violations.empty());
    const v1::Point sample_origin = route.samples().floats().position().origin();
    const v1::Point corner_origin = route.corners().floats().position().origin();
    WidenColumns(&route);
    const v1::SampleColumns &a = exact.samples(), &b = route.samples();
    ExpectNear(a.distance(), b.distance(), "distance");
    ExpectNear(a.surface_distance(), b.surface_distance(), "surface_distance");
    ExpectNear(a.time_s(), b.time_s(), "time_s");
    ExpectNear(a.heading_rad(), b.heading_rad(), "heading_rad");
    ExpectNear(a.speed(), b.speed(), "speed");
    ExpectNear(a.curvature(), b.curvature(), "curvature");
    ExpectPointsNear(a.position().x(), b.position().x(), sample_origin.x(), "x");
    ExpectPointsNear(a.position().y(), b.position().y(), sample_origin.y(), "y");
    ExpectPointsNear(a.position().z(), b.position().z(), sample_origin.z(), "z");
    ExpectNear(exact.corners().radius(), route.corners().radius(), "radius");
    ExpectNear(exact.corners().distance(), route.corners().distance(), "corner distance");
    ExpectNear(exact.corners().turn_angle_rad(), route.corners().turn_angle_rad(), "turn");
    ExpectPointsNear(exact.corners().position().x(), route.corners().position().x(),
                     corner_origin.x(), "corner x");
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(FloatColumnsTest, AFarPlaceKeepsItsDigits) {
  // Two points a tenth apart, where floats themselves are a half apart.
  v1::Route route;
  for (const double x : {5e6, 5e6 + 0.1}) route.mutable_samples()->mutable_position()->add_x(x);
  Violations violations;
  NarrowColumns(&route, violations);
  WidenColumns(&route);
  const auto& x = route.samples().position().x();
  EXPECT_NEAR(x[1] - x[0], 0.1, 1e-8);
}

TEST(FloatColumnsTest, TheColumnsOfDoublesAreGoneAndTheOthersStay) {
  v1::Route route = RouteOf({1, 2, 3});
  const size_t before = route.samples().ByteSizeLong();
  Violations violations;
  NarrowColumns(&route, violations);
  EXPECT_THAT(route.samples().distance(), IsEmpty());
  EXPECT_THAT(route.samples().portal_index(), ElementsAre(7u, 7u, 7u));
  EXPECT_THAT(route.corners().kind(), ElementsAre(1, 1, 1));
  EXPECT_FALSE(route.samples().has_position());
  EXPECT_THAT(route.samples().floats().distance(), ElementsAre(1.0f, 2.0f, 3.0f));
  EXPECT_THAT(route.samples().floats().position().x(), ElementsAre(-1.0f, 0.0f, 1.0f));
  EXPECT_LT(route.samples().ByteSizeLong(), before);
}

TEST(FloatColumnsTest, ReadingWhatHasNoFloatsChangesNothing) {
  v1::Route route = RouteOf({1, 2});
  const std::string before = route.SerializeAsString();
  WidenColumns(&route);
  EXPECT_EQ(route.SerializeAsString(), before);
  v1::CurvePlan plan;
  WidenColumns(&plan);
  EXPECT_FALSE(plan.has_samples());
}

TEST(FloatColumnsTest, ARouteWithoutSamplesAndCornersHasNoFloats) {
  v1::Route route;
  route.set_length(3);
  const std::string before = route.SerializeAsString();
  Violations violations;
  NarrowColumns(&route, violations);
  EXPECT_FALSE(route.samples().has_floats());
  EXPECT_FALSE(route.corners().has_floats());
  EXPECT_EQ(route.SerializeAsString(), before);
}

TEST(FloatColumnsTest, WhatNoFloatCanHoldIsRefused) {
  v1::Route route;
  route.mutable_samples()->add_time_s(1e39);
  Violations violations;
  NarrowColumns(&route, violations);
  ASSERT_EQ(violations.total(), 1u);
  EXPECT_EQ(violations.kept()[0].field, "sampling.column_precision");
}

TEST(FloatColumnsTest, CurvesKeepWhatIsUndefined) {
  v1::CurvePlan plan;
  v1::CurveSampleColumns& samples = *plan.mutable_samples();
  samples.add_curvature(std::numeric_limits<double>::quiet_NaN());
  samples.add_curvature(0.1);
  samples.mutable_tangent()->add_x(0.6);
  samples.mutable_tangent()->add_x(-0.8);
  samples.add_segment_index(0);
  samples.add_segment_index(4);
  samples.add_parameter(1.0 / 3.0);
  samples.add_parameter(1.0);
  Violations violations;
  NarrowColumns(&plan, violations);
  ASSERT_TRUE(violations.empty());
  EXPECT_THAT(plan.samples().floats().parameter(), ElementsAre(1.0f / 3.0f, 1.0f));
  EXPECT_FALSE(plan.samples().floats().tangent().has_origin());
  WidenColumns(&plan);
  EXPECT_TRUE(std::isnan(plan.samples().curvature(0)));
  EXPECT_EQ(plan.samples().curvature(1), static_cast<double>(0.1f));
  EXPECT_EQ(plan.samples().tangent().x(1), static_cast<double>(-0.8f));
  EXPECT_THAT(plan.samples().segment_index(), ElementsAre(0u, 4u));
}

}  // namespace
}  // namespace arclane
