// SPDX-License-Identifier: Apache-2.0
// The follower's route from a route message: what the SDK's follower and the stream both stand on,
// so that they step over the same bits.
#ifndef ARCLANE_SERVER_CODEC_FOLLOW_CODEC_H_
#define ARCLANE_SERVER_CODEC_FOLLOW_CODEC_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "arclane/v1/agent.pb.h"
#include "arclane/v1/corridor.pb.h"
#include "arclane/v1/geometry.pb.h"
#include "arclane/v1/route.pb.h"
#include "server/codec/frame_codec.h"
#include "server/planning/follow/follow_route.h"
#include "server/planning/geometry/violation.h"

namespace arclane {

// What a portal depends on, as the caller names it.
struct DependencyKey {
  v1::DependencyKind kind = v1::DEPENDENCY_KIND_UNSPECIFIED;
  uint64_t id = 0;
  friend bool operator==(const DependencyKey&, const DependencyKey&) = default;
};

struct FollowedRoute {
  FollowRoute route;
  PlanFrame frame;
  std::vector<DependencyKey> read_set;  // One for each of route.dependencies.
};

struct FollowSource {
  const v1::Route* route = nullptr;  // With its corridor, if half-planes are wanted.
  const v1::AgentProfile* agent = nullptr;
  const v1::Frame* frame = nullptr;
  const v1::DependencyColumns* dependencies = nullptr;  // Needs the corridor; null: none.
  uint64_t version = 0;
};

// nullptr, with violations of `route`, `agent`, `frame` and `dependencies`, when columns do not fit
// together, a number is not finite or the route is none to follow (no segments for a closed gate, a
// curve). O(route + corridor).
std::shared_ptr<const FollowedRoute> ReadFollowedRoute(const FollowSource& source,
                                                       Violations& violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_FOLLOW_CODEC_H_
