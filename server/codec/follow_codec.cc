// SPDX-License-Identifier: Apache-2.0
#include "server/codec/follow_codec.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "server/codec/agent_codec.h"
#include "server/codec/field_checks.h"
#include "server/codec/float_columns.h"
#include "server/planning/route/corridor_planner.h"

namespace arclane {
namespace {

class RouteReader {
 public:
  RouteReader(const FollowSource& source, Violations& violations)
      : source_(source),
        widened_(source.route->corners().has_floats() ? *source.route : v1::Route()),
        message_(source.route->corners().has_floats() ? widened_ : *source.route),
        violations_(violations) {
    WidenColumns(&widened_);
  }

  std::shared_ptr<const FollowedRoute> Read() {
    const size_t before = violations_.total();
    auto followed = std::make_shared<FollowedRoute>();
    followed->frame = ReadFrame(*source_.frame, violations_);
    frame_ = &followed->frame;
    FollowAgent agent;
    agent.profile = ReadAgent(*source_.agent, true, violations_);
    agent.corner_distance_tolerance = source_.agent->manners().corner_distance_tolerance();
    agent.corner_speed_tolerance = source_.agent->manners().corner_speed_tolerance();
    outcome_ = ReadOutcome();
    if (!ReadSegments() || !ReadPhases() || !ReadCorners() || !ReadCorridor() ||
        !ReadDependencies(*followed) || violations_.total() > before) {
      return nullptr;
    }
    FollowRouteInput input;
    input.route = &route_;
    input.outcome = *outcome_;
    input.corners = corners_;
    input.corridor = has_corridor_ ? &corridor_ : nullptr;
    input.deviation_tolerance = message_.verification().tolerance();
    input.agent = agent;
    input.dependencies = dependencies_;
    input.version = source_.version;
    if (const absl::Status status = BuildFollowRoute(input, &followed->route); !status.ok()) {
      violations_.Add(ViolationReason::kConflict, "route", std::string(status.message()));
      return nullptr;
    }
    return followed;
  }

 private:
  bool Fail(ViolationReason reason, const std::string& field, const std::string& text) {
    violations_.Add(reason, field, text);
    return false;
  }

  bool SameLength(const char* field, size_t size, size_t expected) {
    return CheckSameLength(field, size, expected, violations_);
  }

