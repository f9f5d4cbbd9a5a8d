// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/follow_session.h"

#include <cmath>
#include <string>
#include <utility>

#include "server/codec/agent_codec.h"
#include "server/codec/curve_route_codec.h"
#include "server/codec/field_checks.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/pipeline/follow_motions.h"
#include "server/pipeline/plan_failure.h"
#include "server/pipeline/plan_item.h"
#include "server/planning/follow/route_cursor.h"

namespace arclane {
namespace {

void SameLengthOrEmpty(const char* field, int size, int expected, Violations& violations) {
  if (size > 0) CheckSameLength(field, size, expected, violations);
}

void CheckPoints(const std::string& field, const v1::PointColumns& points, int expected,
                 Violations& violations) {
  // The column of the up axis may be empty, and which that is the route says: two columns must be
  // there.
  int present = 0;
  for (const auto* column : {&points.x(), &points.y(), &points.z()}) {
    if (column->empty()) continue;
    ++present;
    CheckSameLength(field.c_str(), column->size(), expected, violations);
  }
  if (expected > 0 && present < 2) {
    violations.Add(ViolationReason::kRequired, field, "two horizontal columns are required");
  }
}

// Whether the two columns are there that are horizontal.
bool HasPlan(const v1::PointColumns& points, UpAxis up) {
  return (up == UpAxis::kX || points.x_size() > 0) && (up == UpAxis::kY || points.y_size() > 0) &&
         (up == UpAxis::kZ || points.z_size() > 0);
}

// Columns of finite numbers beyond `most` are refused by the first of them; one agent's NaN is told
// in its row.
void CheckSize(const std::string& field, const google::protobuf::RepeatedField<double>& column,
               double most, Violations& violations) {
  const auto fits = [most](double value) { return !(std::abs(value) > most); };
  // Without branches: most messages have nothing to tell.
  bool all = true;
  for (const double value : column) all &= fits(value);
  if (all) return;
  for (int i = 0; i < column.size(); ++i) {
    if (fits(column[i]) || !std::isfinite(column[i])) continue;
    CheckNumber(field + "[" + std::to_string(i) + "]", column[i], {-most, most, true, false},
                violations);
    return;
  }
}

void CheckSizes(const std::string& field, const v1::PointColumns& points, double most,
                Violations& violations) {
  CheckSize(field + ".x", points.x(), most, violations);
  CheckSize(field + ".y", points.y(), most, violations);
  CheckSize(field + ".z", points.z(), most, violations);
}

// Columns whose lengths were checked; those that are empty are 0.
class PointReader {
 public:
  explicit PointReader(const v1::PointColumns& points)
      : x_(Column(points.x())), y_(Column(points.y())), z_(Column(points.z())) {}

  Vec2 PlanOf(size_t row, UpAxis up) const {
    return {At(up == UpAxis::kX ? y_ : x_, row), At(up == UpAxis::kZ ? y_ : z_, row)};
  }

 private:
  static const double* Column(const google::protobuf::RepeatedField<double>& column) {
    return column.empty() ? nullptr : column.data();
  }
  static double At(const double* column, size_t row) {
    return column == nullptr ? 0.0 : column[row];
  }

