// SPDX-License-Identifier: Apache-2.0
// One step of a follower, its stages in order, with what they share. Internal to the follower.
//
// progress (follow_progress.cc) -> read set and blocking (follow_outcome.cc) -> cell -> speed
// (follow_speed.cc) -> turning, aim, half-planes, look-ahead (follow_direction.cc) -> what to tell
#ifndef ARCLANE_SERVER_PLANNING_FOLLOW_FOLLOW_STEP_RUN_H_
#define ARCLANE_SERVER_PLANNING_FOLLOW_FOLLOW_STEP_RUN_H_

#include <cstddef>
#include <cstdint>

#include "server/planning/follow/follow_route.h"
#include "server/planning/follow/follow_step.h"
#include "server/planning/follow/route_cursor.h"
#include "server/planning/follow/speed_ceiling.h"
#include "server/planning/follow/stopping_law.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/speed/speed_limits.h"

namespace arclane {

class FollowStepRun {
 public:
  FollowStepRun(const FollowRoute& route, const FollowerOptions& options, const FollowInput& input,
                FollowerState& state, MotionRequest& request)
      : route_(route),
        options_(options),
        in_(input),
        report_(input.report),
        limits_(route.agent.profile.limits),
        state_(state),
        out_(request) {}

  void Run();

 private:
  // The frame of the step.
  void Reset();
  FollowFault Check() const;
  void RunWithoutWay();
  void Remember();

  // Where the agent is.
  void ReadProgress();
  void JudgeArrival();
  bool MayLeave(double distance);
  size_t CellNear(size_t near, Vec2 p) const;
  size_t CellBeside(size_t from, size_t to, Vec2 p) const;
  size_t CellOfAgent(Vec2 p, double distance, size_t near, bool* inside) const;
  void FindCell();

  // What has changed, and what to tell.
  void ReadReadSet();
  void ReadChanges();
  void JudgeBlocking();
  void Tell();
  bool JudgeTooFast();
  FollowStatus Status(bool too_fast);

  // How fast.
  double Budgeted(double acceleration) const;
  double StopLimit(const StoppingStep<double>& step) const;
  StepStretch Stretch(double longest_dt) const;
  void ChooseSpeed();
  double Overrun(double available) const;

  // Where to, and how far that is free.
  void Turn();
  size_t CellOf(double distance, Vec2 p, size_t from) const;
  bool Closed(size_t portal) const;
  void Aim();
  bool LiesBefore(size_t portal, Vec2 p) const;
  Vec2 SeenInCell(size_t cell, Vec2 from, Vec2 to) const;
  void ObeyAvoidance();
  void Shorten(double fraction);
  Vec2 StepToCome() const;
  bool IsJoined(size_t portal) const;
  size_t CellHolding(Vec2 p) const;
  size_t CellOfLine(size_t cell, size_t last, Vec2* end) const;
  bool StepsBack(size_t cell, Vec2 end) const;
  bool WriteCellOfStep(Vec2 base);
  void WriteHalfPlanes(size_t aim_cell, size_t last, Vec2 base);
  size_t BestCell(size_t cell, size_t to, Vec2 end) const;
  void WriteCell(size_t cell);
  void ObeyHalfPlanes();
  void LookAhead();

  double rest_roundoff() const { return kArrivalRoundings * route_.roundoff; }
  bool SlowEnough() const {
    return acting_ <= route_.agent.corner_speed_tolerance || acting_ * dt_ <= rest_roundoff();
  }
  FollowStatus ArrivedStatus() const {
    return route_.is_partial ? FollowStatus::kArrivedPartial : FollowStatus::kArrived;
  }
  static bool Invalidates(DependencyState state) {
    return state != DependencyState::kCurrent && state != DependencyState::kAreaCostChanged;
  }
  bool Near(double distance, bool was_near) const {
    return distance <= (was_near ? options_.release_factor : 1.0) * route_.arrival_tolerance;
  }

  const FollowRoute& route_;
  const FollowerOptions& options_;
  const FollowInput& in_;
  const FollowReport& report_;
  const SpeedLimits& limits_;
  FollowerState& state_;
  MotionRequest& out_;

  RouteCursor at_;
  double dt_ = 0.0;
  double acting_ = 0.0;  // The speed that acts until the command does.
  double moved_ = 0.0;
  double deviation_ = 0.0;
  double distance_ = 0.0;    // Along the route.
  double stop_along_ = 0.0;  // To the next stop, along the route.
  double to_stop_ = 0.0;
  double floor_ = 0.0;  // What full braking reaches.
  double speed_ = 0.0;
  Vec2 seen_;
  bool leg_begins_ = false;
  bool brakes_ = false;
  bool off_route_ = false;
  bool turns_ = false;
  bool closed_ = false;  // Some dependency is not current.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_FOLLOW_FOLLOW_STEP_RUN_H_
