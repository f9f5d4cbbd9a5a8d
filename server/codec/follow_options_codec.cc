// SPDX-License-Identifier: Apache-2.0
#include "server/codec/follow_options_codec.h"

#include "server/codec/field_checks.h"

namespace arclane {
namespace {

constexpr NumberRule kStepRatio{1.0, 2.0, true, false};
constexpr NumberRule kFraction{0.0, 1.0, true, false};

}  // namespace

StreamOptions ReadStreamOptions(const v1::FollowOptions& options, Violations& violations) {
  StreamOptions stream;
  FollowerOptions& read = stream.follower;
  switch (options.integrator()) {
    case v1::INTEGRATOR_UNSPECIFIED:
    case v1::INTEGRATOR_HOLD:
      break;
    case v1::INTEGRATOR_RAMP:
      read.integrator = Integrator::kRamp;
      break;
    case v1::INTEGRATOR_DELAY:
      read.integrator = Integrator::kDelay;
      break;
    default:
      violations.Add(ViolationReason::kUnknownValue, "options.integrator", "unknown value");
  }
  const auto read_number = [&](const char* field, bool has, double value, const NumberRule& rule,
                               double* out) {
    if (has && CheckNumber(field, value, rule, violations)) *out = value;
  };
  read_number("options.max_dt_s", options.has_max_dt_s(), options.max_dt_s(), kPositive,
              &read.max_dt);
  read_number("options.longest_step", options.has_longest_step(), options.longest_step(),
              kStepRatio, &read.longest_step);
  read_number("options.look_ahead_s", options.has_look_ahead_s(), options.look_ahead_s(),
              kNotNegative, &read.look_ahead_s);
  read_number("options.look_ahead_distance", options.has_look_ahead_distance(),
              options.look_ahead_distance(), kNotNegative, &read.look_ahead_distance);
  read_number("options.off_route_distance", options.has_off_route_distance(),
              options.off_route_distance(), kPositive, &read.off_route_distance);
  read_number("options.blocked_window_s", options.has_blocked_window_s(),
              options.blocked_window_s(), kPositive, &read.blocked_window_s);
  read_number("options.blocked_fraction", options.has_blocked_fraction(),
              options.blocked_fraction(), kFraction, &read.blocked_fraction);
  read_number("options.moving_obstacle_patience_s", options.has_moving_obstacle_patience_s(),
              options.moving_obstacle_patience_s(), kNotNegativeOrInfinite,
              &read.moving_obstacle_patience_s);
  if (options.has_validity_s()) {
    CheckNumber("options.validity_s", options.validity_s(), kPositive, violations);
    stream.validity_s = options.validity_s();
  }
  if (options.has_feed_age_limit_s()) {
    CheckNumber("options.feed_age_limit_s", options.feed_age_limit_s(), kPositive, violations);
    stream.feed_age_limit_s = options.feed_age_limit_s();
  }
  stream.with_half_planes = options.include_half_planes();
  return stream;
}

}  // namespace arclane
