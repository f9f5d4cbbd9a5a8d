// SPDX-License-Identifier: Apache-2.0
// What samples a request wants, and the samples of a route straight into a message's columns.
#ifndef ARCLANE_SERVER_CODEC_SAMPLING_CODEC_H_
#define ARCLANE_SERVER_CODEC_SAMPLING_CODEC_H_

#include <cstdint>

#include "arclane/v1/route.pb.h"
#include "server/codec/frame_codec.h"
#include "server/codec/request_limits.h"
#include "server/planning/geometry/violation.h"
#include "server/planning/route/sampling.h"

namespace arclane {

struct DecodedSampling {
  SamplingPlan plan;       // Borrows the distances from the message.
  uint32_t columns = 0;    // Bit v1::SampleColumn for each wanted column.
  double max_count = 0.0;
};

// Reads the field `sampling` of a request.
DecodedSampling ReadSampling(const v1::Sampling& sampling, const RequestLimits& limits,
                             Violations& violations);

// Checks what can be known only once the route is planned (the count, the explicit distances) and, if that holds,
// writes the samples. Nothing is allocated before the count is checked.
void EncodeSamples(const DecodedSampling& sampling, const Route& route, const PlanFrame& frame,
                   v1::SampleColumns* columns, Violations& violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_SAMPLING_CODEC_H_
