// SPDX-License-Identifier: Apache-2.0
// Samples of a route at exact distances or times: counted first, then written straight into the
// caller's columns.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_SAMPLING_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_SAMPLING_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/planning/route/route.h"

namespace arclane {

enum class SamplingRule : uint8_t {
  kNone,
  kSpacing,    // Every `step` of distance; the last gap may be shorter.
  kCount,      // `count` samples, evenly spaced.
  kTimeStep,   // Every `step` seconds; the last gap may be shorter.
  kDistances,  // At `distances`.
};

struct SamplingPlan {
  SamplingRule rule = SamplingRule::kNone;
  double step = 0.0;  // > 0 for kSpacing and kTimeStep.
  size_t count = 0;   // >= 1 for kCount.
  std::span<const double>
      distances;  // Any order; values outside [0, length] by rounding are clamped.
};

// How many samples the plan gives on the route; saturates at 2^53, so that a limit check cannot
// overflow. A route of length 0 (or duration 0 for kTimeStep) gives one sample, kDistances as many
// as it names.
double CountSamples(const SamplingPlan& plan, const Route& route);

// Where samples go; an empty column is not wanted, the others have exactly the counted length.
// Positions are in the route's frame; `offset` is added to plan coordinates and `height_offset` to
// heights as they are written.
struct RouteSampleColumns {
  std::span<double> distance;
  std::span<double> surface_distance;
  std::span<double> time_s;
  std::span<double> x;  // First horizontal axis.
  std::span<double> y;  // Second horizontal axis.
  std::span<double> height;
  std::span<double> heading;
  std::span<double> speed;
  std::span<double> curvature;
  std::span<uint32_t> portal_index;  // The number of portals crossed strictly before the sample.
  Vec2 offset;
  double height_offset = 0.0;
};

// Fills the columns. The first and last points of the route are exact, and so is the start of every
// segment. At a stop, a sample by distance has the state of arrival; a sample by time turns with
// the agent. O(samples + segments + phases + portals) for ascending distances, O(samples * log)
// otherwise. No allocation.
void WriteSamples(const SamplingPlan& plan, const Route& route, const RouteSampleColumns& columns);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_SAMPLING_H_
