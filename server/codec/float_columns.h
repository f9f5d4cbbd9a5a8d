// SPDX-License-Identifier: Apache-2.0
// Columns of samples and corners as floats, half the bytes: made of the columns of doubles once a
// route is planned, and made doubles again by those who read them.
//
// Accuracy: rounding to the nearest float moves a number v by at most 2^-24 |v|, half an ulp of it,
// and by at most 2^-150 where |v| < 2^-126. Positions are rounded as distances from an origin in
// the middle of their column, which is told as a double; adding it again rounds once more, by half
// an ulp of a double. Rounding is monotone, so what does not decrease still does not.
#ifndef ARCLANE_SERVER_CODEC_FLOAT_COLUMNS_H_
#define ARCLANE_SERVER_CODEC_FLOAT_COLUMNS_H_

#include "arclane/v1/planner.pb.h"
#include "arclane/v1/route.pb.h"
#include "arclane/v1/spline.pb.h"
#include "server/planning/geometry/violation.h"

namespace arclane {

// Replaces the columns of doubles by `floats`, in samples and corners. A number beyond what a float
// can hold is a violation of sampling.column_precision; the columns are then unspecified. NaN and
// infinity stay. O(numbers).
void NarrowColumns(v1::Route* route, Violations& violations);
void NarrowColumns(v1::CurvePlan* plan, Violations& violations);

// Fills the columns of doubles from `floats`, which are then unset. Nothing happens where there are
// none. Whatever came over the wire may be given: columns become as long as they were sent.
// O(numbers).
void WidenColumns(v1::Route* route);
void WidenColumns(v1::CurvePlan* plan);

// The same for answers of any kind, for those that read them.
inline void WidenColumns(v1::PlanCorridorResponse* response) {
  if (response->has_route()) WidenColumns(response->mutable_route());
}
inline void WidenColumns(v1::PlanWaypointsResponse* response) {
  if (response->has_route()) WidenColumns(response->mutable_route());
}
inline void WidenColumns(v1::PlanSplineResponse* response) {
  if (response->has_plan()) WidenColumns(response->mutable_plan());
}
void WidenColumns(v1::PlanItemAnswer* answer);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_FLOAT_COLUMNS_H_
