// SPDX-License-Identifier: Apache-2.0
// The routes and agents of one Follow stream, and its ticks from message to answer. Free of gRPC.
#ifndef ARCLANE_SERVER_PIPELINE_FOLLOW_SESSION_H_
#define ARCLANE_SERVER_PIPELINE_FOLLOW_SESSION_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "arclane/v1/follow.pb.h"
#include "server/codec/failure.h"
#include "server/codec/follow_codec.h"
#include "server/planning/follow/follow_step.h"

namespace arclane {

// What one stream may hold.
inline constexpr size_t kMaxFollowAgents = 200'000;
inline constexpr size_t kMaxFollowRoutes = 20'000;

// Not thread-safe.
class FollowSession {
 public:
  // Fills the response. A failure ends the stream: fields that make no sense for all agents at once
  // (columns of different lengths, options out of range, a malformed route), or more than the
  // stream may hold. What is wrong with one agent is told in its row. O(agents + routes sent; a
  // change: routes and agents).
  std::optional<Failure> Answer(const v1::FollowRequest& request, v1::FollowResponse* response);

 private:
  struct StreamRoute {
    std::shared_ptr<const FollowedRoute> route;
    std::vector<DependencyState> states;  // One for each of its dependencies.
  };
  struct Agent {
    uint32_t route_id = 0;
    std::shared_ptr<const FollowedRoute> route;
    FollowerState state;
  };

  void ReadOptions(const v1::FollowOptions& options, Violations& violations);
  void ReadRoutes(const v1::FollowRequest& request, Violations& violations);
  void ReadChanges(const v1::FollowRequest& request, Violations& violations);
  void CheckAgents(const v1::AgentColumns& agents, Violations& violations) const;
  void TellStale(v1::StaleColumns* stale) const;
  void StepAgents(const v1::FollowRequest& request, v1::MotionColumns* motions);
  Agent* FindAgent(const v1::FollowRequest& request, int i, const StreamRoute& route,
                   Vec2 position);

  FollowerOptions options_;
  std::optional<double> validity_s_;
  std::optional<double> feed_age_limit_s_;
  bool with_half_planes_ = false;
  double heard_s_ = -std::numeric_limits<double>::infinity();
  absl::flat_hash_map<uint32_t, StreamRoute> routes_;
  absl::flat_hash_map<uint64_t, Agent> agents_;
  // Changed dependencies, so that routes sent later know of them.
  absl::flat_hash_map<uint64_t, DependencyState> changed_[5];  // By DependencyKind.
  MotionRequest motion_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_FOLLOW_SESSION_H_
