// SPDX-License-Identifier: Apache-2.0
#include "client/sdk/follower.h"

#include <utility>

#include "server/codec/curve_route_codec.h"

namespace arclane {
namespace {

PlanPoint Split(const std::array<double, 3>& point, UpAxis up_axis) {
  v1::Point message;
  message.set_x(point[0]);
  message.set_y(point[1]);
  message.set_z(point[2]);
  return SplitPoint(message, up_axis);
}

std::array<double, 3> Join(const PlanPoint& point, UpAxis up_axis) {
  v1::Point message;
  JoinPoint(point, up_axis, &message);
  return {message.x(), message.y(), message.z()};
}

absl::StatusOr<std::shared_ptr<const FollowedRoute>> Followed(
    const v1::PlanCorridorRequest& request, const v1::Route& route,
    const v1::DependencyColumns& dependencies, uint64_t version) {
  FollowSource source;
  source.route = &route;
  source.agent = &request.agent();
  source.frame = &request.frame();
  // Without the corridor there is nothing that could go stale at a place.
  source.dependencies = route.has_cells() ? &dependencies : nullptr;
  source.version = version;
  Violations violations;
  auto followed = ReadFollowedRoute(source, violations);
  if (followed == nullptr) return absl::InvalidArgumentError(violations.ToString());
  return followed;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const FollowedRoute>> FollowedRouteOf(
    const v1::PlanCorridorRequest& request, const v1::Route& route, uint64_t version) {
  return Followed(request, route, request.corridor().dependencies(), version);
}

absl::StatusOr<std::shared_ptr<const FollowedRoute>> FollowedRouteOf(
    const v1::PlanCorridorRequest& request, const v1::PlanCorridorResponse& answer,
    uint64_t version) {
  return Followed(
      request, answer.route(),
      request.corridor().has_refs() ? answer.dependencies() : request.corridor().dependencies(),
      version);
}

absl::StatusOr<std::shared_ptr<const FollowedRoute>> FollowedRouteOf(
    const v1::PlanSplineRequest& request, const v1::CurvePlan& plan, uint64_t version) {
  Violations violations;
  v1::Route route;
  std::shared_ptr<const FollowedRoute> followed;
  if (RouteOfCurve(plan, request.frame(), violations, &route)) {
    FollowSource source;
    source.route = &route;
    source.agent = &request.agent();
    source.frame = &request.frame();
    source.version = version;
    followed = ReadFollowedRoute(source, violations);
  }
  if (followed == nullptr) return absl::InvalidArgumentError(violations.ToString());
  return followed;
}

Vec2 FollowPlane::PositionToPlane(const std::array<double, 3>& position) const {
  return Split(position, frame_.up_axis).plan - frame_.origin.plan;
}

Vec2 FollowPlane::VectorToPlane(const std::array<double, 3>& vector) const {
  return Split(vector, frame_.up_axis).plan;
}

std::array<double, 3> FollowPlane::PositionFromPlane(Vec2 position, double height) const {
  return Join({position + frame_.origin.plan, height}, frame_.up_axis);
}

std::array<double, 3> FollowPlane::VectorFromPlane(Vec2 vector) const {
  return Join({vector, 0.0}, frame_.up_axis);
}

void ReadSetFeed::Set(const DependencyKey& key, DependencyState state, double time_s) {
  heard_s_ = time_s;
  if (state == DependencyState::kCurrent) {
    states_.erase(key);
  } else {
    states_[key] = state;
  }
}

void ReadSetFeed::Read(const FollowedRoute& route, std::vector<DependencyState>* states) const {
  states->assign(route.read_set.size(), DependencyState::kCurrent);
  if (states_.empty()) return;
  for (size_t i = 0; i < route.read_set.size(); ++i) {
    const auto it = states_.find(route.read_set[i]);
    if (it != states_.end()) (*states)[i] = it->second;
  }
}

Follower::Follower(std::shared_ptr<const FollowedRoute> route, const FollowerOptions& options,
                   double time_s, const std::array<double, 3>& position)
    : route_(std::move(route)), options_(options) {
  state_ = StartFollowing(route_->route, time_s, plane().PositionToPlane(position));
}

const MotionRequest& Follower::Step(FollowInput input, const ReadSetSource* source) {
  if (source != nullptr) {
    source->Read(*route_, &read_set_);
    input.read_set = read_set_;
    input.feed_silent = source->IsSilent(input.report.time_s);
  }
  FollowStep(route_->route, options_, input, state_, request_);
  return request_;
}

void Follower::Replace(std::shared_ptr<const FollowedRoute> route, double time_s, Vec2 position) {
  const Vec2 command = state_.command;
  route_ = std::move(route);
  state_ = StartFollowing(route_->route, time_s, position);
  // What was commanded last still acts under an integrator that is one step late.
  state_.command = command;
}

v1::PlanCorridorRequest ReplanFrom(v1::PlanCorridorRequest request, const FollowReport& report,
                                   double height) {
  Violations unused;
  const PlanFrame frame = ReadFrame(request.frame(), unused);
  JoinPoint({report.position + frame.origin.plan, height}, frame.up_axis, request.mutable_start());
  JoinPoint({report.velocity, 0.0}, frame.up_axis, request.mutable_motion()->mutable_velocity());
  request.mutable_motion()->set_heading_rad(report.heading);
  return request;
}

}  // namespace arclane
