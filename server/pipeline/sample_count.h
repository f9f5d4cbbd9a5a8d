// SPDX-License-Identifier: Apache-2.0
// How many samples an answer holds.
#ifndef ARCLANE_SERVER_PIPELINE_SAMPLE_COUNT_H_
#define ARCLANE_SERVER_PIPELINE_SAMPLE_COUNT_H_

#include <algorithm>
#include <cstdint>

#include "arclane/v1/route.pb.h"
#include "arclane/v1/spline.pb.h"

namespace arclane {

// Of the columns some may be empty; the others are of one length.
inline uint64_t CountOf(const v1::SampleColumns& samples) {
  return static_cast<uint64_t>(
      std::max({samples.distance_size(), samples.surface_distance_size(), samples.time_s_size(),
                samples.position().x_size(), samples.heading_rad_size(), samples.speed_size(),
                samples.curvature_size(), samples.portal_index_size()}));
}

inline uint64_t CountOf(const v1::CurveSampleColumns& samples) {
  return static_cast<uint64_t>(
      std::max({samples.distance_size(), samples.time_s_size(), samples.position().x_size(),
                samples.tangent().x_size(), samples.heading_rad_size(), samples.curvature_size(),
                samples.speed_size(), samples.segment_index_size(), samples.parameter_size()}));
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_SAMPLE_COUNT_H_
