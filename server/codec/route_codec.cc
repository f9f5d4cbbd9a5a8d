// SPDX-License-Identifier: Apache-2.0
#include "server/codec/route_codec.h"

#include "server/codec/columns.h"
#include "server/codec/speed_codec.h"
#include "server/planning/corridor/surface.h"

namespace arclane {
namespace {

v1::Outcome EncodeOutcome(RouteOutcome outcome) {
  switch (outcome) {
    case RouteOutcome::kComplete:
      return v1::OUTCOME_COMPLETE;
    case RouteOutcome::kPartial:
      return v1::OUTCOME_PARTIAL;
    case RouteOutcome::kCannotStop:
      return v1::OUTCOME_CANNOT_STOP;
    case RouteOutcome::kStartOffRoute:
      return v1::OUTCOME_START_OFF_ROUTE;
    case RouteOutcome::kNeedsMotionPlanning:
      return v1::OUTCOME_NEEDS_MOTION_PLANNING;
    case RouteOutcome::kGoalSpeedUnreachable:
      return v1::OUTCOME_GOAL_SPEED_UNREACHABLE;
  }
  return v1::OUTCOME_UNSPECIFIED;
}

v1::CornerKind EncodeCornerKind(CornerAction action) {
  switch (action) {
    case CornerAction::kStop:
      return v1::CORNER_KIND_STOP;
    case CornerAction::kRounded:
      return v1::CORNER_KIND_ROUNDED;
    case CornerAction::kMerged:
      return v1::CORNER_KIND_MERGED;
    case CornerAction::kPassed:
      return v1::CORNER_KIND_PASSED;
  }
  return v1::CORNER_KIND_UNSPECIFIED;
}

v1::CornerReason EncodeCornerReason(CornerCause cause) {
  switch (cause) {
    case CornerCause::kNone:
      return v1::CORNER_REASON_UNSPECIFIED;
    case CornerCause::kNotRequested:
      return v1::CORNER_REASON_NOT_REQUESTED;
    case CornerCause::kNoRoom:
      return v1::CORNER_REASON_NO_ROOM;
    case CornerCause::kTooShort:
      return v1::CORNER_REASON_TOO_SHORT;
    case CornerCause::kBelowMinRadius:
      return v1::CORNER_REASON_BELOW_MIN_RADIUS;
    case CornerCause::kHairpin:
      return v1::CORNER_REASON_HAIRPIN;
    case CornerCause::kLink:
      return v1::CORNER_REASON_LINK;
    case CornerCause::kNotWorth:
      return v1::CORNER_REASON_NOT_WORTH;
    case CornerCause::kWorkBudget:
      return v1::CORNER_REASON_WORK_BUDGET;
  }
  return v1::CORNER_REASON_UNSPECIFIED;
}

v1::SegmentKind EncodeSegmentKind(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::kLine:
      return v1::SEGMENT_KIND_LINE;
    case SegmentKind::kArc:
      return v1::SEGMENT_KIND_ARC;
    case SegmentKind::kCurve:
      return v1::SEGMENT_KIND_CURVE;
    case SegmentKind::kTurn:
      return v1::SEGMENT_KIND_TURN;
    case SegmentKind::kLink:
      return v1::SEGMENT_KIND_LINK;
  }
  return v1::SEGMENT_KIND_UNSPECIFIED;
}

void EncodeCorners(const RoutePlan& plan, const PlanFrame& frame, v1::CornerColumns* out) {
  const auto& corners = plan.corners;
  const WritablePoints points =
      ResizeColumns(out->mutable_position(), corners.size(), frame.up_axis);
  for (size_t i = 0; i < corners.size(); ++i) {
    points.Set(i, corners[i].position + frame.origin.plan, corners[i].height + frame.origin.height);
  }
  FillColumn(corners, out->mutable_portal_index(), [](const auto& c) { return c.portal_index; });
  FillColumn(corners, out->mutable_kind(),
             [](const auto& c) { return EncodeCornerKind(c.action); });
  FillColumn(corners, out->mutable_reason(),
             [](const auto& c) { return EncodeCornerReason(c.cause); });
  FillColumn(corners, out->mutable_turn_angle_rad(), [](const auto& c) { return c.turn_angle; });
  FillColumn(corners, out->mutable_radius(), [](const auto& c) { return c.radius; });
  FillColumn(corners, out->mutable_distance(), [](const auto& c) { return c.distance; });
}

void EncodeSegments(const Route& route, const PlanFrame& frame, v1::SegmentColumns* out) {
  const auto& segments = route.segments;
  const WritablePoints points = ResizeColumns(out->mutable_start(), segments.size(), frame.up_axis);
  size_t cursor = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    const double height =
        route.surface.empty()
            ? 0.0
            : SampleSurface(route.surface, segments[i].start_distance, &cursor).height;
    points.Set(i, segments[i].start + frame.origin.plan, height + frame.origin.height);
  }
  FillColumn(segments, out->mutable_kind(),
             [](const auto& s) { return EncodeSegmentKind(s.kind); });
  FillColumn(segments, out->mutable_start_distance(),
             [](const auto& s) { return s.start_distance; });
  FillColumn(segments, out->mutable_heading_rad(), [](const auto& s) { return s.heading; });
  FillColumn(segments, out->mutable_curvature(), [](const auto& s) { return s.curvature; });
  FillColumn(segments, out->mutable_length(), [](const auto& s) { return s.length; });
  FillColumn(segments, out->mutable_turn_angle_rad(), [](const auto& s) { return s.turn_angle; });
}

