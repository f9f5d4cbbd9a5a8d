// SPDX-License-Identifier: Apache-2.0
// One step of an agent that follows a route: from the route, the follower's state and what the
// game's controller reports, the motion to request next and what to tell the behaviour layer. Pure:
// the same arguments give the same bits; no allocation, no clock. A step costs O(1): the segments,
// portals and speed phases that the step and the look-ahead reach, and the read set.
//
// Positions are in the route's plane frame (the request's origin subtracted).
//
// Progress. The position is projected on the segment that the agent was on and from there on along
// the route, no farther than twice the distance moved: a fast agent passes every segment between,
// and where a route passes a place twice it stays on its branch. A segment that ends in a stop is
// left only when the agent is within both tolerances of the stop (distance and speed).
//
// Speed. min(speed ceilings of the route within the step, stopping law to the next stop,
// avoidance's cap, acceleration), but never below what full braking reaches within the step. Where
// that is still too fast, the agent brakes fully and kCannotStopInTime tells by how far; the
// reported speed is never replaced by a wished one.
//
// Direction. The preferred velocity aims at the route's point one step ahead (aiming far ahead
// would cut curves by R (1 - cos(L / R))), so that an agent on the route lands on it. An agent
// beside it by e aims at the point where the step of length m meets the route, sqrt(m^2 - e^2)
// ahead, but at least kReturnSlope * e ahead. Where a straight step would cut the wall's corner
// that an arc touches, it passes that corner instead; the agent is then outside of the arc by at
// most the height of the step's chord, m^2 / (8 R), until the next step.
#ifndef ARCLANE_SERVER_PLANNING_FOLLOW_FOLLOW_STEP_H_
#define ARCLANE_SERVER_PLANNING_FOLLOW_FOLLOW_STEP_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "server/planning/follow/follow_route.h"
#include "server/planning/follow/stopping_law.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// What stood in the way of the last step's motion, as the controller reports it.
enum class Collision : uint8_t { kNone, kStatic, kMoving };

// The state of one entry of the route's read set now, against when the route was planned.
enum class DependencyState : uint8_t {
  kCurrent,
  kGateClosed,
  kLinkDisabled,
  kTileReplaced,
  kAreaCostChanged,  // The route is still right, but perhaps no longer the best.
};

enum class FollowStatus : uint8_t {
  kFollowing,
  kTurning,           // At rest, turning in place.
  kArrived,           // At the goal.
  kArrivedPartial,    // At the end of a route that does not reach the goal.
  kStale,             // The route ahead is no longer valid: braking, or at rest.
  kCannotStopInTime,  // Too fast for what lies ahead (a stop, a lower limit, or the portal that
                      // made the route stale): braking fully; see `overrun`.
  kOffRoute,          // Too far from the route: braking, or at rest; see `deviation`.
  kWaiting,           // No progress because of a moving obstacle.
  kBlocked,           // No progress.
  kCancelled,         // Braking, or at rest.
  kBadInput,          // See `fault`; the state is unchanged.
};

enum class FollowFault : uint8_t {
  kNone,
  kTimeStep,      // dt is not in (0, max_dt].
  kTime,          // The time is before that of the last step, or not a number.
  kNotFinite,     // Position, velocity, heading or displacement; or avoidance's cap is not >= 0.
  kOtherVersion,  // The state belongs to another version of the route.
};

struct FollowerOptions {
  Integrator integrator = Integrator::kHold;
  // > 0: longer steps are refused.
  double max_dt = 1.0;
  // In [1, 2]: how many times dt a step may really last; see stopping_law.h.
  double longest_step = 1.0;
  // Of the visible target: how far ahead along the route, in seconds of the agent's speed and at
  // least as a distance. >= 0.
  double look_ahead_s = 1.0;
  double look_ahead_distance = 0.0;
  // Deviation above which the agent is off the route; > 0. 0: the largest of two radii, ten arrival
  // tolerances and the braking distance from the highest speed.
  double off_route_distance = 0.0;
  // Of the body's rotation, radians a second squared; > 0, infinite: it stops turning at once.
  double angular_braking = std::numeric_limits<double>::infinity();
  // Blocked: over this window, seconds, the agent makes less than this fraction of the way that was
  // requested.
  double blocked_window_s = 0.5;
  double blocked_fraction = 0.2;
  // A moving obstacle is waited for as long before the agent counts as blocked, seconds; infinite:
  // for ever; 0: not at all.
  double moving_obstacle_patience_s = 5.0;
  // An agent that brakes at the goal, or has arrived, drives again when it is farther from the goal
  // than this many tolerances; >= 1. Below that, noise of the position would start it again.
  double release_factor = 4.0;
  // kCannotStopInTime is told for as long after the last step in which it was so, seconds; >= 0.
  // Noise would make it flicker otherwise. What the agent does does not depend on it.
  double too_fast_hold_s = 0.25;
};

struct FollowReport {
  double time_s = 0.0;  // Of the game; never decreasing.
  double dt = 0.0;      // Of the step to come, seconds.
  Vec2 position;
  Vec2 velocity;
  double heading = 0.0;  // Of the body, radians.
  Vec2 displacement;     // Really made in the last step.
  Collision collision = Collision::kNone;
};

