// SPDX-License-Identifier: Apache-2.0
// The motions of many agents, written into the columns of one answer.
#ifndef ARCLANE_SERVER_PIPELINE_FOLLOW_MOTIONS_H_
#define ARCLANE_SERVER_PIPELINE_FOLLOW_MOTIONS_H_

#include <cstddef>
#include <cstdint>

#include "arclane/v1/follow.pb.h"
#include "server/codec/frame_codec.h"
#include "server/planning/follow/follow_step.h"

namespace arclane {

v1::ChangeKind ChangeOf(DependencyState state);

// Sizes all columns once and writes row after row in place; every row must be written.
class MotionWriter {
 public:
  MotionWriter(size_t rows, bool with_half_planes, v1::MotionColumns* out);

  void Write(size_t row, uint64_t agent_id, const MotionRequest& motion, const PlanFrame& frame);
  void SetFault(size_t row, v1::FollowFault fault) { fault_[row] = fault; }

 private:
  struct Points {
    double* x;
    double* y;
    double* z;
  };
  static Points NewPoints(v1::PointColumns* columns, size_t rows);
  static void Put(const Points& points, size_t row, Vec2 plan, UpAxis up) {
    points.x[row] = up == UpAxis::kX ? 0.0 : plan.x;
    points.y[row] = up == UpAxis::kX ? plan.x : up == UpAxis::kY ? 0.0 : plan.y;
    points.z[row] = up == UpAxis::kZ ? 0.0 : plan.y;
  }

  v1::MotionColumns* out_;
  bool with_half_planes_;
  uint64_t* agent_id_;
  int* status_;
  int* fault_;
  Points velocity_, target_;
  double *speed_, *heading_, *angular_speed_, *distance_, *deviation_, *to_stop_, *overrun_;
  uint32_t *segment_, *corner_, *portal_;
  bool *feasible_, *replan_, *requery_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_FOLLOW_MOTIONS_H_
