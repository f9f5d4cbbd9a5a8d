// SPDX-License-Identifier: Apache-2.0
// The exact minimum-time speed plan over lines and circular arcs.
//
// Model: x = v^2, dx/ds = 2 a_t, the limits of speed_limits.h, v(0) and v(L) given exactly, rest at
// every stop. At a boundary both neighbours' speed caps hold. A backward pass under the braking
// limit gives the largest speed from which every later cap can still be met; a forward pass under
// the acceleration limit below it is the optimum (Bobrow, Dubowsky, Gibson 1985; the set of
// admissible speeds has no holes here, since a_t = 0 is admissible below every cap of a piece of
// constant curvature). All laws are closed forms; on an arc of radius R under a coupled budget A, x
// = R A sin(phi0 + 2 s / R).
//
// Reaction. With reaction_time_s = tr > 0 an agent must hold its speed for tr before every *braking
// run*: a maximal stretch of falling speed, which may span pieces (the hold may span pieces too).
// An agent that is free at s may go no faster than v with v^2 <= B(sigma) for all sigma in [s, s +
// v tr], B being the braking curve of the backward pass. It accelerates until that binds, holds,
// and brakes along B. Where a cap ends a run but the stretch at the cap is too short for the next
// hold, the run goes on at full braking to a speed that can be held for tr (the brief plateau is
// given up). The plan is optimal where no plateau between two braking runs is shorter than its
// hold; it is always feasible. tr = 0 takes the plain path and gives the same bits.
//
// Cost: linear in the pieces (with reaction: plus the pieces inside each look-ahead). No allocation
// once the workspace and the plan have grown to the problem's size. Thread-safe: no shared state.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_SPEED_PLAN_H_
#define ARCLANE_SERVER_PLANNING_SPEED_SPEED_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "server/planning/speed/speed_limits.h"
#include "server/planning/speed/speed_phase.h"

namespace arclane {

inline constexpr double kStraight = std::numeric_limits<double>::infinity();

struct SpeedPiece {
  double length = 0.0;  // >= 0, finite; pieces of length 0 are skipped and have no effect
  double radius =
      kStraight;  // > 0; kStraight: a line. Speed does not depend on the side of the turn.
};

// The agent comes to rest in front of piece `boundary` (0: before the first, pieces.size(): after
// the last) and stays for dwell_s >= 0 seconds.
struct SpeedStop {
  std::size_t boundary = 0;
  double dwell_s = 0.0;
};

struct SpeedPlanRequest {
  std::span<const SpeedPiece> pieces;
  SpeedLimits limits;
  double start_speed = 0.0;          // >= 0, finite
  double end_speed = 0.0;            // >= 0, finite
  std::span<const SpeedStop> stops;  // strictly ascending boundaries
};

// Tested in this order: kInvalidArgument; kInfeasibleEnd when end_speed is above the last cap;
// kInfeasibleStart; kInfeasibleEnd when end_speed cannot be reached by acceleration; kOk.
// The last two come of plans along curves only: a limit of the caller's on their size, and the
// caller's wish to give up.
enum class SpeedPlanStatus {
  kOk,
  kInvalidArgument,
  kInfeasibleStart,
  kInfeasibleEnd,
  kTooManyPhases,
  kStopped,
};

// What full braking from the start would do, caps ignored: the speed is held for the reaction time,
// then falls at max_braking (at most the total budget).
struct BrakeNow {
  double stop_distance = 0.0;  // from the start to rest
  double overrun = 0.0;        // how far that lies beyond the path's end; 0 if it does not
  double speed_at_end = 0.0;   // speed where the path ends; 0 if at rest before
};

// What is wrong with a start speed whose stopping distance is infinite: it is an invalid argument.
inline constexpr char kBrakesBeyondDouble[] =
    "from this speed the way to rest is longer than a double can hold";

// `length` of path lies ahead; `braking` is the magnitude. The distances may be infinite.
BrakeNow BrakeFrom(double speed, double length, double reaction_s, double braking);

// The columns below list only pieces of positive length, in order; piece_index names them in the
// caller's list.
struct SpeedPlan {
  SpeedPlanStatus status = SpeedPlanStatus::kInvalidArgument;
  std::vector<SpeedViolation> violations;  // kInvalidArgument: all of them
  double start_speed_max = 0.0;  // kInfeasibleStart: the largest start speed that is feasible
  BrakeNow brake_now;            // kInfeasibleStart
  double end_speed_max = 0.0;    // kInfeasibleEnd: the largest end speed that is feasible

