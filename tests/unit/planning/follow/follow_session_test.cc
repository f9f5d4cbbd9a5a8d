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
#include "server/codec/curve_route_codec.h"
#include "server/codec/request_limits.h"
#include "server/pipeline/plan_corridor.h"
#include "server/pipeline/plan_spline.h"

namespace arclane {
namespace {

constexpr double kDt = 1.0 / 60.0;
constexpr uint64_t kGate = 17;

// An L with a gate before the last of four cells, Y up, and far from the origin.
v1::PlanCorridorRequest Request(bool rounds, v1::UpAxis up = v1::UP_AXIS_Y, double offset = 4096) {
  v1::PlanCorridorRequest request;
  request.mutable_frame()->set_up_axis(up);
  request.mutable_frame()->mutable_origin()->set_x(offset);
  v1::PointColumns& vertices = *request.mutable_corridor()->mutable_polygons()->mutable_vertices();
  const auto add = [&](v1::PointColumns& columns, double a, double b) {
    columns.add_x(up == v1::UP_AXIS_X ? 0.0 : a + offset);
    columns.add_y(up == v1::UP_AXIS_X ? a : up == v1::UP_AXIS_Y ? 0.0 : b);
    columns.add_z(up == v1::UP_AXIS_Z ? 0.0 : b);
  };
  const double cells[][4] = {{0, 0, 10, 2}, {10, 0, 12, 2}, {10, 2, 12, 8}, {10, 8, 12, 20}};
  for (const auto& [left, low, right, high] : cells) {
    add(vertices, left, low);
    add(vertices, right, low);
    add(vertices, right, high);
    add(vertices, left, high);
    request.mutable_corridor()->mutable_polygons()->add_vertex_count(4);
  }
  const auto point = [&](v1::Point* p, double a, double b) {
    p->set_x(a + offset);
    (up == v1::UP_AXIS_Y ? p->set_z(b) : p->set_y(b));
  };
  point(request.mutable_start(), 1, 1);
  point(request.mutable_goal(), 11, 19);
  v1::DependencyColumns& dependencies = *request.mutable_corridor()->mutable_dependencies();
  dependencies.add_portal_index(2);
  dependencies.add_kind(v1::DEPENDENCY_KIND_GATE);
  dependencies.add_id(kGate);
  v1::AgentProfile& agent = *request.mutable_agent();
  agent.mutable_limits()->set_max_speed(6);
  agent.mutable_limits()->set_max_acceleration(3);
  agent.mutable_limits()->set_max_braking(4);
  agent.mutable_limits()->set_max_lateral_acceleration(4);
  agent.mutable_manners()->set_corner_distance_tolerance(1e-3);
  agent.mutable_manners()->set_corner_speed_tolerance(0.05);
  if (rounds) agent.mutable_body()->set_max_turn_radius(3);
  request.set_include_corridor(true);
  return request;
}

v1::Route Planned(const v1::PlanCorridorRequest& request) {
  v1::PlanCorridorResponse response;
  const auto failure = AnswerPlanCorridor(
      request, RequestLimits(), [] { return std::optional<FailureReason>(); }, response);
  EXPECT_FALSE(failure) << failure->message;
  return response.route();
}

v1::StreamRoute RouteFor(const v1::PlanCorridorRequest& request, const v1::Route& route) {
  v1::StreamRoute sent;
  sent.set_route_id(3);
  sent.set_version(1);
  *sent.mutable_route() = route;
  *sent.mutable_agent() = request.agent();
  *sent.mutable_frame() = request.frame();
  *sent.mutable_dependencies() = request.corridor().dependencies();
  return sent;
}

// An agent whose reports are what a controller with the hold integrator makes of the requests.
struct StreamAgent {
  std::array<double, 3> position = {}, velocity = {}, displacement = {};
  double heading = 0.0;
};

void AddTo(v1::PointColumns* columns, const std::array<double, 3>& p) {
  columns->add_x(p[0]);
  columns->add_y(p[1]);
  columns->add_z(p[2]);
}

void AddAgent(uint64_t id, const StreamAgent& agent, v1::AgentColumns* columns) {
  columns->add_agent_id(id);
  columns->add_route_id(3);
  AddTo(columns->mutable_position(), agent.position);
  AddTo(columns->mutable_velocity(), agent.velocity);
  AddTo(columns->mutable_displacement(), agent.displacement);
  columns->add_heading_rad(agent.heading);
}

void Move(const v1::MotionColumns& motions, int i, StreamAgent& agent) {
  agent.velocity = {motions.velocity().x(i), motions.velocity().y(i), motions.velocity().z(i)};
  for (int k = 0; k < 3; ++k) {
    agent.displacement[k] = agent.velocity[k] * kDt;
    agent.position[k] += agent.displacement[k];
  }
  agent.heading = motions.heading_rad(i);
}

StreamAgent AgentAtStart(const v1::PlanCorridorRequest& request) {
  StreamAgent agent;
  agent.position = {request.start().x(), request.start().y(), request.start().z()};
  return agent;
}

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
}

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
