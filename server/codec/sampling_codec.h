// SPDX-License-Identifier: Apache-2.0
// What samples a request wants, and the samples of a route straight into a message's columns.
#ifndef ARCLANE_SERVER_CODEC_SAMPLING_CODEC_H_
#define ARCLANE_SERVER_CODEC_SAMPLING_CODEC_H_

#include <cstdint>
#include <span>

#include "arclane/v1/route.pb.h"
#include "server/codec/frame_codec.h"
#include "server/codec/request_limits.h"
#include "server/planning/geometry/violation.h"
#include "server/planning/route/sampling.h"

namespace arclane {

struct DecodedSampling {
  SamplingPlan plan;     // Borrows the distances from the message.
  uint32_t columns = 0;  // Bit v1::SampleColumn for each wanted column.
  double max_count = 0.0;
  bool floats = false;  // The columns are to be narrowed.
};

// What is sampled: it decides which columns there are.
enum class SampledThing : uint8_t { kRoute, kCurve };

// Reads the field `sampling` of a request.
DecodedSampling ReadSampling(const v1::Sampling& sampling, SampledThing thing,
                             const RequestLimits& limits, Violations& violations);

constexpr bool Wants(const DecodedSampling& sampling, v1::SampleColumn column) {
  return (sampling.columns & (1u << column)) != 0;
}

// Adds a violation for every explicit distance outside [0, length] by more than rounding, or than
// the length may be wrong by.
void CheckDistances(std::span<const double> distances, double length, double length_error,
                    Violations& violations);

// Checks what can be known only once the route is planned (the count, the explicit distances) and,
// if that holds, writes the samples. Nothing is allocated before the count is checked.
void EncodeSamples(const DecodedSampling& sampling, const Route& route, const PlanFrame& frame,
                   v1::SampleColumns* columns, Violations& violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_SAMPLING_CODEC_H_
