// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/follow_motions.h"

#include "server/codec/columns.h"

namespace arclane {
namespace {

// The enums of the interface list the follower's values in their order, behind UNSPECIFIED (faults
// have their "none" there).
int StatusValue(FollowStatus status) { return static_cast<int>(status) + 1; }
static_assert(static_cast<int>(FollowStatus::kBadInput) + 1 == v1::FOLLOW_STATUS_BAD_INPUT);
static_assert(static_cast<int>(FollowFault::kOtherVersion) == v1::FOLLOW_FAULT_OTHER_VERSION);
static_assert(static_cast<int>(Collision::kMoving) == v1::COLLISION_REASON_MOVING);

void AddPoint(v1::PointColumns* points, Vec2 plan, UpAxis up) {
  const double zero = 0.0;
  points->add_x(up == UpAxis::kX ? zero : plan.x);
  points->add_y(up == UpAxis::kX ? plan.x : up == UpAxis::kY ? zero : plan.y);
  points->add_z(up == UpAxis::kZ ? zero : plan.y);
}

}  // namespace

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

MotionWriter::Points MotionWriter::NewPoints(v1::PointColumns* columns, size_t rows) {
  return {NewColumn(columns->mutable_x(), rows).data(),
          NewColumn(columns->mutable_y(), rows).data(),
          NewColumn(columns->mutable_z(), rows).data()};
}

MotionWriter::MotionWriter(size_t rows, bool with_half_planes, v1::MotionColumns* out)
    : out_(out),
      with_half_planes_(with_half_planes),
      agent_id_(NewColumn(out->mutable_agent_id(), rows).data()),
      status_(NewColumn(out->mutable_status(), rows).data()),
      fault_(NewColumn(out->mutable_fault(), rows).data()),
      velocity_(NewPoints(out->mutable_velocity(), rows)),
      target_(NewPoints(out->mutable_target(), rows)),
      speed_(NewColumn(out->mutable_speed(), rows).data()),
      heading_(NewColumn(out->mutable_heading_rad(), rows).data()),
      angular_speed_(NewColumn(out->mutable_angular_speed(), rows).data()),
      distance_(NewColumn(out->mutable_distance(), rows).data()),
      deviation_(NewColumn(out->mutable_deviation(), rows).data()),
      to_stop_(NewColumn(out->mutable_distance_to_stop(), rows).data()),
      overrun_(NewColumn(out->mutable_overrun(), rows).data()),
      segment_(NewColumn(out->mutable_segment_index(), rows).data()),
      corner_(NewColumn(out->mutable_corner_index(), rows).data()),
      portal_(NewColumn(out->mutable_portal_index(), rows).data()),
      feasible_(NewColumn(out->mutable_feasible(), rows).data()),
      replan_(NewColumn(out->mutable_replan(), rows).data()),
      requery_(NewColumn(out->mutable_requery(), rows).data()) {}

void MotionWriter::Write(size_t row, uint64_t agent_id, const MotionRequest& motion,
                         const PlanFrame& frame) {
  agent_id_[row] = agent_id;
  status_[row] = StatusValue(motion.status);
  fault_[row] = static_cast<int>(motion.fault);
  Put(velocity_, row, motion.preferred_velocity, frame.up_axis);
  Put(target_, row, motion.target + frame.origin.plan, frame.up_axis);
  speed_[row] = motion.speed;
  heading_[row] = motion.heading;
  angular_speed_[row] = motion.angular_speed;
  distance_[row] = motion.distance;
  deviation_[row] = motion.deviation;
  to_stop_[row] = motion.distance_to_stop;
  overrun_[row] = motion.overrun;
  segment_[row] = motion.segment;
  corner_[row] = motion.corner;
  portal_[row] = motion.portal;
  feasible_[row] = motion.feasible;
  replan_[row] = motion.replan;
  requery_[row] = motion.requery;
  if (!with_half_planes_) return;
  out_->add_half_plane_count(motion.half_plane_count);
  for (const HalfPlane& plane : motion.half_planes()) {
    AddPoint(out_->mutable_half_planes()->mutable_normal(), plane.normal, frame.up_axis);
    out_->mutable_half_planes()->add_offset(plane.offset + Dot(plane.normal, frame.origin.plan));
  }
}

}  // namespace arclane
