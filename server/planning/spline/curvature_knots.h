// SPDX-License-Identifier: Apache-2.0
// The curvature of a curve as a piecewise linear function of arc length, refined until it holds a
// tolerance, with the places where the direction jumps. This is what a speed planner needs of a
// curve.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_CURVATURE_KNOTS_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_CURVATURE_KNOTS_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "server/planning/spline/arc_length.h"

namespace arclane {

struct CurvatureOptions {
  // |linear(s) - kappa(s)| <= relative_tolerance * |kappa(s)| + absolute_tolerance / length,
  // checked at 3 to 15 even steps inside every interval, or the interval is shorter than 1e-9 of
  // the length. Beside a cusp curvature grows without bound, and radii below 1e-12 of the length
  // are too small for distances to resolve; there it is cut off at 1e-9.
  double relative_tolerance = 1e-4;
  double absolute_tolerance = 1e-3;
  // A jump of direction beyond this is a stop: at a joint, or where the speed vanishes. However
  // tight, a smooth bend is none, unless its tip is slow and of a radius that cannot be resolved:
  // that is a cusp.
  double stop_angle_rad = 1e-3;
  size_t max_knots = size_t{1} << 20;
};

// A place where the direction of travel jumps: cusp, reversal, or corner between segments.
struct CurveStop {
  double distance = 0.0;
  // Arriving to leaving direction. Planar: signed, (-pi, pi]. In space: [0, pi].
  double turn_angle_rad = 0.0;
};

// distance is strictly increasing from 0 to the length; curvature is linear between knots. Where it
// jumps, the two values are 1e-9 of the length apart, on the side where the magnitude is smaller,
// so that the line never lies below the larger one. Signed for planar curves, a magnitude in space,
// finite everywhere. A corner at the seam of a closed curve is listed once, at distance 0. A curve
// of length zero has one knot (0, 0).
struct CurvatureKnots {
  std::vector<double> distance;
  std::vector<double> curvature;
  // Of the intervals, one less than knots. |kappa| rises above the line's magnitude by at most
  // `excess` anywhere inside (from the values read and how they bend, the map's own error
  // included); `deviation` is the largest difference read, either way.
  std::vector<double> excess;
  std::vector<double> deviation;
  std::vector<CurveStop> stops;  // Sorted by distance.
};

// RESOURCE_EXHAUSTED when max_knots do not suffice; INVALID_ARGUMENT for tolerances that are not
// positive and finite. Cost: about five to ten samples with curvature a knot.
absl::StatusOr<CurvatureKnots> RefineCurvature(const ArcLengthMap& map,
                                               const CurvatureOptions& options = {});

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_CURVATURE_KNOTS_H_
