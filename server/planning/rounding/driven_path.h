// SPDX-License-Identifier: Apache-2.0
// A path that can be driven: lines and arcs that touch smoothly, with turns in place where the
// agent must stop, and what became of every corner of the taut path it was made from.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_DRIVEN_PATH_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_DRIVEN_PATH_H_

#include <cstdint>
#include <vector>

#include "server/planning/geometry/vec2.h"

namespace arclane {

enum class PathElementKind : uint8_t {
  kLine,
  kArc,
  kTurn,  // The agent rests at `start` and turns in place by `turn_rad`; length 0.
};

// One element. Elements join without a gap: the end of one is the start of the next to within a few
// units in the last place of the largest coordinate or radius. Headings join within 1e-9 rad except
// at a kTurn and at kinks not larger than the agent's corner_angle_min_rad, which are driven
// through.
struct PathElement {
  PathElementKind kind = PathElementKind::kLine;
  Vec2 start;
  Vec2 direction;          // Unit tangent at the start; for kTurn before the turn.
  double curvature = 0.0;  // Signed, positive to the left; 0 for lines and turns.
  double length = 0.0;     // Arc length, >= 0.
  double turn_rad = 0.0;  // kArc: curvature * length (may exceed pi); kTurn: the turn in (-pi, pi].
  uint32_t cell =
      0;  // A cell of the corridor that holds the start and is reached in corridor order.
};

// The point of a line or arc at distance s from its start, 0 <= s <= length.
Vec2 PointAt(const PathElement& element, double s);
// The unit tangent there. A kTurn gives the direction after the turn.
Vec2 DirectionAt(const PathElement& element, double s);

enum class CornerKind : uint8_t {
  kRounded,        // Driven by an arc of its own.
  kMerged,         // Driven by an arc that turns for other corners too, or passed on a line.
  kDrivenThrough,  // Turns by no more than corner_angle_min_rad.
  kStopped,        // The agent stops and turns in place.
};

enum class StopReason : uint8_t {
  kNone,           // Not a stop, or a stop that was asked for by radius 0.
  kNoRoom,         // No arc, however small, was found that stays inside the corridor.
  kTooShort,       // The lines beside the corner are too short for the trims of an arc.
  kMinimumRadius,  // An arc would fit, but only below the agent's minimum radius.
  kHairpin,        // The path turns straight back: no arc touches both lines.
  kSlower,         // Least time: stopping was faster than every arc that fits.
  kWorkBudget,     // The work budget ended before the corner was looked at closely enough.
  kExtraLength,    // Arcs fit, but only beyond the allowed extra length.
};

struct CornerOutcome {
  uint32_t corner = 0;    // Index of the point in the taut path or polyline.
  Vec2 position;          // That point.
  double turn_rad = 0.0;  // The turn of the taut path there.
  CornerKind kind = CornerKind::kRounded;
  StopReason reason = StopReason::kNone;  // Set for kStopped only.
  double radius = 0.0;            // Of the arc that drives the corner; 0 for stops and lines.
  double radius_that_fits = 0.0;  // kStopped: the largest radius found to fit, 0 if none.
};

// Why a tried arc was not taken.
enum class RejectionReason : uint8_t { kLeavesCorridor, kTooShort, kExtraLength, kSlower };

// A tried and rejected arc, for pictures: the circle and the stretch that was tried.
struct RejectedArc {
  uint32_t corner = 0;
  Vec2 center;
  double radius = 0.0;
  double turn_rad = 0.0;
  RejectionReason reason = RejectionReason::kLeavesCorridor;
};

enum class RoundingStatus : uint8_t {
  kOk,
  // The agent cannot turn in place and at least one corner is a stop: `corners` names them. The
  // path is given all the same, with its turns, for pictures; it must not be driven.
  kNeedsMotionPlanning,
  // The caller's stop check said so: there is no path.
  kStopped,
};

struct DrivenPath {
  RoundingStatus status = RoundingStatus::kOk;
  std::vector<PathElement> elements;
  std::vector<CornerOutcome> corners;
  std::vector<RejectedArc> rejected;  // Empty unless asked for.
  double length = 0.0;
  double extra_length =
      0.0;              // length less that of the taut path; may be negative by rounding only.
  double time_s = 0.0;  // By the time model the planner was given.
  double time_stopping_s = 0.0;  // The same model when stopping at every corner of the taut path.
  uint32_t stop_count = 0;
  uint64_t work_used = 0;  // In the units of RoundingOptions::work_budget.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_DRIVEN_PATH_H_
