// SPDX-License-Identifier: Apache-2.0
// A step of the follower: one agent, and many whose states lie in order in memory, all on one route
// of rounded corners or on one of stops.
#include <cstdlib>
#include <vector>

#include "benchmark/benchmark.h"
#include "server/planning/follow/follow_step.h"
#include "tests/unit/planning/follow/follow_world.h"

namespace arclane {
namespace {

constexpr double kDt = 1.0 / 60.0;

testing::PlannedRoute Planned(const FollowAgent& agent) {
  testing::PlannedRoute planned;
  if (!testing::PlanRoute("bent", testing::BentCorridor(), false, agent, {}, &planned)) {
    std::abort();
  }
  return planned;
}

// An agent as its controller holds it.
struct Agent {
  FollowerState state;
  FollowReport report;
};

// Every agent drives round and round; they start spread over the time of one round.
void StepAgents(benchmark::State& state, const FollowAgent& profile) {
  const testing::PlannedRoute planned = Planned(profile);
  const FollowRoute& route = planned.follow;
  const auto count = static_cast<size_t>(state.range(0));
  std::vector<Agent> agents(count);
  const FollowerOptions options;
  const auto restart = [&](Agent& agent) {
    agent.state = StartFollowing(route, agent.report.time_s, route.start);
    agent.report.position = route.start;
    agent.report.velocity = agent.report.displacement = {};
    agent.report.heading = route.segments.front().heading;
    agent.report.dt = kDt;
  };
  FollowInput input;
  MotionRequest request;
  const auto step = [&](Agent& agent) {
    input.report = agent.report;
    FollowStep(route, options, input, agent.state, request);
    agent.report.velocity = request.preferred_velocity;
    agent.report.displacement = request.preferred_velocity * kDt;
    agent.report.position = agent.report.position + agent.report.displacement;
    agent.report.heading = request.heading;
    agent.report.time_s += kDt;
    if (request.status == FollowStatus::kArrived) restart(agent);
  };
  const int round = static_cast<int>(planned.plan.route.duration_s / kDt);
  for (size_t i = 0; i < count; ++i) {
    restart(agents[i]);
    for (int k = static_cast<int>(i % round); k > 0; --k) step(agents[i]);
  }
  for (auto _ : state) {
    for (Agent& agent : agents) step(agent);
    benchmark::DoNotOptimize(request);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(count));
}

void BM_FollowStep_Rounded(benchmark::State& state) { StepAgents(state, testing::RoundingAgent()); }
void BM_FollowStep_Stops(benchmark::State& state) { StepAgents(state, testing::TurningAgent()); }
BENCHMARK(BM_FollowStep_Rounded)->Arg(1)->Arg(1000)->Arg(100000);
BENCHMARK(BM_FollowStep_Stops)->Arg(1)->Arg(1000)->Arg(100000);

}  // namespace
}  // namespace arclane