void EncodeBraking(const BrakingReport& braking, const PlanFrame& frame, v1::Braking* out) {
  out->set_start_speed(braking.start_speed);
  out->set_stop_distance(braking.stop_distance);
  out->set_available_distance(braking.available_distance);
  out->set_overrun(braking.overrun);
  out->set_speed_at_end(braking.speed_at_end);
  out->set_max_start_speed(braking.max_start_speed);
  JoinPoint({braking.rest_position + frame.origin.plan, braking.rest_height + frame.origin.height},
            frame.up_axis, out->mutable_rest_position());
  out->set_inside_corridor(braking.inside_corridor);
  out->set_heading_error_rad(braking.heading_error);
}

void EncodeUndrivable(const UndrivableCorner& undrivable, v1::Blocked* out) {
  out->set_portal_index(undrivable.portal_index);
  if (undrivable.corner) out->set_corner_index(*undrivable.corner);
  out->set_reason(EncodeCornerReason(undrivable.cause));
  out->set_detail(undrivable.detail);
}

}  // namespace

void EncodeRoute(const RoutePlan& plan, const PlanFrame& frame, v1::Route* out) {
  out->set_outcome(EncodeOutcome(plan.outcome));
  out->set_length(plan.route.length);
  out->set_duration_s(plan.route.duration_s);
  out->set_shortest_length(plan.shortest_length);
  out->set_surface_length(plan.route.surface_length());
  EncodeCorners(plan, frame, out->mutable_corners());
  EncodeSegments(plan.route, frame, out->mutable_segments());
  EncodePhases(plan.route.phases, out->mutable_phases());
  const bool ends =
      plan.outcome == RouteOutcome::kComplete || plan.outcome == RouteOutcome::kPartial;
  if (plan.route.segments.empty() && ends) {
    const auto& surface = plan.route.surface;
    const double height = surface.empty() ? 0.0 : surface.front().height;
    JoinPoint({plan.route.end + frame.origin.plan, height + frame.origin.height}, frame.up_axis,
              out->mutable_point());
  }
  out->set_start_shift(plan.start_shift);
  out->set_goal_shift(plan.goal_shift);
  if (!plan.shortfalls.empty()) {
    v1::ClearanceShortfallColumns* shortfall = out->mutable_clearance_shortfall();
    const auto& items = plan.shortfalls;
    FillColumn(items, shortfall->mutable_start_distance(),
               [](const auto& s) { return s.begin_distance; });
    FillColumn(items, shortfall->mutable_end_distance(),
               [](const auto& s) { return s.end_distance; });
    FillColumn(items, shortfall->mutable_measured(), [](const auto& s) { return s.measured; });
    FillColumn(items, shortfall->mutable_wanted(), [](const auto& s) { return s.wanted; });
  }
  if (plan.braking) EncodeBraking(*plan.braking, frame, out->mutable_braking());
  if (plan.undrivable) EncodeUndrivable(*plan.undrivable, out->mutable_blocked());
  out->mutable_verification()->set_largest_deviation(plan.largest_deviation);
  out->mutable_verification()->set_tolerance(plan.deviation_tolerance);
  out->set_goal_speed_reached(plan.goal_speed_reached);
}

void EncodeCorridor(const Corridor& corridor, const PlanFrame& frame, v1::Route* out) {
  v1::Portals* portals = out->mutable_portals();
  const size_t count = corridor.portals.size();
  const WritablePoints left = ResizeColumns(portals->mutable_left(), count, frame.up_axis);
  const WritablePoints right = ResizeColumns(portals->mutable_right(), count, frame.up_axis);
  for (size_t i = 0; i < count; ++i) {
    const Portal& portal = corridor.portals[i];
    left.Set(i, portal.left + frame.origin.plan, portal.left_height + frame.origin.height);
    right.Set(i, portal.right + frame.origin.plan, portal.right_height + frame.origin.height);
    if (portal.kind == PortalKind::kLinkEntry) portals->add_link_entry(static_cast<uint32_t>(i));
  }
  v1::Polygons* cells = out->mutable_cells();
  const WritablePoints vertices =
      ResizeColumns(cells->mutable_vertices(), corridor.cell_vertices.size(), frame.up_axis);
  for (size_t i = 0; i < corridor.cell_vertices.size(); ++i) {
    vertices.Set(i, corridor.cell_vertices[i] + frame.origin.plan,
                 corridor.cell_heights[i] + frame.origin.height);
  }
  for (size_t k = 0; k < corridor.cell_count(); ++k) {
    cells->add_vertex_count(static_cast<uint32_t>(corridor.cell(k).size()));
  }
}

}  // namespace arclane