  // kOk only (empty or 0 otherwise):
  double length = 0.0;
  double duration_s = 0.0;                 // dwells included
  std::vector<std::uint32_t> piece_index;  // n
  std::vector<double> boundary_speed;  // n + 1; the first and last are the request's, bit for bit
  std::vector<double> peak_speed;      // n: largest speed inside the piece
  std::vector<double>
      brake_start_distance;  // n: distance along the path where braking starts; NaN: it does not
  std::vector<double> piece_time_s;  // n: without dwells
  std::vector<SpeedPhase> phases;    // in order; start distances and times ascend
};

// The pieces of positive length as columns. Scratch of the planner.
template <typename Real>
struct SpeedColumns {
  std::vector<Real> cap;       // squared speed caps of the pieces
  std::vector<Real> length;    // lengths of the pieces
  std::vector<Real> radius;    // radii of the pieces, infinite where no grip circle binds
  std::vector<Real> start;     // start distances of the pieces
  std::vector<Real> backward;  // squared speeds at boundaries, backward pass
  std::vector<Real> forward;   // squared speeds at boundaries, forward pass
  std::vector<double> dwell;   // dwell at boundaries; negative: no stop
  std::vector<std::uint32_t> index;
  std::vector<std::uint32_t> minima;
};

// Scratch memory of the planner. Reuse one per thread; its content means nothing between calls.
struct SpeedWorkspace {
  SpeedColumns<double> columns;
  SpeedColumns<long double> extreme;  // for numbers that double's range cannot hold squared
};

// Plans; every outcome is in plan.status. Time and speeds are accurate to about 1e-14 relative
// (1e-12 on grip circles). A start or end speed above its bound by less than kSpeedRoundoff
// relative counts as feasible.
void PlanSpeed(const SpeedPlanRequest& request, SpeedWorkspace& workspace, SpeedPlan& plan);

// Relative difference in v^2 that is put down to rounding when feasibility is decided: bounds are
// sums of a few products, each rounded to 1.1e-16, and callers derive end speeds from the same
// limits by their own formulas.
inline constexpr double kSpeedRoundoff = 1e-12;

// The duration alone, for optimisers: budget modes kIndependent and kReserved, no stops,
// reaction_time_s ignored. Returns infinity when the start or end speed is infeasible.
// Preconditions (unchecked): valid limits, lengths >= 0, radii > 0. Equal to PlanSpeed's duration_s
// to 1e-13 relative. Scratch grows only when pieces.size() does.
double TravelTime(std::span<const SpeedPiece> pieces, const SpeedLimits& limits, double start_speed,
                  double end_speed, SpeedWorkspace& workspace);

// Full braking from the real start speed, for an agent whose start is infeasible (allowed for any
// start): the speed is held for the reaction time, then falls at max_braking (at most the total
// budget) until rest or until the path ends. Caps of pieces and stops are ignored: the plan never
// pretends a lower speed. Phases are cut at piece boundaries; boundary_speed and the other columns
// are filled up to the last piece that is entered.
struct FullBrakePlan {
  std::vector<SpeedPhase> phases;
  BrakeNow outcome;
  double rest_distance =
      0.0;                  // where the agent rests, or the path's end when it does not rest before
  double duration_s = 0.0;  // until then
};
// Preconditions: as validated by PlanSpeed (a plan with kInfeasibleStart has passed them).
void PlanFullBrake(std::span<const SpeedPiece> pieces, const SpeedLimits& limits,
                   double start_speed, FullBrakePlan& plan);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_SPEED_PLAN_H_
