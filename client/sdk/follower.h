// SPDX-License-Identifier: Apache-2.0
// Follows planned routes in the game server itself: no network, no threads, no clock.
//
//   auto route = arclane::FollowedRouteOf(request, answer->route(), /*version=*/1);
//   arclane::Follower follower(*route, arclane::FollowerOptions(), now_s, {x, y, z});
//   // Every tick:
//   const arclane::MotionRequest& next = follower.Step(input);
//   Move(follower.FromPlane(next.preferred_velocity), next.heading);
//
// The step itself, what goes in and what comes out are described in
// server/planning/follow/follow_step.h; the stream of arclane.v1.RouteFollower gives the same bits.
// Ask for routes with include_corridor: half-planes and stale routes need the corridor.
#ifndef ARCLANE_CLIENT_SDK_FOLLOWER_H_
#define ARCLANE_CLIENT_SDK_FOLLOWER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "arclane/v1/planner.pb.h"
#include "server/codec/follow_codec.h"
#include "server/planning/follow/follow_step.h"

namespace arclane {

// A route ready to be followed, by any number of agents and threads. kInvalidArgument, naming every
// field, when the answer has no route to follow. `version` is the caller's own count of its routes.
absl::StatusOr<std::shared_ptr<const FollowedRoute>> FollowedRouteOf(
    const v1::PlanCorridorRequest& request, const v1::Route& route, uint64_t version);

// The same of a whole answer: of a corridor by reference the answer tells what its portals depend
// on.
absl::StatusOr<std::shared_ptr<const FollowedRoute>> FollowedRouteOf(
    const v1::PlanCorridorRequest& request, const v1::PlanCorridorResponse& answer,
    uint64_t version);

// Of a plan along a curve, through its samples: see RouteOfCurve (server/codec/curve_route_codec.h)
// for what must be sampled. Without corridor: no half-planes, and nothing goes stale.
absl::StatusOr<std::shared_ptr<const FollowedRoute>> FollowedRouteOf(
    const v1::PlanSplineRequest& request, const v1::CurvePlan& plan, uint64_t version);

// Positions and vectors of the game's three axes, in the plane of the route and back.
class FollowPlane {
 public:
  explicit FollowPlane(const PlanFrame& frame) : frame_(frame) {}
  Vec2 PositionToPlane(const std::array<double, 3>& position) const;
  Vec2 VectorToPlane(const std::array<double, 3>& vector) const;
  // The coordinate along the up axis is `height`, or 0.
  std::array<double, 3> PositionFromPlane(Vec2 position, double height = 0.0) const;
  std::array<double, 3> VectorFromPlane(Vec2 vector) const;

 private:
  PlanFrame frame_;
};

// Tells the states of the things that a route depends on.
class ReadSetSource {
 public:
  virtual ~ReadSetSource() = default;
  // The states of the route's read set, in its order; the buffer is reused.
  virtual void Read(const FollowedRoute& route, std::vector<DependencyState>* states) const = 0;
  // Whether what is told is too old to be trusted: followers brake until it is not.
  virtual bool IsSilent(double now_s) const = 0;
};

// The states of gates, tiles, links and areas, as a feed tells them; one for a world, read by all
// of its followers. A feed that is silent for longer than the age limit is not trusted: followers
// brake until it speaks again. Not thread-safe while it is changed.
class ReadSetFeed final : public ReadSetSource {
 public:
  // Seconds of the game's clock; > 0.
  explicit ReadSetFeed(double age_limit_s) : age_limit_s_(age_limit_s) {}

  // A change, or the news that there is none.
  void Set(const DependencyKey& key, DependencyState state, double time_s);
  void Heartbeat(double time_s) { heard_s_ = time_s; }
  bool IsSilent(double now_s) const override { return !(now_s - heard_s_ <= age_limit_s_); }
  void Read(const FollowedRoute& route, std::vector<DependencyState>* states) const override;

 private:
  struct KeyHash {
    size_t operator()(const DependencyKey& key) const {
      return std::hash<uint64_t>()(key.id * 8 + static_cast<uint64_t>(key.kind));
    }
  };
  double age_limit_s_;
  double heard_s_ = -std::numeric_limits<double>::infinity();
  std::unordered_map<DependencyKey, DependencyState, KeyHash> states_;  // Without kCurrent.
};

// One agent. Copyable; keeps the route alive.
class Follower {
 public:
  Follower(std::shared_ptr<const FollowedRoute> route, const FollowerOptions& options,
           double time_s, const std::array<double, 3>& position);

  // The next motion; valid until the next call. `source`, if given, sets the input's read_set and
  // feed_silent.
  const MotionRequest& Step(FollowInput input, const ReadSetSource* source = nullptr);

  // Goes on with another route from where the agent is.
  void Replace(std::shared_ptr<const FollowedRoute> route, double time_s, Vec2 position);

  const FollowedRoute& route() const { return *route_; }
  FollowPlane plane() const { return FollowPlane(route_->frame); }
  const FollowerState& state() const { return state_; }

 private:
  std::shared_ptr<const FollowedRoute> route_;
  FollowerOptions options_;
  FollowerState state_;
  MotionRequest request_;
  std::vector<DependencyState> read_set_;
};

// The request planned anew from the agent's real state: position, velocity and heading. The
// answer's outcome tells how the new route begins: COMPLETE or PARTIAL, along the velocity (a
// tangential join); CANNOT_STOP or START_OFF_ROUTE, with the braking path from the real velocity.
// Neither has a jump in speed or direction. The corridor is the caller's to bring up to date.
v1::PlanCorridorRequest ReplanFrom(v1::PlanCorridorRequest request, const FollowReport& report,
                                   double height = 0.0);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_SDK_FOLLOWER_H_
