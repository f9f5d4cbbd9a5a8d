// SPDX-License-Identifier: Apache-2.0
// The limits on requests, as GetLimits tells them.
#ifndef ARCLANE_SERVER_CODEC_REQUEST_LIMITS_H_
#define ARCLANE_SERVER_CODEC_REQUEST_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace arclane {

struct RequestLimits {
  size_t max_receive_bytes = 64 << 20;
  size_t max_plan_corridor_bytes = 48 << 20;
  size_t max_plan_waypoints_bytes = 48 << 20;
  size_t max_plan_spline_bytes = 48 << 20;
  size_t max_plan_speed_bytes = 48 << 20;
  size_t max_ping_bytes = 4 << 20;
  uint32_t max_portals = 1'000'000;
  uint32_t max_vertices = 1'000'000;
  uint32_t max_control_points = 200'000;
  uint32_t max_curve_nodes = 1'000'000;
  uint32_t max_samples = 1'000'000;
  uint32_t max_dependencies = 1'000'000;
  uint32_t max_speed_phases = 250'000;
  uint32_t max_queued_plans = 1024;
  size_t max_plan_batch_bytes = 48 << 20;
  uint32_t max_batch_items = 10'000;
  uint32_t max_stream_items = 1024;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_REQUEST_LIMITS_H_
