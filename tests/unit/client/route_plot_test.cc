// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/route_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <sstream>
#include <string_view>

#include "client/cli/plot/map_projection.h"
#include "client/cli/plot/route_trace.h"
#include "client/cli/plot/scene.h"
#include "tests/unit/client/plan_examples.h"

namespace arclane {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::PlanExample;

std::string Plot(const PlanExample& plan) {
  const auto svg = PlotRoute(plan.request, plan.response, {});
  EXPECT_TRUE(svg.ok()) << svg.status();
  return svg.ok() ? *svg : "";
}

Scene SceneOf(const PlanExample& plan) {
  auto scene = BuildScene(plan.request, plan.response);
  EXPECT_TRUE(scene.ok()) << scene.status();
  return scene.ok() ? *std::move(scene) : Scene();
}

// Empty when every element is closed in order, every attribute quoted and no text holds a bare '<'
// or '&'.
std::string XmlFault(std::string_view xml) {
  std::vector<std::string> open;
  size_t at = 0;
  while (at < xml.size()) {
    if (xml[at] == '&') {
      const size_t end = xml.find(';', at);
      if (end == std::string_view::npos || end - at > 6) return "bare '&'";
    }
    if (xml[at] != '<') {
      ++at;
      continue;
    }
    const size_t end = xml.find('>', at);
    if (end == std::string_view::npos) return "element without end";
    const std::string_view tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string_view::npos) return "'<' inside an element";
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "odd quotes";
    const std::string name(tag.substr(0, tag.find_first_of(" /", tag.starts_with('/') ? 1 : 0)));
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != name) return "closes " + name;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    at = end + 1;
  }
  return open.empty() ? "" : "open " + open.back();
}

double Distance(PlanePoint a, PlanePoint b) {
  return std::hypot(a.first - b.first, a.second - b.second);
}

TEST(RouteTraceTest, EverySegmentEndsWhereTheNextStarts) {
  const Scene scene = SceneOf(testing::RoundedPlan());
  const auto& segments = scene.trace.segments;
  ASSERT_EQ(segments.size(), 5u);
  for (size_t i = 0; i + 1 < segments.size(); ++i) {
    EXPECT_LT(Distance(PointAlong(segments[i], segments[i].length), segments[i + 1].start), 1e-12)
        << i;
  }
  EXPECT_LT(Distance(segments.back().end, {18, 9}), 1e-12);
}

TEST(RouteTraceTest, PointAlongAnArcStaysOnItsCircle) {
  const Scene scene = SceneOf(testing::RoundedPlan());
  const TraceSegment& arc = scene.trace.segments[1];
  for (int k = 0; k <= 10; ++k) {
    EXPECT_NEAR(Distance(PointAlong(arc, arc.length * k / 10), {10, 3}), 3, 1e-12) << k;
  }
  TraceSegment almost_straight;
  almost_straight.length = 10;
  almost_straight.curvature = 1e-14;
  EXPECT_LT(Distance(PointAlong(almost_straight, 10), {10, 5e-13}), 1e-14);
}

TEST(RouteTraceTest, SpeedsMeetBetweenPhasesAndKeepTheLimits) {
  for (const PlanExample& plan : {testing::RoundedPlan(), testing::CoupledPlan()}) {
    const RouteTrace trace = SceneOf(plan).trace;
    for (size_t i = 0; i < trace.phases.size(); ++i) {
      for (const TracePoint& point : trace.phases[i].points) {
        EXPECT_LE(point.speed, point.speed_limit * (1 + 1e-9));
        EXPECT_LE(point.acceleration, point.acceleration_limit + 1e-9);
        EXPECT_LE(-point.acceleration, point.braking_limit + 1e-9);
        EXPECT_LE(std::abs(point.lateral_acceleration), point.lateral_limit * (1 + 1e-9));
      }
      if (i == 0) continue;
      const TracePoint& before = trace.phases[i - 1].points.back();
      const TracePoint& after = trace.phases[i].points.front();
      EXPECT_NEAR(before.speed, after.speed, 1e-7) << i;
      EXPECT_NEAR(before.distance, after.distance, 1e-12) << i;
      EXPECT_NEAR(before.time_s, after.time_s, 1e-9) << i;
    }
  }
}