  bool AllFinite(const char* field, std::span<const double> values,
                 const NumberRule& rule = kFinite) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i]) && values[i] >= rule.min && values[i] <= rule.max) continue;
      return CheckNumber(std::string(field) + "[" + std::to_string(i) + "]", values[i], rule,
                         violations_);
    }
    return true;
  }
  // Coordinates and distances within what a plan may have.
  bool AllNear(const char* field, std::span<const double> values) {
    return AllFinite(field, values, {-kMaxCoordinate, kMaxCoordinate, true, false});
  }
  bool AllMotion(const char* field, std::span<const double> values) {
    return AllFinite(field, values, {-kMostMotion, kMostMotion, true, false});
  }

  template <typename T>
  static std::span<const T> Column(const google::protobuf::RepeatedField<T>& field) {
    return {field.data(), static_cast<size_t>(field.size())};
  }

  bool Points(const char* field, const v1::PointColumns& columns, size_t size,
              PointColumns* points) {
    *points = BorrowColumns(columns, frame_->up_axis);
    return SameLength(field, points->a.size(), size) && SameLength(field, points->b.size(), size) &&
           AllNear(field, points->a) && AllNear(field, points->b);
  }

  Vec2 Local(const PointColumns& points, size_t i) const {
    return points.point(i) - frame_->origin.plan;
  }

  std::optional<RouteOutcome> ReadOutcome() {
    switch (message_.outcome()) {
      case v1::OUTCOME_COMPLETE:
        return RouteOutcome::kComplete;
      case v1::OUTCOME_PARTIAL:
        return RouteOutcome::kPartial;
      case v1::OUTCOME_CANNOT_STOP:
        return RouteOutcome::kCannotStop;
      case v1::OUTCOME_START_OFF_ROUTE:
        return RouteOutcome::kStartOffRoute;
      case v1::OUTCOME_GOAL_SPEED_UNREACHABLE:
        return RouteOutcome::kGoalSpeedUnreachable;
      default:
        Fail(ViolationReason::kUnknownValue, "route.outcome",
             "must be one that has a route, got " + std::to_string(message_.outcome()));
        return std::nullopt;
    }
  }

  static std::optional<SegmentKind> KindOf(int kind) {
    switch (kind) {
      case v1::SEGMENT_KIND_LINE:
        return SegmentKind::kLine;
      case v1::SEGMENT_KIND_ARC:
        return SegmentKind::kArc;
      case v1::SEGMENT_KIND_CURVE:
        return SegmentKind::kCurve;
      case v1::SEGMENT_KIND_TURN:
        return SegmentKind::kTurn;
      case v1::SEGMENT_KIND_LINK:
        return SegmentKind::kLink;
      default:
        return std::nullopt;
    }
  }

  bool ReadSegments() {
    const v1::SegmentColumns& columns = message_.segments();
    const auto size = static_cast<size_t>(columns.kind_size());
    PointColumns start;
    if (!SameLength("route.segments.start_distance", columns.start_distance_size(), size) ||
        !SameLength("route.segments.heading_rad", columns.heading_rad_size(), size) ||
        !SameLength("route.segments.curvature", columns.curvature_size(), size) ||
        !SameLength("route.segments.length", columns.length_size(), size) ||
        !SameLength("route.segments.turn_angle_rad", columns.turn_angle_rad_size(), size) ||
        !Points("route.segments.start", columns.start(), size, &start) ||
        !AllNear("route.segments.start_distance", Column(columns.start_distance())) ||
        !AllFinite("route.segments.heading_rad", Column(columns.heading_rad())) ||
        !AllFinite("route.segments.curvature", Column(columns.curvature())) ||
        !AllNear("route.segments.length", Column(columns.length())) ||
        !AllFinite("route.segments.turn_angle_rad", Column(columns.turn_angle_rad()))) {
      return false;
    }
    double distance = 0.0;
    for (size_t i = 0; i < size; ++i) {
      const int index = static_cast<int>(i);
      const std::optional<SegmentKind> kind = KindOf(columns.kind(index));
      const std::string at = "[" + std::to_string(i) + "]";
      if (!kind) {
        return Fail(ViolationReason::kUnknownValue, "route.segments.kind" + at, "unknown value");
      }
      if (columns.length(index) < 0.0 || columns.start_distance(index) < distance) {
        return Fail(ViolationReason::kOutOfRange, "route.segments.start_distance" + at,
                    "segments must follow one another");
      }
      distance = columns.start_distance(index);
      Segment segment;
      segment.kind = *kind;
      segment.start_distance = distance;
      segment.length = columns.length(index);
      segment.start = segment.end = Local(start, i);
      segment.heading = columns.heading_rad(index);
      segment.curvature = columns.curvature(index);
      segment.turn_angle = columns.turn_angle_rad(index);
      if (!route_.segments.empty()) route_.segments.back().end = segment.start;
      route_.segments.push_back(segment);
    }
    if (size > 0) {
      // The end of the last segment is not sent.
      Segment& last = route_.segments.back();
      const double half = 0.5 * last.curvature * last.length;
      const double chord = half == 0.0 ? last.length : last.length * (std::sin(half) / half);
      last.end = last.start + chord * UnitVector(last.heading + half);
      route_.start = route_.segments.front().start;
      route_.end = last.end;
    } else if (!ReadPoint()) {
      return false;
    }
    route_.length = message_.length();
    route_.duration_s = message_.duration_s();
    return true;
  }

  // Of a route without segments. Plans of servers that did not tell have it as their sample.
  bool ReadPoint() {
    Vec2 point;
    if (message_.has_point()) {
      const size_t before = violations_.total();
      CheckPoint("route.point", message_.point(), violations_);
      if (violations_.total() > before) return false;
      point = SplitPoint(message_.point(), frame_->up_axis).plan;
    } else {
      PointColumns samples;
      const v1::PointColumns& sent = message_.samples().position();
      const auto count = static_cast<size_t>(std::max(sent.x_size(), sent.y_size()));
      if (count == 0) {
        return Fail(ViolationReason::kRequired, "route.point",
                    "required: the route has no segments");
      }
      if (!Points("route.samples.position", sent, count, &samples)) return false;
      point = samples.point(0);
    }
    route_.start = route_.end = point - frame_->origin.plan;
    return true;
  }

  bool ReadPhases() {
    const v1::PhaseColumns& columns = message_.phases();
    const auto size = static_cast<size_t>(columns.kind_size());
    if (!SameLength("route.phases.segment_index", columns.segment_index_size(), size) ||
        !SameLength("route.phases.start_distance", columns.start_distance_size(), size) ||
        !SameLength("route.phases.start_time_s", columns.start_time_s_size(), size) ||
        !SameLength("route.phases.speed", columns.speed_size(), size) ||
        !SameLength("route.phases.acceleration", columns.acceleration_size(), size) ||
        !SameLength("route.phases.length", columns.length_size(), size) ||
        !SameLength("route.phases.duration_s", columns.duration_s_size(), size) ||
        (columns.law_size() > 0 && !SameLength("route.phases.law", columns.law_size(), size)) ||
        !AllNear("route.phases.start_distance", Column(columns.start_distance())) ||
        !AllMotion("route.phases.speed", Column(columns.speed())) ||
        !AllMotion("route.phases.acceleration", Column(columns.acceleration())) ||
        !AllNear("route.phases.length", Column(columns.length())) ||
        !AllFinite("route.phases.law", Column(columns.law()))) {
      return false;
    }
    for (size_t i = 0; i < size; ++i) {
      if (!AddPhase(columns, static_cast<int>(i))) return false;
    }
    return true;
  }

  bool AddPhase(const v1::PhaseColumns& columns, int i) {
    const std::string at = "[" + std::to_string(i) + "]";
    if (columns.segment_index(i) >= route_.segments.size()) {
      return Fail(ViolationReason::kOutOfRange, "route.phases.segment_index" + at,
                  "there is no such segment");
    }
    const double law = columns.law_size() > 0 ? columns.law(i) : 0.0;
    const double curvature = std::abs(route_.segments[columns.segment_index(i)].curvature);
    SpeedPhase phase;
    phase.piece = columns.segment_index(i);
    phase.start_distance = columns.start_distance(i);
    phase.start_time_s = columns.start_time_s(i);
    phase.length = columns.length(i);
    phase.duration_s = columns.duration_s(i);
    phase.start_speed = columns.speed(i);
    phase.acceleration = columns.acceleration(i);
    // A speed plan is continuous: a phase ends with the speed that the next one begins with.
    phase.end_speed =
        i + 1 < columns.kind_size() ? columns.speed(i + 1) : message_.goal_speed_reached();
    switch (columns.kind(i)) {
      case v1::PHASE_KIND_ACCELERATE:
        phase.kind = SpeedPhaseKind::kAccelerate;
        break;
      case v1::PHASE_KIND_CRUISE:
        phase.kind = SpeedPhaseKind::kCruise;
        break;
      case v1::PHASE_KIND_BRAKE:
        phase.kind = SpeedPhaseKind::kBrake;
        break;
      case v1::PHASE_KIND_TURN:
        phase.kind = SpeedPhaseKind::kDwell;
        phase.law = SpeedLaw::kDwell;
        break;
      case v1::PHASE_KIND_COUPLED_ACCELERATE:
      case v1::PHASE_KIND_COUPLED_BRAKE: {
        const bool brakes = columns.kind(i) == v1::PHASE_KIND_COUPLED_BRAKE;
        phase.kind = brakes ? SpeedPhaseKind::kBrake : SpeedPhaseKind::kAccelerate;
        phase.law = SpeedLaw::kGripCircle;
        phase.first = law;
        phase.second = (brakes ? -2.0 : 2.0) * curvature;
        break;
      }
      default:
        return Fail(
            ViolationReason::kUnknownValue, "route.phases.kind" + at,
            "must be a kind of a route of lines and arcs, got " + std::to_string(columns.kind(i)));
    }
    route_.phases.push_back(phase);
    return true;
  }

  bool ReadCorners() {
    for (const double distance : message_.corners().distance()) {
      RouteCorner corner;
      corner.distance = distance;
      corners_.push_back(corner);
    }
    return AllNear("route.corners.distance", Column(message_.corners().distance()));
  }

  bool ReadCorridor() {
    has_corridor_ = message_.has_cells();
    if (!has_corridor_) return true;
    const auto counts = Column(message_.cells().vertex_count());
    const size_t vertex_count = std::accumulate(counts.begin(), counts.end(), size_t{0});
    const size_t portal_count = counts.empty() ? 0 : counts.size() - 1;
    PointColumns vertices, left, right;
    if (counts.empty() || std::find(counts.begin(), counts.end(), 0u) != counts.end()) {
      return Fail(ViolationReason::kRequired, "route.cells.vertex_count",
                  "every cell has vertices");
    }
    if (!Points("route.cells.vertices", message_.cells().vertices(), vertex_count, &vertices) ||
        !Points("route.portals.left", message_.portals().left(), portal_count, &left) ||
        !Points("route.portals.right", message_.portals().right(), portal_count, &right)) {
      return false;
    }
    corridor_.start = route_.start;
    corridor_.goal = route_.end;
    corridor_.has_polygons = true;
    corridor_.tolerance = message_.verification().tolerance() / kDeviationTolerances;
    for (size_t i = 0; i < vertex_count; ++i) {
      corridor_.cell_vertices.push_back(Local(vertices, i));
      corridor_.cell_heights.push_back(0.0);
    }
    uint32_t begin = 0;
    for (const uint32_t count : counts) {
      corridor_.cell_begin.push_back(begin);
      begin += count;
    }
    corridor_.cell_begin.push_back(begin);
    for (size_t i = 0; i < portal_count; ++i) {
      Portal portal;
      portal.left = Local(left, i);
      portal.right = Local(right, i);
      corridor_.portals.push_back(portal);
    }
    for (const uint32_t entry : message_.portals().link_entry()) {
      if (entry >= portal_count) {
        return Fail(ViolationReason::kOutOfRange, "route.portals.link_entry",
                    "there is no portal " + std::to_string(entry));
      }
      corridor_.portals[entry].kind = PortalKind::kLinkEntry;
      if (entry + 1 < portal_count && corridor_.portals[entry + 1].kind == PortalKind::kEdge) {
        corridor_.portals[entry + 1].kind = PortalKind::kLinkExit;
      }
    }
    return true;
  }

  bool ReadDependencies(FollowedRoute& followed) {
    if (source_.dependencies == nullptr) return true;
    const v1::DependencyColumns& columns = *source_.dependencies;
    const auto size = static_cast<size_t>(columns.portal_index_size());
    if (size > 0 && !has_corridor_) {
      return Fail(ViolationReason::kRequired, "route.cells",
                  "dependencies need the corridor: plan with include_corridor");
    }
    if (!SameLength("dependencies.kind", columns.kind_size(), size) ||
        !SameLength("dependencies.id", columns.id_size(), size)) {
      return false;
    }
    for (int i = 0; i < columns.portal_index_size(); ++i) {
      const int kind = columns.kind(i);
      if (kind == v1::DEPENDENCY_KIND_UNSPECIFIED || !v1::DependencyKind_IsValid(kind)) {
        return Fail(ViolationReason::kUnknownValue, "dependencies.kind[" + std::to_string(i) + "]",
                    "must be GATE, TILE, LINK or AREA, got " + std::to_string(kind));
      }
      dependencies_.push_back({columns.portal_index(i)});
      followed.read_set.push_back({columns.kind(i), columns.id(i)});
    }
    return true;
  }

  const FollowSource& source_;
  v1::Route widened_;  // Of a route whose columns are floats.
  const v1::Route& message_;
  Violations& violations_;
  const PlanFrame* frame_ = nullptr;
  std::optional<RouteOutcome> outcome_;
  Route route_;
  Corridor corridor_;
  std::vector<RouteCorner> corners_;
  std::vector<FollowDependency> dependencies_;
  bool has_corridor_ = false;
};

}  // namespace

std::shared_ptr<const FollowedRoute> ReadFollowedRoute(const FollowSource& source,
                                                       Violations& violations) {
  return RouteReader(source, violations).Read();
}

}  // namespace arclane
