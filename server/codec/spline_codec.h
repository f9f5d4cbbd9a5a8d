// SPDX-License-Identifier: Apache-2.0
// PlanSpline requests from messages, plans along curves into messages.
#ifndef ARCLANE_SERVER_CODEC_SPLINE_CODEC_H_
#define ARCLANE_SERVER_CODEC_SPLINE_CODEC_H_

#include <optional>

#include "arclane/v1/planner.pb.h"
#include "server/codec/frame_codec.h"
#include "server/codec/request_limits.h"
#include "server/codec/sampling_codec.h"
#include "server/planning/geometry/violation.h"
#include "server/planning/route/curve_speed.h"
#include "server/planning/spline/arc_length.h"
#include "server/planning/spline/curve.h"

namespace arclane {

struct DecodedSplineRequest {
  UpAxis up_axis = UpAxis::kZ;
  bool planar = true;
  CurveInput curve;  // Borrows from the message. x, y are the plane's axes of planar curves, x, y,
                     // z the caller's otherwise.
  CurveLimits curve_limits;
  double relative_error = 1e-9;
  bool has_agent = false;
  CurveSpeedRequest speed;  // Borrows from the message.
  bool refuse_jumps = false;
  DecodedSampling sampling;
  bool fit_spacing = false;
  bool clamp_distances = false;
};

// Adds every violation found, the curve's own included. The message must outlive the result.
DecodedSplineRequest ReadSplineRequest(const v1::PlanSplineRequest& request,
                                       const RequestLimits& limits, Violations& violations);

// Everything but the samples.
void EncodeCurve(const ArcLengthMap& map, v1::CurvePlan* out);
void EncodeCurveSpeed(const CurveSpeed& speed, v1::CurvePlan* out);

// Samples the curve, and the plan along it if there is one. Nothing is allocated before the count
// is checked.
void EncodeCurveSamples(const DecodedSplineRequest& request, const ArcLengthMap& map,
                        const CurveSpeed* speed, v1::CurveSampleColumns* out,
                        Violations& violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_SPLINE_CODEC_H_