TEST(RouteTraceTest, CoupledPhasesFollowTheSharedBudget) {
  // Budget 5 and radius 2: v^2 = 10 sin(s), at = 5 cos(s).
  const RouteTrace trace = SceneOf(testing::CoupledPlan()).trace;
  ASSERT_EQ(trace.phases.size(), 2u);
  double last_time = -1;
  for (const TracePhase& phase : trace.phases) {
    for (const TracePoint& point : phase.points) {
      const double s = point.distance;
      EXPECT_NEAR(point.speed * point.speed, 10 * std::sin(s), 1e-6) << s;
      EXPECT_NEAR(point.acceleration, 5 * std::cos(s), 1e-6) << s;
      EXPECT_NEAR(std::hypot(point.acceleration, point.lateral_acceleration), 5, 1e-6) << s;
      EXPECT_LE(point.lateral_acceleration, 0) << "a turn to the right";
      EXPECT_GE(point.time_s, last_time);
      last_time = point.time_s;
    }
  }
}

TEST(RouteTraceTest, RampsAndCapsFollowTheirLaws) {
  PlanExample plan = testing::CannotStopPlan();
  v1::PhaseColumns& phases = *plan.response.mutable_route()->mutable_phases();
  phases.set_kind(0, v1::PHASE_KIND_RAMP);
  phases.add_law(0.5);  // v^2 = 16 - 4 s + s^2 / 2.
  const Scene ramp = SceneOf(plan);
  for (const TracePoint& point : ramp.trace.phases[0].points) {
    const double s = point.distance;
    EXPECT_NEAR(point.speed * point.speed, 16 - 4 * s + 0.5 * s * s, 1e-9) << s;
    EXPECT_NEAR(point.acceleration, -2 + 0.5 * s, 1e-9) << s;
  }
  phases.set_kind(0, v1::PHASE_KIND_FOLLOW_CAP);  // v^2 = 1 / (1 / 16 + s / 2).
  const Scene cap = SceneOf(plan);
  for (const TracePoint& point : cap.trace.phases[0].points) {
    const double square = 1 / (1 / 16.0 + 0.5 * point.distance);
    EXPECT_NEAR(point.speed * point.speed, square, 1e-9) << point.distance;
    EXPECT_NEAR(point.acceleration, -0.25 * square * square, 1e-9) << point.distance;
  }
}

TEST(SceneTest, FindsTheStopWithItsTurn) {
  const Scene scene = SceneOf(testing::RoundedPlan());
  ASSERT_EQ(scene.stops.size(), 1u);
  EXPECT_NEAR(scene.stops[0].distance, 16 + 1.5 * std::numbers::pi, 1e-12);
  EXPECT_NEAR(scene.stops[0].duration_s, 0.8, 1e-12);
}

TEST(SceneTest, PortalsAloneGiveTheHullsBetweenThem) {
  const Scene scene = SceneOf(testing::CoupledPlan());
  ASSERT_EQ(scene.cells.size(), 3u);
  EXPECT_EQ(scene.cells[0].size(), 3u);
  EXPECT_EQ(scene.cells[1].size(), 4u);
}

