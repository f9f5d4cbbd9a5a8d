// SPDX-License-Identifier: Apache-2.0
// Curves that are followed through their samples, and routes planned anew under way.
#include <cmath>

#include "client/sdk/follower.h"
#include "gtest/gtest.h"
#include "server/codec/curve_route_codec.h"
#include "server/codec/request_limits.h"
#include "server/pipeline/follow_session.h"
#include "server/pipeline/plan_spline.h"
#include "tests/unit/planning/follow/follow_requests.h"

namespace arclane {
namespace {

// A curve is followed through its samples, by the SDK and on a stream alike, to its end.
TEST(FollowCurveTest, ArrivesAlongTheSamples) {
  v1::PlanSplineRequest request;
  request.mutable_spline()->mutable_catmull_rom();
  const double control[][2] = {{0, 0}, {4, 1}, {6, 5}, {10, 5}, {14, 2}};
  for (const auto& [x, y] : control) {
    request.mutable_spline()->mutable_control()->add_x(x);
    request.mutable_spline()->mutable_control()->add_y(y);
  }
  v1::AgentLimits& limits = *request.mutable_agent()->mutable_limits();
  limits.set_max_speed(3);
  limits.set_max_acceleration(2);
  limits.set_max_braking(2);
  limits.set_max_lateral_acceleration(2);
  request.mutable_sampling()->set_count(400);
  v1::PlanSplineResponse response;
  ASSERT_FALSE(AnswerPlanSpline(
      request, RequestLimits(), [] { return std::optional<FailureReason>(); }, response));
  const auto route = FollowedRouteOf(request, response.plan(), 1);
  ASSERT_TRUE(route.ok()) << route.status();
  EXPECT_EQ((*route)->route.cell_count(), 0u);
  Follower follower(*route, {}, 0.0, {0.0, 0.0, 0.0});
  FollowSession session;
  v1::FollowRequest tick;
  v1::StreamRoute& sent = *tick.add_routes();
  sent.set_route_id(1);
  *sent.mutable_curve() = response.plan();
  *sent.mutable_agent() = request.agent();
  FollowReport report;
  report.dt = kDt;
  const double duration = response.plan().samples().time_s(399);
  for (int step = 0; step * kDt < 1.1 * duration + 1.0; ++step) {
    report.time_s = step * kDt;
    const MotionRequest& motion = follower.Step({.report = report});
    EXPECT_LE(motion.deviation, 1e-3) << step;
    EXPECT_EQ(motion.half_plane_count, 0u);
    tick.set_time_s(report.time_s);
    tick.set_dt_s(kDt);
    tick.clear_agents();
    v1::AgentColumns& agents = *tick.mutable_agents();
    agents.add_agent_id(1);
    agents.add_route_id(1);
    agents.mutable_position()->add_x(report.position.x);
    agents.mutable_position()->add_y(report.position.y);
    agents.mutable_velocity()->add_x(report.velocity.x);
    agents.mutable_velocity()->add_y(report.velocity.y);
    agents.add_heading_rad(report.heading);
    v1::FollowResponse answer;
    ASSERT_FALSE(session.Answer(tick, &answer));
    tick.clear_routes();
    EXPECT_EQ(answer.motions().velocity().x(0), motion.preferred_velocity.x);
    EXPECT_EQ(answer.motions().velocity().y(0), motion.preferred_velocity.y);
    if (motion.status == FollowStatus::kArrived) {
      EXPECT_NEAR(report.position.x, 14.0, 1e-6);
      EXPECT_NEAR(report.position.y, 2.0, 1e-6);
      EXPECT_LE(report.time_s, 1.03 * duration + 4.0 * kDt);
      return;
    }
    report.velocity = motion.preferred_velocity;
    report.displacement = motion.preferred_velocity * kDt;
    report.position = report.position + report.displacement;
    report.heading = motion.heading;
  }
  FAIL() << "does not arrive";
}

TEST(FollowCurveTest, NamesTheSamplesThatAreMissing) {
  v1::CurvePlan plan;
  plan.set_length(2);
  v1::Route route;
  Violations none;
  EXPECT_FALSE(RouteOfCurve(plan, {}, none, &route));
  EXPECT_EQ(none.kept()[0].field, "curve.samples.distance");
  for (const double distance : {0.0, 1.0, 2.0}) {
    plan.mutable_samples()->add_distance(distance);
    plan.mutable_samples()->mutable_position()->add_x(distance);
    plan.mutable_samples()->mutable_position()->add_y(0);
    plan.mutable_samples()->add_speed(distance == 1.0 ? 1.0 : 0.0);
  }
  Violations violations;
  EXPECT_TRUE(RouteOfCurve(plan, {}, violations, &route)) << violations.ToString();
  plan.mutable_stops()->add_distance(0.5);
  plan.mutable_stops()->add_turn_angle_rad(1.0);
  EXPECT_FALSE(RouteOfCurve(plan, {}, violations, &route));
  EXPECT_EQ(violations.kept()[0].field, "curve.samples.distance");
  plan.clear_stops();
  plan.mutable_samples()->clear_speed();
  EXPECT_FALSE(RouteOfCurve(plan, {}, violations, &route));
  EXPECT_EQ(violations.kept()[1].field, "curve.samples.speed");
}

// The agent's real state, moving and turned: the new route begins with it.
TEST(FollowReplanTest, BeginsWithTheRealVelocity) {
  const v1::PlanCorridorRequest planned = Request(false);
  const v1::Route route = Planned(planned);
  const auto followed = FollowedRouteOf(planned, route, 1);
  ASSERT_TRUE(followed.ok());
  StreamAgent agent = AgentAtStart(planned);
  Follower follower(*followed, {}, 0.0, agent.position);
  FollowReport report;
  report.position = follower.plane().PositionToPlane(agent.position);
  report.dt = kDt;
  double speed_before = 0.0;
  for (int step = 0; step < 900; ++step) {
    report.time_s = step * kDt;
    if (step == 60) {
      const v1::PlanCorridorRequest again = ReplanFrom(planned, report);
      const v1::Route next = Planned(again);
      EXPECT_EQ(next.outcome(), v1::OUTCOME_COMPLETE);
      const auto joined = FollowedRouteOf(again, next, 2);
      ASSERT_TRUE(joined.ok()) << joined.status();
      follower.Replace(*joined, report.time_s, report.position);
    }
    const Vec2 before = report.velocity;
    const MotionRequest& next = follower.Step({.report = report});
    report.velocity = next.preferred_velocity;
    report.displacement = next.preferred_velocity * kDt;
    report.position = report.position + report.displacement;
    report.heading = next.heading;
    EXPECT_LE(std::abs(next.speed - speed_before), 4.0 * kDt * (1.0 + 1e-6)) << step;
    if (step == 60) {
      EXPECT_LE(std::abs(TurnAngle(before, report.velocity)), 1e-6);
    }
    speed_before = next.speed;
    if (next.status == FollowStatus::kArrived) return;
  }
  FAIL() << "does not arrive";
}

TEST(FollowReplanTest, AnAgentThatCannotJoinBrakesFirst) {
  v1::PlanCorridorRequest planned = Request(false);
  FollowReport report;
  report.position = {4.0, 1.0};
  report.velocity = {0.0, 1.5};
  const v1::PlanCorridorRequest again = ReplanFrom(planned, report);
  const v1::Route next = Planned(again);
  EXPECT_EQ(next.outcome(), v1::OUTCOME_START_OFF_ROUTE);
  const auto followed = FollowedRouteOf(again, next, 1);
  ASSERT_TRUE(followed.ok()) << followed.status();
  Follower follower(*followed, {}, 0.0,
                    FollowPlane((*followed)->frame).PositionFromPlane(report.position));
  report.dt = kDt;
  double speed = 1.5;
  for (int step = 0; step < 200; ++step) {
    report.time_s = step * kDt;
    const MotionRequest& motion = follower.Step({.report = report});
    EXPECT_LE(std::abs(TurnAngle({0.0, 1.0},
                                 motion.speed > 0.0 ? motion.preferred_velocity : Vec2{0.0, 1.0})),
              1e-9);
    EXPECT_GE(motion.speed, speed - 4.0 * kDt * (1.0 + 1e-6));
    speed = motion.speed;
    report.velocity = motion.preferred_velocity;
    report.position = report.position + motion.preferred_velocity * kDt;
    if (motion.speed == 0.0 && motion.status == FollowStatus::kArrivedPartial) {
      EXPECT_TRUE(motion.replan);
      return;
    }
  }
  FAIL() << "does not rest";
}

}  // namespace
}  // namespace arclane
