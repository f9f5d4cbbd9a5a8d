// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/curve_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "client/cli/plot/curve_scene.h"
#include "client/cli/plot/route_plot.h"
#include "tests/unit/client/plan_examples.h"

namespace arclane {
namespace {

using testing::CurveExample;
using ::testing::HasSubstr;
using ::testing::Not;

Scene SceneOf(const CurveExample& example) {
  auto scene = BuildScene(example.request, example.response);
  EXPECT_TRUE(scene.ok()) << scene.status();
  return scene.ok() ? *std::move(scene) : Scene();
}

std::string Plot(const CurveExample& example) {
  const auto svg = PlotCurve(example.request, example.response, {});
  EXPECT_TRUE(svg.ok()) << svg.status();
  return svg.ok() ? *svg : "";
}

TEST(CurveSceneTest, FewSamplesWithTangentsStillFollowTheCircle) {
  const Scene scene = SceneOf(testing::CurveWithStop(3));
  int on_arc = 0;
  for (const TraceSegment& segment : scene.trace.segments) {
    // The last interval ends at the stop, whose tangent is that of the other branch.
    if (segment.start_distance + segment.length > 2.0 / 3 * std::numbers::pi + 1e-9) break;
    // A cubic over an angle of pi/6 leaves its circle by less than (pi/6)^4 / 384 radii.
    EXPECT_NEAR(std::hypot(segment.end.first, segment.end.second - 2), 2,
                2 * std::pow(std::numbers::pi / 6, 4) / 384);
    ++on_arc;
  }
  EXPECT_GT(on_arc, 4);
}

TEST(CurveSceneTest, MarksTheStopWithItsPlaceAndTime) {
  const Scene scene = SceneOf(testing::CurveWithStop(8));
  ASSERT_EQ(scene.corners.size(), 1u);
  EXPECT_NEAR(scene.corners[0].position.first, 2, 1e-9);
  EXPECT_NEAR(scene.corners[0].position.second, 2, 1e-9);
  ASSERT_EQ(scene.stops.size(), 1u);
  EXPECT_NEAR(scene.stops[0].distance, std::numbers::pi, 1e-12);
  EXPECT_NEAR(scene.stops[0].time_s, 2 * std::sqrt(std::numbers::pi), 1e-12);
}

TEST(CurveSceneTest, SamplesHaveTheSpeedOfThePlan) {
  const Scene scene = SceneOf(testing::CurveWithStop(4));
  ASSERT_EQ(scene.sample_speeds.size(), 9u);
  // v^2 = 2 s up to the middle of the arc.
  EXPECT_NEAR(scene.sample_speeds[0], 0, 1e-12);
  EXPECT_NEAR(scene.sample_speeds[2], std::sqrt(std::numbers::pi), 1e-6);
  EXPECT_NEAR(scene.sample_speeds[4], 0, 1e-6);
  EXPECT_NEAR(scene.sample_speeds[6], std::sqrt(2.0), 1e-6);
  ASSERT_EQ(scene.curve_points.size(), scene.trace.segments.size() + 1);
}

TEST(CurveSceneTest, TakesSamplesInAnyOrder) {
  CurveExample example = testing::CurveWithStop(4);
  const Scene sorted = SceneOf(example);
  v1::CurveSampleColumns& samples = *example.response.mutable_plan()->mutable_samples();
  samples.mutable_distance()->SwapElements(1, 6);
  samples.mutable_curvature()->SwapElements(1, 6);
  for (v1::PointColumns* points : {samples.mutable_position(), samples.mutable_tangent()}) {
    points->mutable_x()->SwapElements(1, 6);
    points->mutable_y()->SwapElements(1, 6);
  }
  const Scene mixed = SceneOf(example);
  ASSERT_EQ(mixed.trace.segments.size(), sorted.trace.segments.size());
  for (size_t i = 0; i < sorted.trace.segments.size(); ++i) {
    EXPECT_EQ(mixed.trace.segments[i].end.first, sorted.trace.segments[i].end.first) << i;
  }
}

TEST(CurveSceneTest, ClosedCatmullRomClosesItsControlPolygon) {
  CurveExample example = testing::CurveWithStop(4);
  example.request.mutable_spline()->mutable_catmull_rom();
  example.request.mutable_spline()->set_closed(true);
  const Scene scene = SceneOf(example);
  EXPECT_TRUE(scene.is_loop);
  EXPECT_EQ(scene.control_polygon.size(), scene.control.size() + 1);
}

TEST(CurveSceneTest, RefusesWhatCannotBeDrawn) {
  CurveExample none = testing::CurveWithStop(4);
  none.response.mutable_plan()->clear_samples();
  EXPECT_THAT(std::string(BuildScene(none.request, none.response).status().message()),
              HasSubstr("samples"));
  CurveExample odd = testing::CurveWithStop(4);
  odd.response.mutable_plan()->mutable_samples()->add_distance(1);
  EXPECT_EQ(BuildScene(odd.request, odd.response).status().code(),
            absl::StatusCode::kInvalidArgument);
  CurveExample profile = testing::CurveWithStop(4);
  profile.response.mutable_plan()->set_profile_curvature(1,
                                                         std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(std::string(BuildScene(profile.request, profile.response).status().message()),
              HasSubstr("profile_curvature[1]"));
  CurveExample phases = testing::CurveWithStop(4);
  phases.response.mutable_plan()->mutable_speed()->mutable_phases()->set_segment_index(0, 3);
  EXPECT_THAT(std::string(BuildScene(phases.request, phases.response).status().message()),
              HasSubstr("segment_index[0] is 3"));
}

TEST(CurvePlotTest, ShowsControlPointsStopsSamplesAndCharts) {
  const std::string svg = Plot(testing::CurveWithStop(6));
  for (const char* text : {"control points", ">stop<", ">sample<", "class=\"speed-sample\"",
                           "curvature (positive", "lateral acceleration", ">time (s)<"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(svg, Plot(testing::CurveWithStop(6)));
}

TEST(CurvePlotTest, WithoutAgentShowsCurvatureAlone) {
  CurveExample example = testing::CurveWithStop(6);
  example.response.mutable_plan()->clear_speed();
  // Undefined at a cusp.
  example.response.mutable_plan()->mutable_samples()->set_curvature(
      3, std::numeric_limits<double>::quiet_NaN());
  const std::string svg = Plot(example);
  EXPECT_THAT(svg, HasSubstr("curvature (positive"));
  EXPECT_THAT(svg, Not(HasSubstr(">time (s)<")));
  EXPECT_THAT(svg, Not(HasSubstr(">speed<")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(CurvePlotTest, AsksForSamplesOnlyWhereTheRequestLeavesThemOut) {
  v1::PlanSplineRequest bare;
  AskForCurveSamples(bare);
  EXPECT_EQ(bare.sampling().count(), kCurveSampleCount);
  EXPECT_TRUE(bare.sampling().columns().empty()) << "all columns";
  v1::PlanSplineRequest chosen;
  chosen.mutable_sampling()->set_spacing(0.5);
  chosen.mutable_sampling()->add_columns(v1::SAMPLE_COLUMN_POSITION);
  AskForCurveSamples(chosen);
  EXPECT_EQ(chosen.sampling().spacing(), 0.5);
  EXPECT_THAT(chosen.sampling().columns(),
              ::testing::ElementsAre(v1::SAMPLE_COLUMN_POSITION, v1::SAMPLE_COLUMN_DISTANCE,
                                     v1::SAMPLE_COLUMN_TANGENT, v1::SAMPLE_COLUMN_CURVATURE));
}

TEST(WaypointsPlotTest, ShowsTheRouteAndTheWaypointsWithoutCorridor) {
  const testing::WaypointsExample example = testing::RoundedWaypoints();
  const auto svg = PlotRoute(example.request, example.response, {});
  ASSERT_TRUE(svg.ok()) << svg.status();
  EXPECT_THAT(*svg, HasSubstr(">waypoints<"));
  EXPECT_THAT(*svg, Not(HasSubstr(">corridor<")));
  EXPECT_THAT(*svg, HasSubstr("Route to the goal"));
}

TEST(WaypointsPlotTest, ClosedRouteStartsWhereItsFirstSegmentDoes) {
  testing::WaypointsExample example = testing::RoundedWaypoints();
  example.request.set_closed(true);
  example.response.mutable_route()->mutable_segments()->mutable_start()->set_x(0, 1);
  const auto scene = BuildScene(example.request, example.response);
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_EQ(scene->start->first, 1);
  EXPECT_EQ(scene->guide.size(), 5u);
}

TEST(WaypointsPlotTest, RefusesARequestWithoutWaypoints) {
  testing::WaypointsExample example = testing::RoundedWaypoints();
  example.request.clear_waypoints();
  EXPECT_THAT(std::string(BuildScene(example.request, example.response).status().message()),
              HasSubstr("waypoints"));
}

}  // namespace
}  // namespace arclane
