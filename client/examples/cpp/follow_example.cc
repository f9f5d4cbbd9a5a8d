// SPDX-License-Identifier: Apache-2.0
// Plans one route and lets 1,000 agents follow it, a tenth of a second apart, without any further
// call to the server. Halfway through, a gate across the corridor's last portal closes, if the
// corridor depends on one.
//   follow_example [HOST:PORT] < request.json
#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "client/sdk/client.h"
#include "client/sdk/follower.h"
#include "google/protobuf/util/json_util.h"

namespace {

constexpr int kAgents = 1000;
constexpr double kDt = 1.0 / 60.0;
constexpr double kApart = 0.1;

struct Agent {
  arclane::Follower follower;
  arclane::FollowReport report;
  bool done = false;
};

}  // namespace

int main(int argc, char** argv) {
  arclane::ClientOptions options;
  if (argc > 1) options.target = argv[1];
  const auto client = arclane::Client::Create(options);
  if (!client.ok()) {
    std::cerr << client.status() << '\n';
    return 1;
  }
  arclane::v1::PlanCorridorRequest request;
  const std::string json(std::istreambuf_iterator<char>(std::cin), {});
  if (const auto parsed = google::protobuf::util::JsonStringToMessage(json, &request);
      !parsed.ok()) {
    std::cerr << parsed << '\n';
    return 1;
  }
  request.set_include_corridor(true);
  const auto answer = (*client)->PlanCorridor(request);
  if (!answer.ok()) {
    std::cerr << answer.error() << '\n';
    return 1;
  }
  const auto route = arclane::FollowedRouteOf(request, answer->route(), /*version=*/1);
  if (!route.ok()) {
    std::cerr << route.status() << '\n';
    return 1;
  }

  const arclane::FollowRoute& path = (*route)->route;
  const arclane::FollowPlane plane((*route)->frame);
  std::vector<Agent> agents;
  for (int i = 0; i < kAgents; ++i) {
    Agent agent{arclane::Follower(*route, {}, 0.0, plane.PositionFromPlane(path.start)), {}};
    agent.report.position = path.start;
    agent.report.heading = path.segments.empty() ? 0.0 : path.segments.front().heading;
    agent.report.dt = kDt;
    agents.push_back(agent);
  }

  // What a world's feed of gates and tiles would be.
  arclane::ReadSetFeed feed(/*age_limit_s=*/1.0);
  std::map<std::string, int> ends;
  int moving = kAgents;
  const double last_start = kApart * kAgents;
  const double most = last_start + 10.0 * answer->route().duration_s() + 10.0;
  long steps = 0;
  for (double now = 0.0; moving > 0 && now < most; now += kDt) {
    feed.Heartbeat(now);
    if (now > 0.5 * last_start) {
      for (const arclane::DependencyKey& key : (*route)->read_set) {
        if (key.kind == arclane::v1::DEPENDENCY_KIND_GATE) {
          feed.Set(key, arclane::DependencyState::kGateClosed, now);
        }
      }
    }
    for (int i = 0; i < kAgents; ++i) {
      Agent& agent = agents[i];
      if (agent.done || now < kApart * i) continue;
      agent.report.time_s = now;
      const arclane::MotionRequest& next = agent.follower.Step({.report = agent.report}, &feed);
      ++steps;
      // The game moves the agent; here it does just what was asked for.
      agent.report.velocity = next.preferred_velocity;
      agent.report.displacement = next.preferred_velocity * kDt;
      agent.report.position = agent.report.position + agent.report.displacement;
      agent.report.heading = next.heading;
      const bool arrived = next.status == arclane::FollowStatus::kArrived ||
                           next.status == arclane::FollowStatus::kArrivedPartial;
      if (next.speed == 0.0 && (arrived || next.replan)) {
        agent.done = true;
        --moving;
        ++ends[arrived ? "arrived" : "rest before a closed gate"];
      }
    }
  }
  std::cout << kAgents << " agents, " << steps << " steps\n";
  for (const auto& [end, count] : ends) std::cout << "  " << count << " " << end << '\n';
  return moving == 0 ? 0 : 1;
}
