// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/follow_session.h"

#include <cmath>
#include <string>
#include <utility>

#include "server/codec/columns.h"
#include "server/codec/field_checks.h"
#include "server/pipeline/plan_failure.h"
#include "server/planning/follow/route_cursor.h"

namespace arclane {
namespace {

constexpr NumberRule kStepRatio{1.0, 2.0, true, false};
constexpr NumberRule kFraction{0.0, 1.0, true, false};

DependencyState StateOf(int change) {
  switch (change) {
    case v1::CHANGE_KIND_GATE_CLOSED:
      return DependencyState::kGateClosed;
    case v1::CHANGE_KIND_LINK_DISABLED:
      return DependencyState::kLinkDisabled;
    case v1::CHANGE_KIND_TILE_REPLACED:
      return DependencyState::kTileReplaced;
    case v1::CHANGE_KIND_AREA_COST:
      return DependencyState::kAreaCostChanged;
    default:
      return DependencyState::kCurrent;
  }
}

v1::ChangeKind ChangeOf(DependencyState state) {
  switch (state) {
    case DependencyState::kGateClosed:
      return v1::CHANGE_KIND_GATE_CLOSED;
    case DependencyState::kLinkDisabled:
      return v1::CHANGE_KIND_LINK_DISABLED;
    case DependencyState::kTileReplaced:
      return v1::CHANGE_KIND_TILE_REPLACED;
    case DependencyState::kAreaCostChanged:
      return v1::CHANGE_KIND_AREA_COST;
    case DependencyState::kCurrent:
      break;
  }
  return v1::CHANGE_KIND_UNSPECIFIED;
}

// The enums of the interface list the follower's values in their order, behind UNSPECIFIED (faults
// have their "none" there).
int StatusValue(FollowStatus status) { return static_cast<int>(status) + 1; }
static_assert(static_cast<int>(FollowStatus::kBadInput) + 1 == v1::FOLLOW_STATUS_BAD_INPUT);
static_assert(static_cast<int>(FollowFault::kOtherVersion) == v1::FOLLOW_FAULT_OTHER_VERSION);
static_assert(static_cast<int>(Collision::kMoving) == v1::COLLISION_REASON_MOVING);

void SameLength(const char* field, int size, int expected, Violations& violations) {
  if (size == expected) return;
  violations.Add(ViolationReason::kLengthMismatch, field,
                 "columns must have equal lengths, got " + std::to_string(size) + " instead of " +
                     std::to_string(expected));
}

void SameLengthOrEmpty(const char* field, int size, int expected, Violations& violations) {
  if (size > 0) SameLength(field, size, expected, violations);
}

void CheckPoints(const std::string& field, const v1::PointColumns& points, int expected,
                 Violations& violations) {
  // The column of the up axis may be empty, and which that is the route says: two columns must be
  // there.
  int present = 0;
  for (const auto* column : {&points.x(), &points.y(), &points.z()}) {
    if (column->empty()) continue;
    ++present;
    SameLength(field.c_str(), column->size(), expected, violations);
  }
  if (expected > 0 && present < 2) {
    violations.Add(ViolationReason::kRequired, field, "two horizontal columns are required");
  }
}

double At(const google::protobuf::RepeatedField<double>& column, int i) {
  return i < column.size() ? column.Get(i) : 0.0;
}

Vec2 PlanOf(const v1::PointColumns& points, int i, UpAxis up) {
  switch (up) {
    case UpAxis::kX:
      return {At(points.y(), i), At(points.z(), i)};
    case UpAxis::kY:
      return {At(points.x(), i), At(points.z(), i)};
    case UpAxis::kZ:
      break;
  }
  return {At(points.x(), i), At(points.y(), i)};
}

void AddPoint(v1::PointColumns* points, Vec2 plan, UpAxis up) {
  const double zero = 0.0;
  points->add_x(up == UpAxis::kX ? zero : plan.x);
  points->add_y(up == UpAxis::kX ? plan.x : up == UpAxis::kY ? zero : plan.y);
  points->add_z(up == UpAxis::kZ ? zero : plan.y);
}

// Rows are appended; room for all of them is made first.
void Reserve(int n, v1::MotionColumns* out) {
  out->mutable_agent_id()->Reserve(n);
  out->mutable_status()->Reserve(n);
  out->mutable_fault()->Reserve(n);
  for (v1::PointColumns* points : {out->mutable_velocity(), out->mutable_target()}) {
    points->mutable_x()->Reserve(n);
    points->mutable_y()->Reserve(n);
    points->mutable_z()->Reserve(n);
  }
  for (auto* column :
       {out->mutable_speed(), out->mutable_heading_rad(), out->mutable_angular_speed(),
        out->mutable_distance(), out->mutable_deviation(), out->mutable_distance_to_stop(),
        out->mutable_overrun()}) {
    column->Reserve(n);
  }
  for (auto* column :
       {out->mutable_segment_index(), out->mutable_corner_index(), out->mutable_portal_index()}) {
    column->Reserve(n);
  }
  out->mutable_feasible()->Reserve(n);
  out->mutable_replan()->Reserve(n);
  out->mutable_requery()->Reserve(n);
}

void AddMotion(const MotionRequest& motion, const PlanFrame& frame, bool with_half_planes,
               v1::MotionColumns* out) {
  out->add_status(static_cast<v1::FollowStatus>(StatusValue(motion.status)));
  out->add_fault(static_cast<v1::FollowFault>(motion.fault));
  AddPoint(out->mutable_velocity(), motion.preferred_velocity, frame.up_axis);
  out->add_speed(motion.speed);
  out->add_heading_rad(motion.heading);
  out->add_angular_speed(motion.angular_speed);
  AddPoint(out->mutable_target(), motion.target + frame.origin.plan, frame.up_axis);
  out->add_distance(motion.distance);
  out->add_deviation(motion.deviation);
  out->add_distance_to_stop(motion.distance_to_stop);
  out->add_overrun(motion.overrun);
  out->add_segment_index(motion.segment);
  out->add_corner_index(motion.corner);
  out->add_portal_index(motion.portal);
  out->add_feasible(motion.feasible);
  out->add_replan(motion.replan);
  out->add_requery(motion.requery);
  if (!with_half_planes) return;
  out->add_half_plane_count(motion.half_plane_count);
  for (const HalfPlane& plane : motion.half_planes()) {
    AddPoint(out->mutable_half_planes()->mutable_normal(), plane.normal, frame.up_axis);
    out->mutable_half_planes()->add_offset(plane.offset + Dot(plane.normal, frame.origin.plan));
  }
}

}  // namespace

std::optional<Failure> FollowSession::Answer(const v1::FollowRequest& request,
                                             v1::FollowResponse* response) {
  Violations violations;
  if (request.has_options()) ReadOptions(request.options(), violations);
  CheckAgents(request.agents(), violations);
  ReadRoutes(request, violations);
  ReadChanges(request, violations);
  if (violations.total() > 0) return ToFailure(violations);
  for (const uint64_t id : request.dropped_agent_ids()) agents_.erase(id);
  response->set_time_s(request.time_s());
  response->set_valid_until_s(request.time_s() + validity_s_.value_or(2.0 * request.dt_s()));
  if (request.has_changes()) TellStale(response->mutable_stale());
  StepAgents(request, response->mutable_motions());
  return std::nullopt;
}

void FollowSession::ReadOptions(const v1::FollowOptions& options, Violations& violations) {
  FollowerOptions read;
  switch (options.integrator()) {
    case v1::INTEGRATOR_UNSPECIFIED:
    case v1::INTEGRATOR_HOLD:
      break;
    case v1::INTEGRATOR_RAMP:
      read.integrator = Integrator::kRamp;
      break;
    case v1::INTEGRATOR_DELAY:
      read.integrator = Integrator::kDelay;
      break;
    default:
      violations.Add(ViolationReason::kUnknownValue, "options.integrator", "unknown value");
  }
  const auto read_number = [&](const char* field, bool has, double value, const NumberRule& rule,
                               double* out) {
    if (has && CheckNumber(field, value, rule, violations)) *out = value;
  };
  read_number("options.max_dt_s", options.has_max_dt_s(), options.max_dt_s(), kPositive,
              &read.max_dt);
  read_number("options.longest_step", options.has_longest_step(), options.longest_step(),
              kStepRatio, &read.longest_step);
  read_number("options.look_ahead_s", options.has_look_ahead_s(), options.look_ahead_s(),
              kNotNegative, &read.look_ahead_s);
  read_number("options.look_ahead_distance", options.has_look_ahead_distance(),
              options.look_ahead_distance(), kNotNegative, &read.look_ahead_distance);
  read_number("options.off_route_distance", options.has_off_route_distance(),
              options.off_route_distance(), kPositive, &read.off_route_distance);
  read_number("options.blocked_window_s", options.has_blocked_window_s(),
              options.blocked_window_s(), kPositive, &read.blocked_window_s);
  read_number("options.blocked_fraction", options.has_blocked_fraction(),
              options.blocked_fraction(), kFraction, &read.blocked_fraction);
  read_number("options.moving_obstacle_patience_s", options.has_moving_obstacle_patience_s(),
              options.moving_obstacle_patience_s(), kNotNegativeOrInfinite,
              &read.moving_obstacle_patience_s);
  validity_s_.reset();
  feed_age_limit_s_.reset();
  if (options.has_validity_s()) {
    CheckNumber("options.validity_s", options.validity_s(), kPositive, violations);
    validity_s_ = options.validity_s();
  }
  if (options.has_feed_age_limit_s()) {
    CheckNumber("options.feed_age_limit_s", options.feed_age_limit_s(), kPositive, violations);
    feed_age_limit_s_ = options.feed_age_limit_s();
  }
  with_half_planes_ = options.include_half_planes();
  options_ = read;
}

void FollowSession::ReadRoutes(const v1::FollowRequest& request, Violations& violations) {
  for (const uint32_t id : request.dropped_route_ids()) {
    routes_.erase(id);
    absl::erase_if(agents_, [id](const auto& agent) { return agent.second.route_id == id; });
  }
  if (routes_.size() + static_cast<size_t>(request.routes_size()) > kMaxFollowRoutes) {
    violations.Add(ViolationReason::kLimitExceeded, "routes",
                   "a stream holds at most " + std::to_string(kMaxFollowRoutes));
    return;
  }
  for (int i = 0; i < request.routes_size(); ++i) {
    const v1::StreamRoute& sent = request.routes(i);
    const std::string at = "routes[" + std::to_string(i) + "]";
    if (!sent.has_route() || !sent.has_agent()) {
      violations.Add(ViolationReason::kRequired, at, "a route and its agent are required");
      continue;
    }
    FollowSource source;
    source.route = &sent.route();
    source.agent = &sent.agent();
    source.frame = &sent.frame();
    source.dependencies = sent.has_dependencies() ? &sent.dependencies() : nullptr;
    source.version = sent.version();
    StreamRoute route;
    route.route = ReadFollowedRoute(source, violations);
    if (route.route == nullptr) return;
    for (const DependencyKey& key : route.route->read_set) {
      DependencyState state = DependencyState::kCurrent;
      if (v1::DependencyKind_IsValid(key.kind)) {
        const auto it = changed_[key.kind].find(key.id);
        if (it != changed_[key.kind].end()) state = it->second;
      }
      route.states.push_back(state);
    }
    routes_[sent.route_id()] = std::move(route);
  }
}

void FollowSession::ReadChanges(const v1::FollowRequest& request, Violations& violations) {
  if (request.heartbeat() || request.has_changes()) heard_s_ = request.time_s();
  const v1::ChangeColumns& changes = request.changes();
  SameLength("changes.id", changes.id_size(), changes.kind_size(), violations);
  SameLength("changes.change", changes.change_size(), changes.kind_size(), violations);
  if (violations.total() > 0 || changes.kind_size() == 0) return;
  for (int i = 0; i < changes.kind_size(); ++i) {
    if (changes.kind(i) == v1::DEPENDENCY_KIND_UNSPECIFIED ||
        !v1::DependencyKind_IsValid(changes.kind(i)) ||
        !v1::ChangeKind_IsValid(changes.change(i))) {
      violations.Add(ViolationReason::kUnknownValue, "changes.kind[" + std::to_string(i) + "]",
                     "unknown kind or change");
      return;
    }
    auto& states = changed_[changes.kind(i)];
    const DependencyState state = StateOf(changes.change(i));
    if (state == DependencyState::kCurrent) {
      states.erase(changes.id(i));
    } else {
      states[changes.id(i)] = state;
    }
  }
  for (auto& [id, route] : routes_) {
    const std::vector<DependencyKey>& read_set = route.route->read_set;
    for (size_t i = 0; i < read_set.size(); ++i) {
      if (!v1::DependencyKind_IsValid(read_set[i].kind)) continue;
      const auto& states = changed_[read_set[i].kind];
      const auto it = states.find(read_set[i].id);
      route.states[i] = it == states.end() ? DependencyState::kCurrent : it->second;
    }
  }
}

void FollowSession::CheckAgents(const v1::AgentColumns& agents, Violations& violations) const {
  const int size = agents.agent_id_size();
  SameLength("agents.route_id", agents.route_id_size(), size, violations);
  SameLength("agents.heading_rad", agents.heading_rad_size(), size, violations);
  CheckPoints("agents.position", agents.position(), size, violations);
  CheckPoints("agents.velocity", agents.velocity(), size, violations);
  if (agents.has_displacement()) {
    CheckPoints("agents.displacement", agents.displacement(), size, violations);
  }
  SameLengthOrEmpty("agents.collision", agents.collision_size(), size, violations);
  SameLengthOrEmpty("agents.max_speed", agents.max_speed_size(), size, violations);
  SameLengthOrEmpty("agents.no_solution", agents.no_solution_size(), size, violations);
  SameLengthOrEmpty("agents.cancel", agents.cancel_size(), size, violations);
  SameLengthOrEmpty("agents.route_version", agents.route_version_size(), size, violations);
  SameLengthOrEmpty("agents.resume_distance", agents.resume_distance_size(), size, violations);
  if (agents_.size() + static_cast<size_t>(size) > 2 * kMaxFollowAgents ||
      static_cast<size_t>(size) > kMaxFollowAgents) {
    violations.Add(ViolationReason::kLimitExceeded, "agents",
                   "a stream steps at most " + std::to_string(kMaxFollowAgents) + " agents, got " +
                       std::to_string(size));
  }
}

// Every agent whose remaining route a change made stale, stepped or not.
void FollowSession::TellStale(v1::StaleColumns* stale) const {
  for (const auto& [agent_id, agent] : agents_) {
    const auto route = routes_.find(agent.route_id);
    if (route == routes_.end() || route->second.route != agent.route) continue;
    const std::vector<DependencyState>& states = route->second.states;
    for (size_t i = 0; i < states.size(); ++i) {
      const uint32_t portal = agent.route->route.dependencies[i].portal;
      if (states[i] == DependencyState::kCurrent ||
          states[i] == DependencyState::kAreaCostChanged || portal < agent.state.portal) {
        continue;
      }
      stale->add_agent_id(agent_id);
      stale->add_route_id(agent.route_id);
      stale->add_change(ChangeOf(states[i]));
      stale->add_dependency_index(static_cast<uint32_t>(i));
      stale->add_portal_index(portal);
      break;
    }
  }
}

FollowSession::Agent* FollowSession::FindAgent(const v1::FollowRequest& request, int i,
                                               const StreamRoute& route, Vec2 position) {
  const v1::AgentColumns& agents = request.agents();
  Agent& agent = agents_[agents.agent_id(i)];
  if (agent.route == route.route) return &agent;
  const double distance = agents.resume_distance_size() > 0 ? agents.resume_distance(i) : 0.0;
  const Vec2 command = agent.state.command;
  agent.route = route.route;
  agent.route_id = agents.route_id(i);
  agent.state = StartFollowing(route.route->route, request.time_s(), position,
                               std::isfinite(distance) ? distance : 0.0);
  agent.state.command = command;
  return &agent;
}

void FollowSession::StepAgents(const v1::FollowRequest& request, v1::MotionColumns* motions) {
  const v1::AgentColumns& agents = request.agents();
  Reserve(agents.agent_id_size(), motions);
  FollowInput input;
  input.report.time_s = request.time_s();
  input.report.dt = request.dt_s();
  input.feed_silent = feed_age_limit_s_ && !(request.time_s() - heard_s_ <= *feed_age_limit_s_);
  const PlanFrame no_frame;
  for (int i = 0; i < agents.agent_id_size(); ++i) {
    motions->add_agent_id(agents.agent_id(i));
    const auto route = routes_.find(agents.route_id(i));
    const bool other_version = route != routes_.end() && agents.route_version_size() > 0 &&
                               agents.route_version(i) != route->second.route->route.version;
    if (route == routes_.end() || other_version) {
      motion_ = MotionRequest();
      motion_.fault = FollowFault::kOtherVersion;
      AddMotion(motion_, no_frame, with_half_planes_, motions);
      if (!other_version) motions->set_fault(i, v1::FOLLOW_FAULT_NO_ROUTE);
      continue;
    }
    const PlanFrame& frame = route->second.route->frame;
    FollowReport& report = input.report;
    report.position = PlanOf(agents.position(), i, frame.up_axis) - frame.origin.plan;
    report.velocity = PlanOf(agents.velocity(), i, frame.up_axis);
    report.heading = agents.heading_rad(i);
    Agent& agent = *FindAgent(request, i, route->second, report.position);
    report.displacement = agents.has_displacement()
                              ? PlanOf(agents.displacement(), i, frame.up_axis)
                              : report.position - agent.state.position;
    const int collision = agents.collision_size() > 0 ? agents.collision(i) : 0;
    report.collision = v1::CollisionReason_IsValid(collision) ? static_cast<Collision>(collision)
                                                              : Collision::kNone;
    input.read_set = route->second.states;
    input.avoidance.max_speed = agents.max_speed_size() > 0 && agents.max_speed(i) >= 0.0
                                    ? agents.max_speed(i)
                                    : std::numeric_limits<double>::infinity();
    input.avoidance.has_solution = agents.no_solution_size() == 0 || !agents.no_solution(i);
    input.cancel = agents.cancel_size() > 0 && agents.cancel(i);
    FollowStep(route->second.route->route, options_, input, agent.state, motion_);
    AddMotion(motion_, frame, with_half_planes_, motions);
  }
}

}  // namespace arclane
