// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_corridor.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "server/codec/corridor_codec.h"
#include "server/codec/field_checks.h"
#include "server/codec/float_columns.h"
#include "server/codec/route_codec.h"
#include "server/codec/sampling_codec.h"
#include "server/navmesh_codec/change_codec.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/pipeline/sample_count.h"
#include "server/planning/route/corridor_planner.h"

namespace arclane {
namespace {

// A corridor of so many portals keeps about 20 MiB of buffers alive.
constexpr size_t kLargeCorridor = size_t{1} << 15;

constexpr double kFewSamples = 1000;
constexpr int kFewRefs = 200;

// No route through the corridor is longer than its polygons' outlines, or the zigzag of its
// portals' ends, and the way from the start and to the goal; axes by city block.
double LongestRoute(const v1::PlanCorridorRequest& request) {
  const auto outline = [](const v1::PointColumns& points) {
    const int count = std::min({points.x_size(), points.y_size()});
    double sum = 0.0;
    for (int i = 1; i < count; ++i) {
      sum += std::abs(points.x(i) - points.x(i - 1)) + std::abs(points.y(i) - points.y(i - 1));
      if (i < points.z_size()) sum += std::abs(points.z(i) - points.z(i - 1));
    }
    return sum;
  };
  const auto& corridor = request.corridor();
  const auto& start = request.start();
  const auto& goal = request.goal();
  return outline(corridor.polygons().vertices()) + outline(corridor.portals().left()) +
         outline(corridor.portals().right()) + std::abs(goal.x() - start.x()) +
         std::abs(goal.y() - start.y()) + std::abs(goal.z() - start.z());
}

bool HasFewSamples(const v1::PlanCorridorRequest& request) {
  const v1::Sampling& sampling = request.sampling();
  if (sampling.max_count() != 0 && sampling.max_count() <= kFewSamples) return true;
  switch (sampling.rule_case()) {
    case v1::Sampling::kCount:
      return sampling.count() <= kFewSamples;
    case v1::Sampling::kSpacing:
      return !request.corridor().has_refs() &&
             LongestRoute(request) <= kFewSamples * sampling.spacing();
    case v1::Sampling::kTimeStepS:
      return false;  // How long the route takes is known when it is planned.
    case v1::Sampling::kDistances:
    case v1::Sampling::RULE_NOT_SET:
      return true;
  }
  return false;
}

UpAxis ToUpAxis(MeshUpAxis up) {
  switch (up) {
    case MeshUpAxis::kX:
      return UpAxis::kX;
    case MeshUpAxis::kY:
      return UpAxis::kY;
    case MeshUpAxis::kZ:
      break;
  }
  return UpAxis::kZ;
}

PointColumns Split(const MeshPointColumns& points, UpAxis up) {
  switch (up) {
    case UpAxis::kX:
      return {points.y, points.z, points.x};
    case UpAxis::kY:
      return {points.x, points.z, points.y};
    case UpAxis::kZ:
      break;
  }
  return {points.x, points.y, points.z};
}

ResolvedCorridor Resolved(const PlannedCorridor& by_ref) {
  const CorridorColumns& columns = by_ref.corridor.columns;
  ResolvedCorridor resolved;
  resolved.up_axis = ToUpAxis(by_ref.mesh.up);
  resolved.precision = by_ref.mesh.source == TileSource::kDetour ? CoordinatePrecision::Float32()
                                                                 : CoordinatePrecision::Double();
  resolved.polygons = {Split(columns.vertices, resolved.up_axis), columns.vertex_count};
  resolved.portals = {Split(columns.left, resolved.up_axis), Split(columns.right, resolved.up_axis),
                      columns.link_entry};
  return resolved;
}

// The first thing on the way that bars it: of the request's own closed gates, and of the navmesh's.
std::optional<Blockage> FirstBlockage(const v1::PlanCorridorRequest& request,
                                      const PlannedCorridor& by_ref) {
  std::optional<Blockage> first = by_ref.corridor.blockage;
  const ReadSet& reads = by_ref.corridor.read_set;
  for (size_t i = 0; i < reads.dependencies.size(); ++i) {
    const Dependency& read = reads.dependencies[i];
    if (read.kind != DependencyKind::kGate) continue;
    const auto& closed = request.closed_gates();
    if (std::find(closed.begin(), closed.end(), read.id) == closed.end()) continue;
    if (!first || reads.portal_index[i] < first->portal_index)
      first = Blockage{DependencyKind::kGate, read.id, reads.portal_index[i]};
  }
  return first;
}

void EncodeBlockage(const Blockage& blockage, double shortest_length, v1::Route* route) {
  v1::Blocked* blocked = route->mutable_blocked();
  route->set_shortest_length(shortest_length);
  blocked->set_portal_index(blockage.portal_index);
  if (blockage.kind == DependencyKind::kLink) {
    route->set_outcome(v1::OUTCOME_LINK_DISABLED);
    blocked->set_link_ref(blockage.id);
    blocked->set_detail("a disabled link lies on the corridor");
  } else {
    route->set_outcome(v1::OUTCOME_GATE_CLOSED);
    blocked->set_gate_id(blockage.id);
    blocked->set_detail("a closed gate lies on the corridor");
  }
}

void EncodeDependencies(std::span<const PortalDependency> dependencies,
                        v1::DependencyColumns* columns) {
  for (const PortalDependency& dependency : dependencies) {
    columns->add_portal_index(dependency.portal_index);
    // The numbers of the two enums are the same.
    columns->add_kind(static_cast<v1::DependencyKind>(dependency.kind));
    columns->add_id(dependency.id);
  }
}

// All that a prepared corridor depends on besides the navmesh: how its coordinates are read, how
// far from its walls the agent keeps, and the refs.
void CorridorKey(const v1::PlanCorridorRequest& request, std::string* key) {
  request.frame().SerializeToString(key);
  const v1::AgentBody& body = request.agent().body();
  const double distances[] = {body.radius(), body.baked_radius(), body.clearance()};
  const bool keeps_distance = body.radius() != 0.0 || body.clearance() != 0.0;
  key->push_back(keeps_distance ? '\1' : '\0');
  if (keeps_distance) key->append(reinterpret_cast<const char*>(distances), sizeof(distances));
  const auto& refs = request.corridor().refs().ref();
  key->append(reinterpret_cast<const char*>(refs.data()),
              static_cast<size_t>(refs.size()) * sizeof(uint64_t));
}

// What can be told of the ends of a corridor that is not known.
void CheckEnds(const v1::PlanCorridorRequest& request, Violations& violations) {
  CheckPoint("start", request.start(), violations);
  CheckPoint("goal", request.goal(), violations);
}

// Why refs could not be resolved, together with what else is wrong with the request: all fields
// are told at once. The geometry of the corridor is not known, and not checked.
Failure WithOtherFields(const v1::PlanCorridorRequest& request, const NavMeshView& view,
                        const RequestLimits& limits, Failure refs) {
  if (StatusCode(refs) != absl::StatusCode::kInvalidArgument) return refs;
  ResolvedCorridor unknown;
  unknown.up_axis = ToUpAxis(view.snapshot().info().up);
  Violations violations;
  ReadCorridorRequest(request, &unknown, limits, violations);
  ReadSampling(request.sampling(), SampledThing::kRoute, limits, violations);
  CheckEnds(request, violations);
  if (violations.empty()) return refs;
  Failure all = ToFailure(violations);
  all.violations.insert(all.violations.end(), refs.violations.begin(), refs.violations.end());
  return all;
}

}  // namespace

std::optional<Failure> AnswerPlanCorridor(const v1::PlanCorridorRequest& request,
                                          const RequestLimits& limits, StopSignal stop,
                                          v1::PlanCorridorResponse& response,
                                          const PlannedCorridor* by_ref, PlanTrace* trace) {
  const auto mark = [trace](Stage stage) {
    if (trace != nullptr) trace->End(stage);
  };
  thread_local CorridorPlanner planner;
  const absl::Cleanup give_back = [] {
    // The memory of a rare large plan is not kept.
    if (planner.corridor().portals.size() > kLargeCorridor) planner = CorridorPlanner();
  };
  Violations violations;
  std::optional<ResolvedCorridor> resolved;
  if (by_ref != nullptr) resolved = Resolved(*by_ref);
  DecodedCorridorRequest decoded =
      ReadCorridorRequest(request, resolved ? &*resolved : nullptr, limits, violations);
  PortalSections placed;
  if (by_ref != nullptr) {
    decoded.plan.prepared = by_ref->prepared;
    if (by_ref->built != nullptr) decoded.plan.placed = &placed;
  }
  const DecodedSampling sampling =
      ReadSampling(request.sampling(), SampledThing::kRoute, limits, violations);

  std::optional<FailureReason> stopped;
  const auto should_stop = [&] {
    if (!stopped) stopped = stop();
    return stopped.has_value();
  };
  mark(Stage::kValidate);
  if (should_stop()) return GivenUp(*stopped);
  // Refs of no navmesh, which is told already.
  if (by_ref == nullptr && request.corridor().has_refs()) {
    CheckEnds(request, violations);
    return ToFailure(violations);
  }

  thread_local RoutePlan plan;
  plan.Clear();
  // The geometry is looked at even when other fields are wrong already: all violations are told at
  // once.
  const size_t field_violations = violations.total();
  Violations geometry_violations;
  const PlanStatus status = field_violations > 0 ? planner.Check(decoded.plan, geometry_violations)
                                                 : planner.Plan(decoded.plan, should_stop, plan,
                                                                geometry_violations, mark);
  for (const Violation& violation : geometry_violations.kept()) {
    violations.Add(violation.reason, RequestFieldPath(violation.field), violation.description);
  }
  if (!violations.empty()) return ToFailure(violations);
  switch (status) {
    case PlanStatus::kOk:
    case PlanStatus::kInvalid:
      break;
    case PlanStatus::kStopped:
      return GivenUp(*stopped);
    case PlanStatus::kVerificationFailed: {
      Failure failure;
      failure.reason = FailureReason::kVerificationFailed;
      failure.message = "the route leaves the corridor by " + NumberText(plan.largest_deviation) +
                        ", more than the tolerance " + NumberText(plan.deviation_tolerance) +
                        "; please report the request";
      return failure;
    }
  }

  if (by_ref != nullptr && by_ref->built != nullptr) {
    *by_ref->built = PrepareCorridor(decoded.plan.corridor, planner.corridor());
    if (*by_ref->built) (*by_ref->built)->sections = std::move(placed);
  }
  v1::Route* route = response.mutable_route();
  std::optional<Blockage> blockage;
  if (by_ref != nullptr) {
    blockage = FirstBlockage(request, *by_ref);
    EncodeReadSet(by_ref->corridor.read_set.dependencies, response.mutable_read_set());
  } else if (decoded.closed_gate) {
    blockage = Blockage{DependencyKind::kGate, decoded.closed_gate->gate_id,
                        decoded.closed_gate->portal_index};
  }
  if (blockage) {
    EncodeBlockage(*blockage, plan.shortest_length, route);
  } else {
    EncodeRoute(plan, decoded.frame, route);
    mark(Stage::kEncode);
    EncodeSamples(sampling, plan.route, decoded.frame, route->mutable_samples(), violations);
    mark(Stage::kSample);
    if (!violations.empty()) return ToFailure(violations);
  }
  if (trace != nullptr) {
    trace->portals = planner.corridor().portals.size();
    trace->samples = CountOf(route->samples());
    trace->CountCorners(plan.corners);
  }
  if (sampling.floats) {
    NarrowColumns(route, violations);
    if (!violations.empty()) return ToFailure(violations);
  }
  if (request.include_corridor()) EncodeCorridor(planner.corridor(), decoded.frame, route);
  response.mutable_answer()->set_cache(v1::CACHE_OUTCOME_BYPASS);
  return std::nullopt;
}

bool IsQuickPlan(const v1::PlanCorridorRequest& request) {
  const v1::AgentBody& body = request.agent().body();
  return !body.has_max_turn_radius() && body.clearance() == 0.0 &&
         body.radius() <= body.baked_radius() && HasFewSamples(request) &&
         request.corridor().refs().ref_size() <= kFewRefs;
}

std::optional<Failure> CorridorByRefPlan::Resolve(const v1::PlanCorridorRequest& request,
                                                  const NavMeshView& view,
                                                  const RequestLimits& limits, PlanTrace* trace,
                                                  PreparedPlans* prepared) {
  request_ = &request;
  view_ = &view;
  prepared_ = prepared;
  known_ = nullptr;
  keeps_ = false;
  if (refs_.capacity() > kLargeCorridor) {
    refs_ = {};
    resolved_ = CorridorByRef();
  }
  if (prepared != nullptr) {
    CorridorKey(request, &key_);
    known_ = prepared->FindCorridor(key_, view);
    keeps_ = known_ == nullptr && prepared->WantsCorridor(key_, view);
  }
  refs_.clear();
  if (known_ == nullptr || request.include_corridor()) {
    for (const uint64_t ref : request.corridor().refs().ref()) refs_.push_back({ref});
  }
  corridor_ = known_ != nullptr ? &known_->corridor : &resolved_;
  if (known_ == nullptr) {
    const size_t most = static_cast<size_t>(limits.max_portals) + 1;
    if (auto refusal = ResolveCorridor(view, refs_, most, &resolved_))
      return WithOtherFields(request, view, limits, ToFailure(*refusal));
  }
  if (trace != nullptr) trace->End(Stage::kCorridor);
  return std::nullopt;
}

std::optional<Failure> CorridorByRefPlan::Answer(const RequestLimits& limits, StopSignal stop,
                                                 v1::PlanCorridorResponse& response,
                                                 PlanTrace* trace) {
  std::optional<PreparedCorridor> built;
  PlannedCorridor planned{view_->snapshot().info(), *corridor_};
  if (known_ != nullptr && known_->built) planned.prepared = &*known_->built;
  if (keeps_) planned.built = &built;
  auto failure = AnswerPlanCorridor(*request_, limits, stop, response, &planned, trace);
  if (failure) return failure;
  if (request_->include_corridor())
    EncodeDependencies(PortalDependencies(*view_, refs_), response.mutable_dependencies());
  if (keeps_) {
    prepared_->KeepCorridor(key_, *view_,
                            std::make_shared<PreparedRefs>(resolved_, std::move(built)));
  }
  return std::nullopt;
}

std::optional<Failure> AnswerPlanCorridorByRef(const v1::PlanCorridorRequest& request,
                                               const NavMeshView& view, const RequestLimits& limits,
                                               StopSignal stop, v1::PlanCorridorResponse& response,
                                               ReadSet& reads, PlanTrace* trace,
                                               PreparedPlans* prepared) {
  thread_local CorridorByRefPlan plan;
  if (auto failure = plan.Resolve(request, view, limits, trace, prepared)) return failure;
  auto failure = plan.Answer(limits, stop, response, trace);
  reads = plan.reads();
  return failure;
}

}  // namespace arclane
