// SPDX-License-Identifier: Apache-2.0
// An independent judge of driven paths: it shares no code with the planner but Vec2 and the plain
// data types. Lines and arcs are rebuilt from start, direction, curvature and length in long
// double, cut at all intersections with the cells' edges, and tested by mid-points; the pieces must
// form a chain of cells in corridor order.
#ifndef ARCLANE_TESTS_UNIT_PLANNING_ROUTE_PATH_JUDGE_H_
#define ARCLANE_TESTS_UNIT_PLANNING_ROUTE_PATH_JUDGE_H_

#include <string>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/rounding/driven_path.h"
#include "server/planning/rounding/round_corners.h"

namespace arclane::testing {

// Empty when the path is contained in the chain of cells widened by `tolerance`; else what is
// wrong.
std::string JudgeContainment(const Corridor& corridor, const std::vector<PathElement>& elements,
                             double tolerance);

// Empty when the path runs from start to goal without gaps above `gap` and without kinks above
// `kink_rad` other than at turns; also lines and arcs have finite positive lengths and radii of at
// least radius_min.
std::string JudgeSmoothness(Vec2 start, Vec2 goal, const std::vector<PathElement>& elements,
                            double radius_min, double gap, double kink_rad);

// The least time of the path by a dense two-pass integration of its own closed pieces: caps
// sqrt(lateral * radius), rest at turns.
double JudgeTime(const std::vector<PathElement>& elements, const DrivingLimits& limits);

// The smallest distance between the path, sampled every `spacing`, and the segment a-b.
double JudgeDistance(const std::vector<PathElement>& elements, Vec2 a, Vec2 b, double spacing);

}  // namespace arclane::testing

#endif  // ARCLANE_TESTS_UNIT_PLANNING_ROUTE_PATH_JUDGE_H_
