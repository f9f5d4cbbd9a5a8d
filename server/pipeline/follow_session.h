// SPDX-License-Identifier: Apache-2.0
// The routes and agents of one Follow stream, and its ticks from message to answer. Free of gRPC.
#ifndef ARCLANE_SERVER_PIPELINE_FOLLOW_SESSION_H_
#define ARCLANE_SERVER_PIPELINE_FOLLOW_SESSION_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "arclane/v1/follow.pb.h"
#include "server/codec/failure.h"
#include "server/codec/follow_codec.h"
#include "server/codec/follow_options_codec.h"
#include "server/pipeline/follow_states.h"
#include "server/planning/follow/follow_step.h"

namespace arclane {

// What one stream may hold.
inline constexpr size_t kMaxFollowAgents = 200'000;
inline constexpr size_t kMaxFollowRoutes = 20'000;

// Not thread-safe.
class FollowSession {
 public:
  // `views` tells the states of navmeshes that streams may name; null: there are none.
  explicit FollowSession(ViewSource views = nullptr)
      : can_watch_(views != nullptr), states_(std::move(views)) {}

  // Fills the response. A failure ends the stream: fields that make no sense for all agents at once
  // (columns of different lengths, options out of range, a malformed route, an agent twice, places
  // and velocities beyond what a plan may have), or more than the stream may hold. What is wrong
  // with one agent is told in its row. O(agents + routes sent; a
  // change: routes and agents).
  std::optional<Failure> Answer(const v1::FollowRequest& request, v1::FollowResponse* response);

  // Between ticks: looks at the stream's navmesh, and fills the response with the agents that have
  // gone stale since they were last told. False when there are none. O(1) without a change.
  bool TellChanges(v1::FollowResponse* response);

  // The navmesh that the stream named; null before it did.
  const v1::NavMeshRef* navmesh() const { return states_.watches() ? &states_.navmesh() : nullptr; }

 private:
  struct StreamRoute {
    RouteStates states;
  };
  struct Agent {
    uint64_t id = 0;
    bool is_used = false;
    bool was_told = false;  // That its route is stale.
    uint32_t route_id = 0;
    uint64_t tick = 0;  // It was stepped in last.
    StreamRoute* held = nullptr;
    std::shared_ptr<const FollowedRoute> route;  // That the state belongs to.
    FollowerState state;
  };

  std::optional<Failure> ReadNavMesh(const v1::FollowRequest& request, Violations& violations);
  void ReadRoutes(const v1::FollowRequest& request, Violations& violations);
  void UpdateRoutes();
  void CheckAgents(const v1::AgentColumns& agents, Violations& violations) const;
  void TellStale(bool only_new, v1::FollowResponse* response);
  void AddStale(Agent& agent, DependencyState changed, uint32_t dependency,
                v1::FollowResponse* response);
  void StepAgents(const v1::FollowRequest& request, v1::FollowResponse* response,
                  Violations& violations);
  void DropAgent(uint64_t id);
  void DropRoute(uint32_t id);
  Agent& FindAgent(size_t row, uint64_t id);
  // `agent`: where the route is likely found; may be null.
  StreamRoute* FindRoute(const Agent* agent, uint32_t route_id);
  // `command`: what an agent that is new here was commanded last.
  void StartAgent(const v1::FollowRequest& request, int i, StreamRoute& route, Vec2 position,
                  Vec2 command, Agent& agent);

  const bool can_watch_;
  FollowStates states_;
  StreamOptions options_;
  bool is_first_ = true;
  double time_s_ = 0.0;  // Of the last tick.
  uint64_t tick_ = 0;    // Messages with agents so far.
  double heard_s_ = -std::numeric_limits<double>::infinity();
  absl::flat_hash_map<uint32_t, std::unique_ptr<StreamRoute>> routes_;
  // Agents lie in memory in the order in which they came; `rows_` finds them by id, `order_` by
  // their row in the message before.
  std::vector<Agent> agents_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> order_;
  absl::flat_hash_map<uint64_t, uint32_t> rows_;
  MotionRequest motion_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_FOLLOW_SESSION_H_
