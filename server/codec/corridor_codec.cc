// SPDX-License-Identifier: Apache-2.0
#include "server/codec/corridor_codec.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "server/codec/agent_codec.h"
#include "server/codec/columns.h"
#include "server/codec/field_checks.h"

namespace arclane {
namespace {

// The default allowance for start and goal: real meshes put them up to 1e-4 of a polygon's extent
// outside it.
constexpr double kEndShiftFraction = 0.01;
constexpr size_t kMaxIdBytes = 128;

double DefaultEndShift(const PolygonColumns& polygons) {
  if (polygons.vertex_count.empty()) return 0.0;
  const size_t size = polygons.vertices.a.size();
  const size_t last = std::min<size_t>(size, polygons.vertex_count.back());
  return kEndShiftFraction * std::max(ExtentOf(polygons.vertices, 0, polygons.vertex_count.front()),
                                      ExtentOf(polygons.vertices, size - last, size));
}

// The tolerance, as asked for and as the origin makes it, against the corridor's extent.
void CheckTolerance(const CorridorInput& input, const PlanFrame& frame, Violations& violations) {
  const bool has_origin = input.origin != Vec2{};
  const bool has_length = input.precision.source == PrecisionSource::kLength;
  const bool is_known = !input.polygons.vertex_count.empty() || input.portals.left.size() > 0;
  if (!is_known || !(has_origin || has_length)) return;
  const double extent =
      std::max({ExtentOf(input.polygons.vertices), ExtentOf(input.portals.left),
                ExtentOf(input.portals.right), Distance(input.start, input.goal)});
  if (has_origin) CheckOrigin(frame, input.start, extent, violations);
  if (has_length && !(input.precision.length <= kToleranceFraction * extent)) {
    violations.Add(ViolationReason::kOutOfRange, "frame.tolerance",
                   "must be at most a thousandth of the corridor's extent " + NumberText(extent) +
                       ", got " + NumberText(input.precision.length));
  }
}

bool IsCoordinate(const v1::Point& point) {
  return std::max({std::abs(point.x()), std::abs(point.y()), std::abs(point.z())}) <=
         kMaxCoordinate;
}

// The frame of a corridor by reference is that of its navmesh.
void AdoptFrame(const v1::Frame& frame, const ResolvedCorridor& resolved, PlanFrame& adopted,
                Violations& violations) {
  if (frame.up_axis() != v1::UP_AXIS_UNSPECIFIED && adopted.up_axis != resolved.up_axis) {
    violations.Add(ViolationReason::kOutOfRange, "frame.up_axis",
                   "must be unset or that of the navmesh");
  }
  adopted.up_axis = resolved.up_axis;
  if (IsCoordinate(frame.origin())) {
    adopted.origin = SplitPoint(frame.origin(), resolved.up_axis);
  }
  if (frame.coordinate_precision_case() == v1::Frame::COORDINATE_PRECISION_NOT_SET ||
      (frame.has_source() && frame.source() == v1::COORDINATE_SOURCE_UNSPECIFIED)) {
    adopted.precision = resolved.precision;
  }
}

void ReadGeometry(const v1::PlanCorridorRequest& request, const ResolvedCorridor* resolved,
                  DecodedCorridorRequest& decoded, Violations& violations) {
  CorridorInput& input = decoded.plan.corridor;
  const UpAxis up = decoded.frame.up_axis;
  input.up_axis = up;
  input.precision = decoded.frame.precision;
  input.origin = decoded.frame.origin.plan;
  input.origin_height = decoded.frame.origin.height;
  if (!request.has_start()) {
    violations.Add(ViolationReason::kRequired, "start", "required: the agent's position");
  }
  if (!request.has_goal())
    violations.Add(ViolationReason::kRequired, "goal", "required: where to go");
  const PlanPoint start = SplitPoint(request.start(), up);
  const PlanPoint goal = SplitPoint(request.goal(), up);
  input.start = start.plan;
  input.start_height = start.height;
  input.goal = goal.plan;
  input.goal_height = goal.height;

  const v1::Corridor& corridor = request.corridor();
  switch (corridor.source_case()) {
    case v1::Corridor::kPolygons:
      input.has_polygons = true;
      input.polygons.vertices = BorrowColumns(corridor.polygons().vertices(), up);
      input.polygons.vertex_count = Borrow(corridor.polygons().vertex_count());
      break;
    case v1::Corridor::kPortals:
      input.has_portals = true;
      input.portals.left = BorrowColumns(corridor.portals().left(), up);
      input.portals.right = BorrowColumns(corridor.portals().right(), up);
      input.portals.link_entries = Borrow(corridor.portals().link_entry());
      break;
    case v1::Corridor::kRefs:
      if (resolved == nullptr) {
        violations.Add(ViolationReason::kRequired, "navmesh.navmesh_id",
                       "required with corridor.refs: the navmesh of the polygons");
        break;
      }
      input.has_polygons = true;
      input.has_portals = true;
      input.polygons = resolved->polygons;
      input.portals = resolved->portals;
      break;
    case v1::Corridor::SOURCE_NOT_SET:
      break;  // Told with the other faults of the geometry.
  }
  if (request.has_max_endpoint_shift()) {
    if (CheckNumber("max_endpoint_shift", request.max_endpoint_shift(), kNotNegative, violations)) {
      input.max_end_shift = request.max_endpoint_shift();
    }
  } else {
    const double shift = DefaultEndShift(input.polygons);
    input.max_end_shift = std::isfinite(shift) ? shift : 0.0;
  }
  CheckTolerance(input, decoded.frame, violations);
}

size_t PortalCount(const CorridorInput& input) {
  if (input.has_portals) return input.portals.left.size();
  return input.polygons.vertex_count.empty() ? 0 : input.polygons.vertex_count.size() - 1;
}

void ReadDependencies(const v1::PlanCorridorRequest& request, const RequestLimits& limits,
                      DecodedCorridorRequest& decoded, Violations& violations) {
  const v1::DependencyColumns& columns = request.corridor().dependencies();
  if (request.corridor().has_refs() && request.corridor().has_dependencies()) {
    violations.Add(ViolationReason::kOutOfRange, "corridor.dependencies",
                   "must be unset with corridor.refs, whose dependencies are known");
    return;
  }
  const int size = columns.portal_index_size();
  if (columns.kind_size() != size || columns.id_size() != size) {
    violations.Add(ViolationReason::kLengthMismatch, "corridor.dependencies",
                   "columns must have equal lengths, got portal_index " + std::to_string(size) +
                       ", kind " + std::to_string(columns.kind_size()) + ", id " +
                       std::to_string(columns.id_size()));
    return;
  }
  if (static_cast<uint32_t>(size) > limits.max_dependencies) {
    violations.Add(ViolationReason::kLimitExceeded, "corridor.dependencies",
                   "at most max_dependencies " + std::to_string(limits.max_dependencies) +
                       ", got " + std::to_string(size));
    return;
  }
  const size_t portal_count = PortalCount(decoded.plan.corridor);
  std::vector<uint64_t> closed(request.closed_gates().begin(), request.closed_gates().end());
  std::sort(closed.begin(), closed.end());
  for (int i = 0; i < size; ++i) {
    const std::string index = "[" + std::to_string(i) + "]";
    if (columns.portal_index(i) > portal_count) {
      violations.Add(ViolationReason::kOutOfRange, "corridor.dependencies.portal_index" + index,
                     "must be at most the number of portals " + std::to_string(portal_count) +
                         ", got " + std::to_string(columns.portal_index(i)));
    }
    const int kind = columns.kind(i);
    if (kind == v1::DEPENDENCY_KIND_UNSPECIFIED || !v1::DependencyKind_IsValid(kind)) {
      violations.Add(ViolationReason::kUnknownValue, "corridor.dependencies.kind" + index,
                     "must be GATE, TILE, LINK or AREA, got " + std::to_string(kind));
    }
    if (kind == v1::DEPENDENCY_KIND_GATE &&
        std::binary_search(closed.begin(), closed.end(), columns.id(i)) &&
        (!decoded.closed_gate || columns.portal_index(i) < decoded.closed_gate->portal_index)) {
      decoded.closed_gate = ClosedGate{columns.portal_index(i), columns.id(i)};
    }
  }
}

void CheckCacheMode(const std::string& field, int mode, Violations& violations) {
  if (v1::CacheMode_IsValid(mode)) return;
  violations.Add(ViolationReason::kUnknownValue, field, "unknown value " + std::to_string(mode));
}

void CheckIds(const v1::NavMeshRef& navmesh, Violations& violations) {
  const auto check = [&](const char* field, const std::string& id) {
    if (id.find('\0') != std::string::npos)
      violations.Add(ViolationReason::kOutOfRange, field, "must hold no NUL");
    if (id.size() <= kMaxIdBytes) return;
    violations.Add(
        ViolationReason::kLimitExceeded, field,
        "at most " + std::to_string(kMaxIdBytes) + " bytes, got " + std::to_string(id.size()));
  };
  check("navmesh.navmesh_id", navmesh.navmesh_id());
  check("navmesh.world_id", navmesh.world_id());
}

}  // namespace

std::string RequestFieldPath(std::string_view builder_path) {
  if (builder_path.starts_with("start") || builder_path.starts_with("goal") ||
      builder_path.starts_with("frame") || builder_path.starts_with("origin")) {
    return std::string(builder_path);
  }
  return builder_path.empty() ? "corridor" : "corridor." + std::string(builder_path);
}

DecodedCorridorRequest ReadCorridorRequest(const v1::PlanCorridorRequest& request,
                                           const ResolvedCorridor* resolved,
                                           const RequestLimits& limits, Violations& violations) {
  DecodedCorridorRequest decoded;
  decoded.frame = ReadFrame(request.frame(), violations);
  if (resolved != nullptr) AdoptFrame(request.frame(), *resolved, decoded.frame, violations);
  CheckIds(request.navmesh(), violations);
  CheckCacheMode("cache_mode", request.cache_mode(), violations);
  ReadGeometry(request, resolved, decoded, violations);
  ReadDependencies(request, limits, decoded, violations);
  decoded.plan.corridor_is_partial = request.corridor().is_partial();
  decoded.plan.agent = ReadAgent(request.agent(), request.has_agent(), violations);
  decoded.plan.motion = ReadMotion(request.motion(), decoded.frame.up_axis, violations);
  CheckStop(decoded.plan.agent, decoded.plan.motion, violations);
  const double max_speed = decoded.plan.agent.limits.max_speed;
  if (max_speed > 0.0 && decoded.plan.motion.goal_speed > max_speed) {
    violations.Add(ViolationReason::kOutOfRange, "motion.goal_speed",
                   "must be at most agent.limits.max_speed " + NumberText(max_speed) + ", got " +
                       NumberText(decoded.plan.motion.goal_speed));
  }
  decoded.plan.limits.max_portals = limits.max_portals;
  decoded.plan.limits.max_polygons = static_cast<size_t>(limits.max_portals) + 1;
  decoded.plan.limits.max_vertices = limits.max_vertices;
  return decoded;
}

}  // namespace arclane
