// SPDX-License-Identifier: Apache-2.0
// How the agents of a stream are driven, from its message.
#ifndef ARCLANE_SERVER_CODEC_FOLLOW_OPTIONS_CODEC_H_
#define ARCLANE_SERVER_CODEC_FOLLOW_OPTIONS_CODEC_H_

#include <optional>

#include "arclane/v1/follow.pb.h"
#include "server/planning/follow/follow_step.h"
#include "server/planning/geometry/violation.h"

namespace arclane {

struct StreamOptions {
  FollowerOptions follower;
  std::optional<double> validity_s;
  std::optional<double> feed_age_limit_s;
  bool with_half_planes = false;
};

// Adds a violation for every field that is out of range.
StreamOptions ReadStreamOptions(const v1::FollowOptions& options, Violations& violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_FOLLOW_OPTIONS_CODEC_H_
