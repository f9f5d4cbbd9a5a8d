// SPDX-License-Identifier: Apache-2.0
// The stream's ticks and the SDK's follower, over routes as they travel: the same bits.
#include "server/pipeline/follow_session.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "client/sdk/follower.h"
#include "gtest/gtest.h"
#include "tests/unit/planning/follow/follow_requests.h"

namespace arclane {
namespace {

TEST(FollowSessionTest, GivesTheSameBitsAsTheSdk) {
  for (const bool rounds : {false, true}) {
    for (const v1::UpAxis up : {v1::UP_AXIS_Y, v1::UP_AXIS_Z}) {
      const v1::PlanCorridorRequest planned = Request(rounds, up);
      const v1::Route route = Planned(planned);
      const auto followed = FollowedRouteOf(planned, route, 1);
      ASSERT_TRUE(followed.ok()) << followed.status();
      StreamAgent agent = AgentAtStart(planned);
      Follower follower(*followed, {}, 0.0, agent.position);
      FollowSession session;
      bool arrived = false;
      int step = 0;
      for (; step < 1200 && !arrived; ++step) {
        v1::FollowRequest request;
        if (step == 0) *request.add_routes() = RouteFor(planned, route);
        request.set_time_s(step * kDt);
        request.set_dt_s(kDt);
        AddAgent(5, agent, request.mutable_agents());
        v1::FollowResponse response;
        const auto failure = session.Answer(request, &response);
        ASSERT_FALSE(failure) << failure->message;
        const v1::MotionColumns& motions = response.motions();
        ASSERT_EQ(motions.agent_id_size(), 1);

        FollowInput input;
        input.report.time_s = step * kDt;
        input.report.dt = kDt;
        input.report.position = follower.plane().PositionToPlane(agent.position);
        input.report.velocity = follower.plane().VectorToPlane(agent.velocity);
        input.report.displacement = follower.plane().VectorToPlane(agent.displacement);
        input.report.heading = agent.heading;
        const MotionRequest& own = follower.Step(input);
        const auto velocity = follower.plane().VectorFromPlane(own.preferred_velocity);
        ASSERT_EQ(motions.velocity().x(0), velocity[0]) << step;
        ASSERT_EQ(motions.velocity().y(0), velocity[1]) << step;
        ASSERT_EQ(motions.velocity().z(0), velocity[2]) << step;
        ASSERT_EQ(motions.heading_rad(0), own.heading);
        ASSERT_EQ(motions.distance(0), own.distance);
        ASSERT_EQ(motions.deviation(0), own.deviation);
        ASSERT_EQ(motions.status(0), static_cast<int>(own.status) + 1);
        ASSERT_EQ(motions.portal_index(0), own.portal);
        EXPECT_EQ(response.valid_until_s(), request.time_s() + 2.0 * kDt);
        arrived = own.status == FollowStatus::kArrived;
        Move(motions, 0, agent);
      }
      EXPECT_TRUE(arrived);
      EXPECT_LE(step * kDt, 1.03 * route.duration_s() + 8.0 * kDt);
    }
  }
}

// A stream that ends in the middle is opened anew: the agent goes on without a step lost.
TEST(FollowSessionTest, ResumesOnANewStream) {
  const v1::PlanCorridorRequest planned = Request(true);
  const v1::Route route = Planned(planned);
  std::vector<std::array<double, 3>> undisturbed, reopened;
  for (const bool reopens : {false, true}) {
    StreamAgent agent = AgentAtStart(planned);
    auto session = std::make_unique<FollowSession>();
    double distance = 0.0;
    bool is_new = true;
    for (int step = 0; step < 300; ++step) {
      if (reopens && step % 50 == 49) {
        session = std::make_unique<FollowSession>();
        is_new = true;
      }
      v1::FollowRequest request;
      if (is_new) {
        *request.add_routes() = RouteFor(planned, route);
        request.mutable_agents()->add_resume_distance(distance);
        is_new = false;
      }
      request.set_time_s(step * kDt);
      request.set_dt_s(kDt);
      AddAgent(5, agent, request.mutable_agents());
      v1::FollowResponse response;
      ASSERT_FALSE(session->Answer(request, &response));
      distance = response.motions().distance(0);
      Move(response.motions(), 0, agent);
      (reopens ? reopened : undisturbed).push_back(agent.position);
    }
  }
  for (size_t i = 0; i < undisturbed.size(); ++i) {
    EXPECT_NEAR(undisturbed[i][0], reopened[i][0], 1e-9) << i;
    EXPECT_NEAR(undisturbed[i][2], reopened[i][2], 1e-9) << i;
  }
}

// The same at every single step, whatever the integrator, for a sender that knows no displacements:
// also while the agent brakes before a stop, where a step that is not seen would pass it.
TEST(FollowSessionTest, ResumesAtEveryStep) {
  struct Case {
    v1::Integrator integrator;
    bool rounds;
  };
  for (const Case& c : {Case{v1::INTEGRATOR_HOLD, false}, Case{v1::INTEGRATOR_HOLD, true},
                        Case{v1::INTEGRATOR_RAMP, false}, Case{v1::INTEGRATOR_RAMP, true},
                        Case{v1::INTEGRATOR_DELAY, false}, Case{v1::INTEGRATOR_DELAY, true}}) {
    const v1::PlanCorridorRequest planned = Request(c.rounds);
    const v1::Route route = Planned(planned);
    // The steps until it has arrived, with a new stream before step `reopened`.
    const auto steps = [&](int reopened) {
      StreamAgent agent = AgentAtStart(planned);
      std::array<double, 3> command = {}, acting = {};
      auto session = std::make_unique<FollowSession>();
      double distance = 0.0;
      for (int step = 0; step < 1200; ++step) {
        if (step == reopened) session = std::make_unique<FollowSession>();
        v1::FollowRequest request;
        if (step == reopened || step == 0) {
          *request.add_routes() = RouteFor(planned, route);
          request.mutable_options()->set_integrator(c.integrator);
          request.mutable_agents()->add_resume_distance(distance);
          AddTo(request.mutable_agents()->mutable_resume_velocity(), command);
        }
        request.set_time_s(step * kDt);
        request.set_dt_s(kDt);
        AddAgent(5, agent, request.mutable_agents());
        request.mutable_agents()->clear_displacement();
        v1::FollowResponse response;
        EXPECT_FALSE(session->Answer(request, &response));
        const v1::MotionColumns& motions = response.motions();
        EXPECT_NE(motions.status(0), v1::FOLLOW_STATUS_CANNOT_STOP_IN_TIME)
            << "step " << step << " reopened " << reopened;
        if (motions.status(0) == v1::FOLLOW_STATUS_ARRIVED) return step;
        distance = motions.distance(0);
        const std::array<double, 3> before = acting;
        const std::array<double, 3> next = {motions.velocity().x(0), motions.velocity().y(0),
                                            motions.velocity().z(0)};
        acting = c.integrator == v1::INTEGRATOR_DELAY ? command : next;
        command = next;
        for (int k = 0; k < 3; ++k) {
          const double mean =
              c.integrator == v1::INTEGRATOR_RAMP ? 0.5 * (before[k] + acting[k]) : acting[k];
          agent.position[k] += mean * kDt;
        }
        agent.velocity = acting;
        agent.heading = motions.heading_rad(0);
      }
      return 1200;
    };
    const int undisturbed = steps(-1);
    ASSERT_LT(undisturbed, 1200);
    for (int reopened = 1; reopened < undisturbed; ++reopened) {
      // One step late, the first command out of a stop may be under way: it is given once more.
      const int again = c.integrator == v1::INTEGRATOR_DELAY ? 1 : 0;
      ASSERT_LE(steps(reopened), undisturbed + again)
          << "integrator " << c.integrator << " rounds " << c.rounds << " reopened " << reopened;
    }
  }
}

TEST(FollowSessionTest, StaleAgentsAreToldWithoutBeingStepped) {
  const v1::PlanCorridorRequest planned = Request(false);
  FollowSession session;
  StreamAgent agent = AgentAtStart(planned);
  v1::FollowRequest request;
  *request.add_routes() = RouteFor(planned, Planned(planned));
  request.set_dt_s(kDt);
  for (const uint64_t id : {1, 2, 3}) AddAgent(id, agent, request.mutable_agents());
  v1::FollowResponse response;
  ASSERT_FALSE(session.Answer(request, &response));
  EXPECT_EQ(response.stale().agent_id_size(), 0);

  v1::FollowRequest change;
  change.set_time_s(kDt);
  change.set_dt_s(kDt);
  change.mutable_changes()->add_kind(v1::DEPENDENCY_KIND_GATE);
  change.mutable_changes()->add_id(kGate);
  change.mutable_changes()->add_change(v1::CHANGE_KIND_GATE_CLOSED);
  response.Clear();
  ASSERT_FALSE(session.Answer(change, &response));
  EXPECT_EQ(response.stale().agent_id_size(), 3);
  EXPECT_EQ(response.stale().portal_index(0), 2u);
  EXPECT_EQ(response.stale().change(0), v1::CHANGE_KIND_GATE_CLOSED);

  request.clear_routes();
  request.set_time_s(2 * kDt);
  response.Clear();
  ASSERT_FALSE(session.Answer(request, &response));
  EXPECT_EQ(response.motions().status(0), v1::FOLLOW_STATUS_STALE);
  EXPECT_TRUE(response.motions().replan(0));
}

// An agent that begins on a route that went stale before is told what changed, once: in the first
// message with the change, or later.
TEST(FollowSessionTest, AgentsThatBeginOnAStaleRouteAreToldWhatChanged) {
  const v1::PlanCorridorRequest planned = Request(false);
  FollowSession session;
  const StreamAgent agent = AgentAtStart(planned);
  v1::FollowRequest request;
  *request.add_routes() = RouteFor(planned, Planned(planned));
  request.set_dt_s(kDt);
  request.mutable_changes()->add_kind(v1::DEPENDENCY_KIND_GATE);
  request.mutable_changes()->add_id(kGate);
  request.mutable_changes()->add_change(v1::CHANGE_KIND_GATE_CLOSED);
  for (const uint64_t id : {1, 2}) {
    request.mutable_agents()->Clear();
    AddAgent(id, agent, request.mutable_agents());
    v1::FollowResponse response;
    ASSERT_FALSE(session.Answer(request, &response));
    EXPECT_EQ(response.motions().status(0), v1::FOLLOW_STATUS_STALE);
    ASSERT_EQ(response.stale().agent_id_size(), 1) << id;
    EXPECT_EQ(response.stale().agent_id(0), id);
    EXPECT_EQ(response.stale().route_id(0), 3u);
    EXPECT_EQ(response.stale().change(0), v1::CHANGE_KIND_GATE_CLOSED);
    EXPECT_EQ(response.stale().portal_index(0), 2u);
    request.clear_routes();
    request.clear_changes();
    response.Clear();
    ASSERT_FALSE(session.Answer(request, &response));
    EXPECT_EQ(response.motions().status(0), v1::FOLLOW_STATUS_STALE);
    EXPECT_FALSE(response.has_stale());
  }
}

// A route whose start is its goal: there, and as far from it as the agent is.
TEST(FollowSessionTest, ARouteWithoutLengthIsItsPoint) {
  for (const v1::UpAxis up : {v1::UP_AXIS_Z, v1::UP_AXIS_Y}) {
    v1::PlanCorridorRequest planned = Request(false, up, 100.0);
    *planned.mutable_start() = planned.goal();
    planned.mutable_corridor()->clear_dependencies();
    v1::PointColumns& vertices =
        *planned.mutable_corridor()->mutable_polygons()->mutable_vertices();
    for (auto* column : {vertices.mutable_x(), vertices.mutable_y(), vertices.mutable_z()}) {
      column->erase(column->begin(), column->begin() + 12);
    }
    planned.mutable_corridor()->mutable_polygons()->mutable_vertex_count()->Truncate(1);
    const v1::Route route = Planned(planned);
    ASSERT_EQ(route.segments().kind_size(), 0);
    EXPECT_EQ(route.point().x(), planned.goal().x());
    FollowSession session;
    v1::FollowRequest request;
    *request.add_routes() = RouteFor(planned, route);
    request.set_dt_s(kDt);
    StreamAgent agent = AgentAtStart(planned);
    AddAgent(1, agent, request.mutable_agents());
    agent.position[0] += 0.5;
    AddAgent(2, agent, request.mutable_agents());
    v1::FollowResponse response;
    ASSERT_FALSE(session.Answer(request, &response));
    EXPECT_EQ(response.motions().status(0), v1::FOLLOW_STATUS_ARRIVED);
    EXPECT_EQ(response.motions().deviation(0), 0.0);
    EXPECT_EQ(response.motions().status(1), v1::FOLLOW_STATUS_OFF_ROUTE);
    EXPECT_EQ(response.motions().deviation(1), 0.5);
    // Nor is it guessed when the message does not tell.
    request.mutable_routes(0)->mutable_route()->clear_point();
    const auto failure = session.Answer(request, &response);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->violations[0].field, "routes[0].route.point");
  }
}

TEST(FollowSessionTest, ASilentFeedBrakesEveryAgent) {
  const v1::PlanCorridorRequest planned = Request(false);
  FollowSession session;
  StreamAgent agent = AgentAtStart(planned);
  for (int step = 0; step < 40; ++step) {
    v1::FollowRequest request;
    if (step == 0) {
      request.mutable_options()->set_feed_age_limit_s(0.25);
      *request.add_routes() = RouteFor(planned, Planned(planned));
    }
    request.set_heartbeat(step < 10);
    request.set_time_s(step * kDt);
    request.set_dt_s(kDt);
    AddAgent(1, agent, request.mutable_agents());
    v1::FollowResponse response;
    ASSERT_FALSE(session.Answer(request, &response));
    const bool silent = (step - 9) * kDt > 0.25;
    EXPECT_EQ(response.motions().status(0),
              silent ? v1::FOLLOW_STATUS_STALE : v1::FOLLOW_STATUS_FOLLOWING)
        << step;
    Move(response.motions(), 0, agent);
  }
}

TEST(FollowSessionTest, OneAgentsFaultIsItsOwn) {
  const v1::PlanCorridorRequest planned = Request(false);
  FollowSession session;
  StreamAgent agent = AgentAtStart(planned);
  StreamAgent nowhere = agent;
  nowhere.position[0] = std::nan("");
  v1::FollowRequest request;
  *request.add_routes() = RouteFor(planned, Planned(planned));
  request.set_dt_s(kDt);
  AddAgent(1, agent, request.mutable_agents());
  AddAgent(2, nowhere, request.mutable_agents());
  AddAgent(3, agent, request.mutable_agents());
  request.mutable_agents()->set_route_id(2, 99);
  AddAgent(4, agent, request.mutable_agents());
  for (const uint64_t version : {1, 1, 1, 2}) request.mutable_agents()->add_route_version(version);
  v1::FollowResponse response;
  ASSERT_FALSE(session.Answer(request, &response));
  EXPECT_EQ(response.motions().fault(0), v1::FOLLOW_FAULT_UNSPECIFIED);
  EXPECT_EQ(response.motions().fault(1), v1::FOLLOW_FAULT_NOT_FINITE);
  EXPECT_EQ(response.motions().fault(2), v1::FOLLOW_FAULT_NO_ROUTE);
  EXPECT_EQ(response.motions().fault(3), v1::FOLLOW_FAULT_OTHER_VERSION);
  for (const int bad : {1, 2, 3}) {
    EXPECT_EQ(response.motions().status(bad), v1::FOLLOW_STATUS_BAD_INPUT);
  }
  // Time that runs backward, and steps that are none.
  request.clear_routes();
  request.set_time_s(-1.0);
  response.Clear();
  ASSERT_FALSE(session.Answer(request, &response));
  EXPECT_EQ(response.motions().fault(0), v1::FOLLOW_FAULT_TIME);
  for (const double dt : {0.0, -1.0, std::nan(""), 10.0}) {
    request.set_time_s(1.0);
    request.set_dt_s(dt);
    response.Clear();
    ASSERT_FALSE(session.Answer(request, &response));
    EXPECT_EQ(response.motions().fault(0), v1::FOLLOW_FAULT_TIME_STEP) << dt;
  }
}

// What makes no sense for the stream ends it and names the field.
TEST(FollowSessionTest, MalformedRequestsNameTheirField) {
  const v1::PlanCorridorRequest planned = Request(false);
  const v1::Route route = Planned(planned);
  const auto field_of = [&](const auto& change) {
    FollowSession session;
    v1::FollowRequest request;
    *request.add_routes() = RouteFor(planned, route);
    request.set_dt_s(kDt);
    AddAgent(1, AgentAtStart(planned), request.mutable_agents());
    change(request);
    v1::FollowResponse response;
    const auto failure = session.Answer(request, &response);
    if (!failure) return std::string("none");
    return failure->violations.empty() ? failure->message : failure->violations[0].field;
  };
  using R = v1::FollowRequest;
  const double nan = std::nan("");
  EXPECT_EQ(field_of([](R&) {}), "none");
  EXPECT_EQ(field_of([](R& r) { r.mutable_agents()->add_route_id(3); }), "agents.route_id");
  EXPECT_EQ(field_of([](R& r) { r.mutable_agents()->clear_velocity(); }), "agents.velocity");
  EXPECT_EQ(field_of([](R& r) {
              r.mutable_agents()->add_max_speed(1), r.mutable_agents()->add_max_speed(1);
            }),
            "agents.max_speed");
  EXPECT_EQ(field_of([&](R& r) { r.mutable_options()->set_max_dt_s(nan); }), "options.max_dt_s");
  EXPECT_EQ(field_of([&](R& r) { r.mutable_options()->set_longest_step(3); }),
            "options.longest_step");
  EXPECT_EQ(field_of([&](R& r) { r.mutable_routes(0)->clear_agent(); }), "routes[0].agent");
  EXPECT_EQ(field_of([&](R& r) {
              r.mutable_routes(0)->mutable_route()->set_outcome(v1::OUTCOME_GATE_CLOSED);
            }),
            "routes[0].route.outcome");
  EXPECT_EQ(field_of([&](R& r) {
              r.mutable_routes(0)->mutable_route()->mutable_segments()->set_length(0, nan);
            }),
            "routes[0].route.segments.length[0]");
  EXPECT_EQ(
      field_of([&](R& r) { r.mutable_routes(0)->mutable_route()->mutable_phases()->add_speed(1); }),
      "routes[0].route.phases.speed");
  EXPECT_EQ(field_of([&](R& r) {
              r.mutable_routes(0)->mutable_route()->mutable_cells()->set_vertex_count(0, 0);
            }),
            "routes[0].route.cells.vertex_count");
  for (const double far : {1e101, -1e154, 1e300}) {
    EXPECT_EQ(field_of([&](R& r) { r.mutable_agents()->mutable_velocity()->set_x(0, far); }),
              "agents.velocity.x[0]");
    EXPECT_EQ(field_of([&](R& r) { r.mutable_agents()->mutable_position()->set_y(0, far); }),
              "agents.position.y[0]");
    EXPECT_EQ(field_of([&](R& r) {
                v1::SegmentColumns& segments =
                    *r.mutable_routes(0)->mutable_route()->mutable_segments();
                segments.mutable_start()->set_x(0, far);
              }),
              "routes[0].route.segments.start[0]");
    EXPECT_EQ(field_of([&](R& r) {
                r.mutable_routes(0)->mutable_route()->mutable_phases()->set_speed(0, far);
              }),
              "routes[0].route.phases.speed[0]");
  }
  EXPECT_EQ(field_of([&](R& r) { AddAgent(1, AgentAtStart(planned), r.mutable_agents()); }),
            "agents.agent_id[1]");
  EXPECT_EQ(field_of([&](R& r) { r.mutable_routes(0)->mutable_route()->clear_cells(); }),
            "routes[0].route.cells");
  EXPECT_EQ(field_of([&](R& r) { r.mutable_changes()->add_id(1); }), "changes.id");
  EXPECT_EQ(field_of([&](R& r) {
              r.mutable_agents()->add_collision(static_cast<v1::CollisionReason>(9));
            }),
            "agents.collision[0]");
  EXPECT_EQ(field_of([&](R& r) { r.mutable_agents()->add_resume_distance(nan); }),
            "agents.resume_distance[0]");
  EXPECT_EQ(field_of([&](R& r) {
              r.mutable_routes(0)->mutable_dependencies()->set_kind(
                  0, v1::DEPENDENCY_KIND_UNSPECIFIED);
            }),
            "routes[0].dependencies.kind[0]");
  EXPECT_EQ(field_of([&](R& r) { r.mutable_agents()->mutable_position()->clear_x(); }),
            "agents.position");
}

TEST(FollowSessionTest, ACapThatIsNoneIsAFaultOfItsAgent) {
  const v1::PlanCorridorRequest planned = Request(false);
  FollowSession session;
  v1::FollowRequest request;
  *request.add_routes() = RouteFor(planned, Planned(planned));
  request.set_dt_s(kDt);
  for (const double cap : {std::nan(""), -1.0, 0.5}) {
    AddAgent(static_cast<uint64_t>(request.agents().agent_id_size()), AgentAtStart(planned),
             request.mutable_agents());
    request.mutable_agents()->add_max_speed(cap);
  }
  request.mutable_agents()->mutable_position()->set_x(1, std::nan(""));
  request.mutable_agents()->set_heading_rad(1, std::nan(""));
  v1::FollowResponse response;
  ASSERT_FALSE(session.Answer(request, &response));
  const v1::MotionColumns& motions = response.motions();
  EXPECT_EQ(motions.fault(0), v1::FOLLOW_FAULT_NOT_FINITE);
  EXPECT_EQ(motions.fault(1), v1::FOLLOW_FAULT_NOT_FINITE);
  EXPECT_EQ(motions.fault(2), v1::FOLLOW_FAULT_UNSPECIFIED);
  // Nothing that is told is other than a number.
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::isfinite(motions.heading_rad(i))) << i;
    EXPECT_TRUE(std::isfinite(motions.target().x(i))) << i;
    EXPECT_TRUE(std::isfinite(motions.velocity().x(i))) << i;
  }
}

}  // namespace
}  // namespace arclane
