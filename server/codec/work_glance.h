// SPDX-License-Identifier: Apache-2.0
// What a planning request will cost, as far as its bytes tell without being parsed.
#ifndef ARCLANE_SERVER_CODEC_WORK_GLANCE_H_
#define ARCLANE_SERVER_CODEC_WORK_GLANCE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arclane/v1/agent.pb.h"
#include "arclane/v1/route.pb.h"

namespace arclane {

// The kinds of plans, each of which costs in its own way.
enum class WorkKind : uint8_t { kCorridor, kCorridorByRef, kWaypoints, kSpline, kSpeed };
inline constexpr size_t kWorkKindCount = 5;

struct WorkGlance {
  WorkKind kind = WorkKind::kCorridor;
  size_t bytes = 0;
  size_t refs = 0;             // Polygons named by reference.
  double samples = 0;          // Samples asked for by number; 0 where the number is not told.
  bool tells_samples = true;   // False: there may be many more.
  double corner_budget_s = 0;  // For rounding; 0 when nothing is rounded.
  bool keeps_clearance = false;

  // Seconds of a core by a coarse model of this service's own plans: right within a factor of a few
  // for plans that need what they ask for. Whoever schedules learns the factor (plan_cost.h).
  double PriorSeconds() const;
};

// `encoded`: a request of the kind; kCorridor becomes kCorridorByRef when it names polygons. Reads
// the tags of the top-level fields and those of the agent, the corridor and the sampling:
// O(fields), not O(bytes), and without allocation. For bytes that are no message, anything.
WorkGlance GlanceAtWork(WorkKind kind, std::string_view encoded);
// Adds what an agent and a sampling ask for.
void GlanceAtAgent(const v1::AgentProfile& agent, WorkGlance& glance);
void GlanceAtSampling(const v1::Sampling& sampling, WorkGlance& glance);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_WORK_GLANCE_H_