TEST(SceneTest, RefusesColumnsThatDoNotFit) {
  PlanExample plan = testing::RoundedPlan();
  plan.request.mutable_corridor()->mutable_polygons()->add_vertex_count(3);
  EXPECT_THAT(std::string(BuildScene(plan.request, plan.response).status().message()),
              HasSubstr("vertex_count"));
  plan = testing::RoundedPlan();
  plan.response.mutable_route()->mutable_phases()->add_length(1);
  EXPECT_EQ(BuildScene(plan.request, plan.response).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(SceneTest, RefusesNumbersThatAreNotFinite) {
  const double kNaN = std::numeric_limits<double>::quiet_NaN();
  PlanExample plan = testing::RoundedPlan();
  plan.request.mutable_goal()->set_x(kNaN);
  EXPECT_FALSE(BuildScene(plan.request, plan.response).ok());
  plan = testing::RoundedPlan();
  plan.response.mutable_route()->mutable_phases()->set_speed(1, kNaN);
  EXPECT_THAT(std::string(BuildScene(plan.request, plan.response).status().message()),
              HasSubstr("phases.speed[1]"));
}

// The middle of the SVG arc from `from` to `to`, by the rules of the SVG standard for a small arc.
Pixel ArcMiddle(Pixel from, Pixel to, double radius, bool clockwise) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double half_chord = 0.5 * std::hypot(dx, dy);
  const double rise = radius - std::sqrt(std::max(0.0, radius * radius - half_chord * half_chord));
  // With y down, a clockwise arc bulges to the left of its chord as seen by someone who walks along
  // it on the screen.
  const double side = clockwise ? 1 : -1;
  return {0.5 * (from.x + to.x) + side * rise * dy / (2 * half_chord),
          0.5 * (from.y + to.y) - side * rise * dx / (2 * half_chord)};
}

TEST(MapPanelTest, ArcsOfThePictureLieOnTheArcsOfTheRoute) {
  for (const double curvature : {1 / 3.0, -1 / 3.0}) {
    for (const double angle : {0.3, 1.5, 3.0, 5.5}) {
      TraceSegment arc;
      arc.start = {2, 1};
      arc.heading_rad = 0.7;
      arc.curvature = curvature;
      arc.length = angle / std::abs(curvature);
      const MapProjection projection({{-10, -10}, {10, 10}}, {0, 0, 1000, 1000});
      SvgPath path;
      path.MoveTo(projection(arc.start));
      AppendSegment(arc, 0, arc.length, projection, path);
      // "M x,y A r,r 0 0 sweep x,y ...": read the numbers back.
      std::string numbers = path.d();
      for (char& c : numbers) {
        if (c == 'M' || c == 'A' || c == ',') c = ' ';
      }
      std::istringstream in(numbers);
      Pixel from;
      in >> from.x >> from.y;
      double r, same_r, rotation, large, sweep;
      Pixel to;
      int pieces = 0;
      const int expected_pieces = 1 + static_cast<int>(angle / (std::numbers::pi / 2));
      while (in >> r >> same_r >> rotation >> large >> sweep >> to.x >> to.y) {
        const double middle_s = arc.length * (pieces + 0.5) / expected_pieces;
        const Pixel on_route = projection(PointAlong(arc, middle_s));
        const Pixel drawn = ArcMiddle(from, to, r, sweep == 1);
        EXPECT_NEAR(drawn.x, on_route.x, 0.05) << curvature << ' ' << angle;
        EXPECT_NEAR(drawn.y, on_route.y, 0.05) << curvature << ' ' << angle;
        EXPECT_EQ(large, 0);
        from = to;
        ++pieces;
      }
      EXPECT_EQ(pieces, expected_pieces);
      const Pixel end = projection(PointAlong(arc, arc.length));
      EXPECT_NEAR(from.x, end.x, 0.01);
      EXPECT_NEAR(from.y, end.y, 0.01);
    }
  }
}

TEST(MapPanelTest, ProjectionKeepsAspectAndTurnsTheSecondAxisUp) {
  const MapProjection projection({{1e7, 0}, {1e7 + 4, 1}}, {50, 60, 400, 300});
  const Pixel a = projection({1e7, 0});
  const Pixel b = projection({1e7 + 1, 1});
  EXPECT_NEAR(b.x - a.x, a.y - b.y, 1e-6);
  EXPECT_GT(b.x, a.x);
  EXPECT_LT(b.y, a.y);
}

struct PlotCase {
  const char* name;
  std::function<PlanExample()> make;
};

class EveryPlotTest : public ::testing::TestWithParam<PlotCase> {};

TEST_P(EveryPlotTest, IsWellFormedFiniteAndRepeatable) {
  const PlanExample plan = GetParam().make();
  const std::string svg = Plot(plan);
  EXPECT_EQ(XmlFault(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(svg, Plot(plan));
}

INSTANTIATE_TEST_SUITE_P(
    Plans, EveryPlotTest,
    ::testing::Values(
        PlotCase{"Rounded", testing::RoundedPlan}, PlotCase{"Coupled", testing::CoupledPlan},
        PlotCase{"CannotStop", testing::CannotStopPlan},
        PlotCase{"GateClosed", testing::GateClosedPlan},
        PlotCase{"OnePoint", testing::OnePointPlan},
        PlotCase{"Empty", [] { return PlanExample(); }},
        PlotCase{"FarAndSmall", [] { return testing::RoundedPlanMoved(v1::UP_AXIS_Y, 1e7, 1e-3); }},
        PlotCase{"Tiny", [] { return testing::RoundedPlanMoved(v1::UP_AXIS_X, 0, 1e-6); }},
        PlotCase{"Huge", [] { return testing::RoundedPlanMoved(v1::UP_AXIS_Z, -1e11, 1e9); }},
        PlotCase{"BelowResolution",
                 [] { return testing::RoundedPlanMoved(v1::UP_AXIS_Z, 1e12, 1e-9); }}),
    [](const auto& info) { return info.param.name; });

TEST(RoutePlotTest, MovedAndScaledPlansGiveTheSameMap) {
  const auto route_of = [](const std::string& svg) {
    const size_t begin = svg.find("class=\"casing\"");
    return svg.substr(svg.rfind("<path", begin), begin - svg.rfind("<path", begin));
  };
  const std::string plain = route_of(Plot(testing::RoundedPlan()));
  EXPECT_THAT(plain, HasSubstr("A"));
  EXPECT_EQ(plain, route_of(Plot(testing::RoundedPlanMoved(v1::UP_AXIS_Y, 0, 1))));
  EXPECT_EQ(plain, route_of(Plot(testing::RoundedPlanMoved(v1::UP_AXIS_X, 0, 1))));
  EXPECT_EQ(plain, route_of(Plot(testing::RoundedPlanMoved(v1::UP_AXIS_Z, 1024, 1))));
  EXPECT_EQ(plain, route_of(Plot(testing::RoundedPlanMoved(v1::UP_AXIS_Z, 0, 1 << 20))));
}

TEST(RoutePlotTest, ShowsStopsRejectedCornersAndArcsWithTheirLegend) {
  const std::string svg = Plot(testing::RoundedPlan());
  EXPECT_THAT(svg, HasSubstr("class=\"stop\""));
  EXPECT_THAT(svg, HasSubstr(">no room</text>"));
  EXPECT_THAT(svg, HasSubstr(">rounded corner</text>"));
  EXPECT_THAT(svg, HasSubstr(">shortest line</text>"));
  EXPECT_THAT(svg, HasSubstr("lateral acceleration"));
  EXPECT_THAT(svg, HasSubstr("2 corners (1 rounded), 1 stop"));
}

TEST(RoutePlotTest, LeavesOutWhatThePlanDoesNotHave) {
  const std::string svg = Plot(testing::GateClosedPlan());
  EXPECT_THAT(svg, HasSubstr("No route: a gate is closed"));
  EXPECT_THAT(svg, HasSubstr(">closed portal</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">speed</text>")));
  EXPECT_THAT(Plot(testing::CannotStopPlan()), Not(HasSubstr("lateral acceleration")));
}

TEST(RoutePlotTest, ShowsWhereABrakingPathRests) {
  const std::string svg = Plot(testing::CannotStopPlan());
  EXPECT_THAT(svg, HasSubstr("Cannot stop in time"));
  EXPECT_THAT(svg, HasSubstr(">at rest</text>"));
  EXPECT_THAT(svg, HasSubstr("2 too far"));
}

TEST(RoutePlotTest, EscapesTheTitle) {
  const PlanExample plan = testing::RoundedPlan();
  RoutePlotOptions options;
  options.title = "A <b> & \"c\"";
  const auto svg = PlotRoute(plan.request, plan.response, options);
  ASSERT_TRUE(svg.ok()) << svg.status();
  EXPECT_EQ(XmlFault(*svg), "");
  EXPECT_THAT(*svg, HasSubstr("A &lt;b&gt; &amp; &quot;c&quot;"));
}

}  // namespace
}  // namespace arclane