// What local avoidance found for the step.
struct Avoidance {
  double max_speed = std::numeric_limits<double>::infinity();  // >= 0.
  // Positions that the step may reach.
  std::span<const HalfPlane> half_planes;
  bool has_solution = true;  // False: the agent brakes.
};

struct FollowInput {
  FollowReport report;
  // One for each of the route's dependencies, in their order; empty: all current.
  std::span<const DependencyState> read_set;
  Avoidance avoidance;
  bool cancel = false;       // Brake, and stay.
  bool feed_silent = false;  // The read set is too old to be trusted: brake until it is not.
};

// What an agent remembers between steps. Flat, copied freely. Made by StartFollowing.
struct FollowerState {
  uint64_t route_version = 0;
  double time_s = 0.0;
  double offset = 0.0;  // On the segment.
  Vec2 position;        // As reported last.
  Vec2 command;         // The velocity requested last.
  // The window of the test for blocking.
  double window_s = 0.0;
  double window_requested = 0.0;
  double window_made = 0.0;
  double settle_time_s = 0.0;  // Near a stop: when it stops trying to land on it.
  double blocked_s = 0.0;      // Blocked by moving obstacles for so long.
  // Until when kCannotStopInTime is told, and its overrun.
  double too_fast_until_s = -std::numeric_limits<double>::infinity();
  double overrun = 0.0;
  uint32_t segment = 0;
  uint32_t ceiling = 0;
  uint32_t cell = 0;
  uint32_t corner = 0;
  uint32_t portal = 0;
  uint32_t stale_dependency = 0;
  DependencyState stale = DependencyState::kCurrent;
  bool driving = false;    // The heading was right since the last stop.
  bool near_stop = false;  // Within the distance tolerance of a stop that is not the goal.
  bool settling = false;   // It brakes where it is, to rest at a stop or the goal.
  bool arrived = false;
  bool cancelled = false;
  bool blocked = false;
};

inline constexpr size_t kMaxStepHalfPlanes = 32;

struct MotionRequest {
  FollowStatus status = FollowStatus::kBadInput;
  FollowFault fault = FollowFault::kNone;
  // A replan is wanted because the route cannot be driven on (stale, off route, partial, blocked);
  // a requery because a better one may exist.
  bool replan = false;
  bool requery = false;
  // The request keeps every limit within this step: of braking, of avoidance, of the corridor.
  bool feasible = false;
  // Something on the remaining read set changed, or its feed is silent (`changed` is then
  // kCurrent).
  bool stale = false;

  Vec2 preferred_velocity;
  double speed = 0.0;          // Its magnitude as chosen.
  double heading = 0.0;        // Of the body at the end of the step, radians in (-pi, pi].
  double angular_speed = 0.0;  // Radians a second, positive to the left.
  Vec2 target;                 // Visible from the agent, for animation and avoidance.

  double distance = 0.0;   // Along the route.
  double deviation = 0.0;  // From the route.
  double distance_to_stop = 0.0;
  double overrun = 0.0;  // kCannotStopInTime and kStale: how far behind the stop, or the closed
                         // portal, it comes to rest; 0: before it. While kCannotStopInTime is
                         // only held (FollowerOptions::too_fast_hold_s), that of before.
  Vec2 rest_position;    // Where it comes to rest on the route when it brakes fully from now on.

  uint32_t segment = 0;  // Of the route as planned.
  uint32_t corner = 0;   // The next corner of the route; their number: none.
  uint32_t portal = 0;   // The next portal along the route; their number: none.
  uint64_t route_version = 0;
  // kStale and requery: what changed.
  DependencyState changed = DependencyState::kCurrent;
  uint32_t changed_dependency = 0;
  Collision collision = Collision::kNone;  // kWaiting, kBlocked.

  // The agent lies in the corridor (a cell that it can have reached); without, no half-planes.
  bool inside_corridor = false;
  // Half-planes of a convex set that contains the agent, and the step that is asked for (one step
  // late: the step to come) unless `feasible` is false, and lies in the corridor as far as that is
  // still valid. No point of it lies farther behind a wall than the agent or the step's end does,
  // but for FollowRoute::plane_roundoff. In a cell of more than kMaxStepHalfPlanes edges an agent
  // that lies outside by more than that is not contained. `cell_planes` borrows from the route when
  // the step stays within one cell.
  uint32_t half_plane_count = 0;
  const HalfPlane* cell_planes = nullptr;
  std::array<HalfPlane, kMaxStepHalfPlanes> step_planes;

  std::span<const HalfPlane> half_planes() const {
    return {cell_planes != nullptr ? cell_planes : step_planes.data(), half_plane_count};
  }
};

// An agent beside the route aims at least so many deviations ahead.
inline constexpr double kReturnSlope = 2.0;

// The state of an agent at `distance` along the route, clamped to it: 0 for one at its start, what
// MotionRequest::distance said last for one that goes on. The agent may have moved since: it is
// projected from there on as by a step, never past a stop.
FollowerState StartFollowing(const FollowRoute& route, double time_s, Vec2 position,
                             double distance = 0.0);

// Steps the state; see above. Preconditions: valid options, a state of StartFollowing or of an
// earlier step. `read_set` is empty or has one entry for each dependency.
void FollowStep(const FollowRoute& route, const FollowerOptions& options, const FollowInput& input,
                FollowerState& state, MotionRequest& request);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_FOLLOW_FOLLOW_STEP_H_
