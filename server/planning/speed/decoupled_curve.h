// SPDX-License-Identifier: Apache-2.0
// The plan along piecewise linear curvature whose acceleration limits do not depend on the speed,
// without stops and prescribed speeds: the common case, almost free of branches. Internal to the
// speed planner.
//
// Over one interval, braking takes the largest squared speed x1 at its end to min(C, x1 + 2 b l) at
// its start: each smooth part of the cap does so (lateral_cap_curve.h), and a chain of such maps is
// one again. C is the cap at the start but on a *corner*: an interval in which two caps meet, or in
// which the cap's slope passes 2 b or 2 a. So both passes are chains of one addition and one
// minimum. Where both ends lie on the cap the whole interval follows it; where they differ by all
// that a limit allows the whole interval is one motion. Times and laws of these are computed for
// blocks of intervals in columns; only the rest, where the motion changes, takes the general code.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_DECOUPLED_CURVE_H_
#define ARCLANE_SERVER_PLANNING_SPEED_DECOUPLED_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/planning/speed/cap_segments.h"
#include "server/planning/speed/curve_phase_writer.h"
#include "server/planning/speed/piece_motion.h"
#include "server/planning/speed/speed_phase.h"

namespace arclane {

// An interval whose cap is not one that is followed, or never touched, all along.
struct CapCorner {
  std::size_t interval = 0;       // in driving order
  std::size_t first_segment = 0;  // its segments, up to those of the next corner
  double largest_start = 0.0;     // squared speeds at its ends from, or to, which the cap lets
  double largest_end = 0.0;       // brake, or accelerate
};

// Scratch memory: columns over the curve in driving order.
struct DecoupledCurveScratch {
  std::vector<double> length;  // of the intervals
  std::vector<double> cap;     // squared speed caps at the nodes
  std::vector<double> bound;   // largest squared speeds at the nodes
  std::vector<double> speed;   // at the nodes
  // Of the intervals: the squared speed from which on the cap is followed, infinite where it cannot
  // be; the law 1 / (k + change d / length) of the cap where it can be, 0 where that is level.
  std::vector<double> follow_from;
  std::vector<double> k;
  std::vector<double> change;
  std::vector<CapCorner> corners;
  std::vector<CapSegment<double>> segments;
  std::vector<SpeedPhase> phases;  // of one interval
};

// Fills the columns, bound[j] being the largest squared speed at node j from which everything ahead
// can be met. Preconditions of both functions: no stops, no speed caps; numbers in the range for
// curves of numeric_range.h.
void PassBackwardDecoupledCurve(const CurveOrder& order, double x_end, const MotionBudget& budget,
                                DecoupledCurveScratch& scratch);

struct DecoupledCurveEnd {
  double x = 0.0;  // squared speed reached
  double time_s = 0.0;
};

// Drives forward below `bound` and writes node speeds (driving order) and phases, which overwrite
// what `phases` has. node_speed has room for all nodes.
DecoupledCurveEnd WriteDecoupledCurve(const CurveOrder& order, double v_start,
                                      const MotionBudget& budget, DecoupledCurveScratch& scratch,
                                      std::vector<double>& node_speed,
                                      std::vector<SpeedPhase>& phases);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_DECOUPLED_CURVE_H_