  const double *x_, *y_, *z_;
};

// What an agent's row reads from the columns that may be empty; looked up once a message.
struct OptionalColumns {
  explicit OptionalColumns(const v1::AgentColumns& agents)
      : displacement(agents.has_displacement()),
        collision(agents.collision_size() > 0),
        max_speed(agents.max_speed_size() > 0),
        no_solution(agents.no_solution_size() > 0),
        cancel(agents.cancel_size() > 0),
        version(agents.route_version_size() > 0),
        resume_velocity(agents.has_resume_velocity()) {}
  bool displacement, collision, max_speed, no_solution, cancel, version, resume_velocity;
};

bool Invalidates(DependencyState state) {
  return state != DependencyState::kCurrent && state != DependencyState::kAreaCostChanged;
}

}  // namespace

std::optional<Failure> FollowSession::Answer(const v1::FollowRequest& request,
                                             v1::FollowResponse* response) {
  Violations violations;
  if (request.has_options()) {
    const StreamOptions options = ReadStreamOptions(request.options(), violations);
    if (violations.empty()) options_ = options;
  }
  if (request.has_navmesh()) {
    if (auto failure = ReadNavMesh(request, violations)) return failure;
  }
  is_first_ = false;
  CheckAgents(request.agents(), violations);
  ReadRoutes(request, violations);
  bool changed = states_.Refresh();
  if (request.has_changes()) {
    states_.Take(request.changes(), violations);
    changed |= request.changes().kind_size() > 0;
  }
  if (violations.total() > 0) return ToFailure(violations);
  if (request.heartbeat() || request.has_changes() || states_.watches())
    heard_s_ = request.time_s();
  if (changed) UpdateRoutes();
  for (const uint64_t id : request.dropped_agent_ids()) DropAgent(id);
  response->set_time_s(request.time_s());
  response->set_valid_until_s(request.time_s() +
                              options_.validity_s.value_or(2.0 * request.dt_s()));
  if (changed || request.has_changes()) TellStale(!request.has_changes(), response);
  StepAgents(request, response, violations);
  if (violations.total() > 0) return ToFailure(violations);
  return std::nullopt;
}

bool FollowSession::TellChanges(v1::FollowResponse* response) {
  if (!states_.Refresh()) return false;
  UpdateRoutes();
  TellStale(/*only_new=*/true, response);
  response->set_time_s(time_s_);
  response->set_pushed(true);
  return response->has_stale();
}

std::optional<Failure> FollowSession::ReadNavMesh(const v1::FollowRequest& request,
                                                  Violations& violations) {
  if (!is_first_) {
    violations.Add(ViolationReason::kConflict, "navmesh", "belongs into the first message alone");
    return std::nullopt;
  }
  if (!can_watch_) {
    violations.Add(ViolationReason::kConflict, "navmesh", "this service has no navmeshes");
    return std::nullopt;
  }
  if (request.navmesh().navmesh_id().empty()) {
    violations.Add(ViolationReason::kRequired, "navmesh.navmesh_id", "required with navmesh");
    return std::nullopt;
  }
  if (auto failure = states_.Watch(request.navmesh()))
    return WithPath(ToFailure(*failure), "navmesh");
  return std::nullopt;
}

void FollowSession::UpdateRoutes() {
  for (auto& [id, route] : routes_) states_.Update(route->states);
}

void FollowSession::ReadRoutes(const v1::FollowRequest& request, Violations& violations) {
  for (const uint32_t id : request.dropped_route_ids()) DropRoute(id);
  if (routes_.size() + static_cast<size_t>(request.routes_size()) > kMaxFollowRoutes) {
    violations.Add(ViolationReason::kLimitExceeded, "routes",
                   "a stream holds at most " + std::to_string(kMaxFollowRoutes));
    return;
  }
  for (int i = 0; i < request.routes_size(); ++i) {
    const v1::StreamRoute& sent = request.routes(i);
    const std::string at = "routes[" + std::to_string(i) + "]";
    if (sent.has_route() == sent.has_curve()) {
      violations.Add(
          ViolationReason::kRequired, at + ".route",
          sent.has_route() ? "must be unset with a curve" : "required: a route or a curve");
    }
    if (!sent.has_agent()) violations.Add(ViolationReason::kRequired, at + ".agent", "required");
    if (sent.has_route() == sent.has_curve() || !sent.has_agent()) continue;
    Violations faults;
    v1::Route of_curve;
    if (sent.has_curve()) RouteOfCurve(sent.curve(), sent.frame(), faults, &of_curve);
    FollowSource source;
    source.route = sent.has_curve() ? &of_curve : &sent.route();
    source.agent = &sent.agent();
    source.frame = &sent.frame();
    source.dependencies = sent.has_dependencies() ? &sent.dependencies() : nullptr;
    source.version = sent.version();
    auto route = faults.empty() ? ReadFollowedRoute(source, faults) : nullptr;
    for (const Violation& fault : faults.kept())
      violations.Add(fault.reason, at + "." + fault.field, fault.description);
    if (route == nullptr) continue;
    auto& held = routes_[sent.route_id()];
    if (held == nullptr) held = std::make_unique<StreamRoute>();
    held->states.route = std::move(route);
    states_.Begin(held->states, sent.navmesh_version());
  }
}

void FollowSession::CheckAgents(const v1::AgentColumns& agents, Violations& violations) const {
  const int size = agents.agent_id_size();
  CheckSameLength("agents.route_id", agents.route_id_size(), size, violations);
  CheckSameLength("agents.heading_rad", agents.heading_rad_size(), size, violations);
  CheckPoints("agents.position", agents.position(), size, violations);
  CheckPoints("agents.velocity", agents.velocity(), size, violations);
  if (agents.has_displacement()) {
    CheckPoints("agents.displacement", agents.displacement(), size, violations);
  }
  if (agents.has_resume_velocity()) {
    CheckPoints("agents.resume_velocity", agents.resume_velocity(), size, violations);
  }
  CheckSizes("agents.position", agents.position(), kMaxCoordinate, violations);
  CheckSizes("agents.displacement", agents.displacement(), kMaxCoordinate, violations);
  CheckSizes("agents.velocity", agents.velocity(), kMostMotion, violations);
  CheckSizes("agents.resume_velocity", agents.resume_velocity(), kMostMotion, violations);
  SameLengthOrEmpty("agents.collision", agents.collision_size(), size, violations);
  SameLengthOrEmpty("agents.max_speed", agents.max_speed_size(), size, violations);
  SameLengthOrEmpty("agents.no_solution", agents.no_solution_size(), size, violations);
  SameLengthOrEmpty("agents.cancel", agents.cancel_size(), size, violations);
  SameLengthOrEmpty("agents.route_version", agents.route_version_size(), size, violations);
  SameLengthOrEmpty("agents.resume_distance", agents.resume_distance_size(), size, violations);
  for (int i = 0; i < agents.collision_size(); ++i) {
    if (v1::CollisionReason_IsValid(agents.collision(i))) continue;
    violations.Add(ViolationReason::kUnknownValue, "agents.collision[" + std::to_string(i) + "]",
                   "unknown value " + std::to_string(agents.collision(i)));
  }
  for (int i = 0; i < agents.resume_distance_size(); ++i) {
    CheckNumber("agents.resume_distance[" + std::to_string(i) + "]", agents.resume_distance(i),
                {0.0, kMaxCoordinate, true, false}, violations);
  }
  if (rows_.size() + static_cast<size_t>(size) > 2 * kMaxFollowAgents ||
      static_cast<size_t>(size) > kMaxFollowAgents) {
    violations.Add(ViolationReason::kLimitExceeded, "agents",
                   "a stream steps at most " + std::to_string(kMaxFollowAgents) + " agents, got " +
                       std::to_string(size));
  }
}

void FollowSession::DropAgent(uint64_t id) {
  const auto it = rows_.find(id);
  if (it == rows_.end()) return;
  agents_[it->second] = Agent();
  free_.push_back(it->second);
  rows_.erase(it);
}

void FollowSession::DropRoute(uint32_t id) {
  const auto it = routes_.find(id);
  if (it == routes_.end()) return;
  for (const Agent& agent : agents_) {
    if (agent.is_used && agent.held == it->second.get()) DropAgent(agent.id);
  }
  routes_.erase(it);
}

// Every agent whose remaining route a change made stale, stepped or not.
void FollowSession::TellStale(bool only_new, v1::FollowResponse* response) {
  for (Agent& agent : agents_) {
    if (!agent.is_used || agent.held->states.route != agent.route) continue;
    if (only_new && agent.was_told) continue;
    const std::vector<DependencyState>& states = agent.held->states.states;
    for (size_t i = 0; i < states.size(); ++i) {
      const uint32_t portal = agent.route->route.dependencies[i].portal;
      if (!Invalidates(states[i]) || portal < agent.state.portal) continue;
      AddStale(agent, states[i], static_cast<uint32_t>(i), response);
      break;
    }
  }
}

void FollowSession::AddStale(Agent& agent, DependencyState changed, uint32_t dependency,
                             v1::FollowResponse* response) {
  v1::StaleColumns& stale = *response->mutable_stale();
  stale.add_agent_id(agent.id);
  stale.add_route_id(agent.route_id);
  stale.add_change(ChangeOf(changed));
  stale.add_dependency_index(dependency);
  stale.add_portal_index(agent.route->route.dependencies[dependency].portal);
  agent.was_told = true;
}

FollowSession::Agent& FollowSession::FindAgent(size_t row, uint64_t id) {
  const auto [it, is_new] = rows_.try_emplace(id, 0);
  if (is_new) {
    if (free_.empty()) {
      it->second = static_cast<uint32_t>(agents_.size());
      agents_.emplace_back();
    } else {
      it->second = free_.back();
      free_.pop_back();
    }
    agents_[it->second].id = id;
    agents_[it->second].is_used = true;
  }
  if (row < order_.size()) order_[row] = it->second;
  return agents_[it->second];
}

FollowSession::StreamRoute* FollowSession::FindRoute(const Agent* agent, uint32_t route_id) {
  if (agent != nullptr && agent->route_id == route_id) return agent->held;
  const auto it = routes_.find(route_id);
  return it == routes_.end() ? nullptr : it->second.get();
}

void FollowSession::StartAgent(const v1::FollowRequest& request, int i, StreamRoute& route,
                               Vec2 position, Vec2 command, Agent& agent) {
  const v1::AgentColumns& agents = request.agents();
  const double distance = agents.resume_distance_size() > 0 ? agents.resume_distance(i) : 0.0;
  // What was commanded last still acts under an integrator that is one step late.
  if (agent.route != nullptr) command = agent.state.command;
  if (!std::isfinite(SquaredNorm(command))) command = {};  // The step tells of it.
  agent.held = &route;
  agent.route = route.states.route;
  agent.route_id = agents.route_id(i);
  agent.was_told = false;
  agent.state = StartFollowing(agent.route->route, request.time_s(), position, distance);
  agent.state.command = command;
}

void FollowSession::StepAgents(const v1::FollowRequest& request, v1::FollowResponse* response,
                               Violations& violations) {
  const v1::AgentColumns& agents = request.agents();
  const int size = agents.agent_id_size();
  MotionWriter writer(static_cast<size_t>(size), options_.with_half_planes,
                      response->mutable_motions());
  order_.resize(static_cast<size_t>(size), 0);
  time_s_ = request.time_s();
  ++tick_;
  FollowInput input;
  input.report.time_s = request.time_s();
  input.report.dt = request.dt_s();
  input.feed_silent =
      options_.feed_age_limit_s && !(request.time_s() - heard_s_ <= *options_.feed_age_limit_s);
  const OptionalColumns has(agents);
  const PointReader positions(agents.position()), velocities(agents.velocity()),
      displacements(agents.displacement()), commands(agents.resume_velocity());
  const PlanFrame no_frame;
  for (int i = 0; i < size; ++i) {
    const auto row = static_cast<size_t>(i);
    const uint64_t id = agents.agent_id(i);
    // Agents mostly come in the order of the tick before: row by row they are found where they
    // were.
    Agent* known = order_[row] < agents_.size() ? &agents_[order_[row]] : nullptr;
    if (known != nullptr && (!known->is_used || known->id != id)) known = nullptr;
    StreamRoute* route = FindRoute(known, agents.route_id(i));
    const bool other_version = route != nullptr && has.version &&
                               agents.route_version(i) != route->states.route->route.version;
    if (route == nullptr || other_version) {
      motion_ = MotionRequest();
      motion_.fault = FollowFault::kOtherVersion;
      writer.Write(row, id, motion_, no_frame);
      if (!other_version) writer.SetFault(row, v1::FOLLOW_FAULT_NO_ROUTE);
      continue;
    }
    const PlanFrame& frame = route->states.route->frame;
    if (!HasPlan(agents.position(), frame.up_axis) || !HasPlan(agents.velocity(), frame.up_axis)) {
      violations.Add(
          ViolationReason::kRequired,
          HasPlan(agents.position(), frame.up_axis) ? "agents.velocity" : "agents.position",
          "both horizontal columns of the route's frame are required");
      return;
    }
    FollowReport& report = input.report;
    report.position = positions.PlanOf(row, frame.up_axis) - frame.origin.plan;
    report.velocity = velocities.PlanOf(row, frame.up_axis);
    report.heading = agents.heading_rad(i);
    Agent& agent = known != nullptr ? *known : FindAgent(row, id);
    if (agent.tick == tick_) {
      violations.Add(ViolationReason::kConflict, "agents.agent_id[" + std::to_string(i) + "]",
                     "agent " + std::to_string(id) + " is in the message already");
      return;
    }
    agent.tick = tick_;
    if (agent.route != route->states.route) {
      const Vec2 command =
          has.resume_velocity ? commands.PlanOf(row, frame.up_axis) : report.velocity;
      StartAgent(request, i, *route, report.position, command, agent);
    }
    report.displacement = has.displacement ? displacements.PlanOf(row, frame.up_axis)
                                           : report.position - agent.state.position;
    const int collision = has.collision ? agents.collision(i) : 0;
    report.collision = static_cast<Collision>(collision);
    input.read_set = route->states.states;
    input.avoidance.max_speed =
        has.max_speed ? agents.max_speed(i) : std::numeric_limits<double>::infinity();
    input.avoidance.has_solution = !has.no_solution || !agents.no_solution(i);
    input.cancel = has.cancel && agents.cancel(i);
    FollowStep(agent.route->route, options_.follower, input, agent.state, motion_);
    writer.Write(row, id, motion_, frame);
    // Of one that came to a route that had gone stale before, nobody was told yet.
    if (motion_.stale && !agent.was_told && Invalidates(motion_.changed)) {
      AddStale(agent, motion_.changed, motion_.changed_dependency, response);
    }
  }
}

}  // namespace arclane
