// SPDX-License-Identifier: Apache-2.0
// PlanSpeed requests from messages, speed plans and their phases into messages.
#ifndef ARCLANE_SERVER_CODEC_SPEED_CODEC_H_
#define ARCLANE_SERVER_CODEC_SPEED_CODEC_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "arclane/v1/planner.pb.h"
#include "server/codec/request_limits.h"
#include "server/planning/geometry/violation.h"
#include "server/planning/speed/curvature_profile.h"
#include "server/planning/speed/speed_limits.h"
#include "server/planning/speed/speed_phase.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {

// Reads limits, with infinite optional ones as unlimited and the default budget mode filled in;
// `path` is that of the message within the request. Adds a violation for every rule broken.
SpeedLimits ReadSpeedLimits(const v1::AgentLimits& limits, double reaction_time_s,
                            std::string_view path, std::string_view reaction_path,
                            Violations& violations);

struct DecodedSpeedRequest {
  std::vector<SpeedPiece> pieces;
  std::vector<SpeedStop> stops;
  SpeedLimits limits;
};

// Reads what PlanSpeed needs; which geometry is set tells the caller which planner to ask.
DecodedSpeedRequest ReadSpeedRequest(const v1::PlanSpeedRequest& request,
                                     const RequestLimits& limits, Violations& violations);

// The interval or piece of the first phase whose law has a number beyond what a double can hold:
// such a plan cannot be told.
std::optional<uint32_t> FirstInfiniteLaw(std::span<const SpeedPhase> phases);

// Of a plan that would have more phases than max_speed_phases allows.
void AddTooManyPhases(std::string field, const RequestLimits& limits, Violations& violations);

void EncodePhases(std::span<const SpeedPhase> phases, v1::PhaseColumns* out);
void EncodeSpeedPlan(const SpeedPlan& plan, v1::SpeedPlan* out);
void EncodeSpeedPlan(const CurvatureSpeedPlan& plan, v1::SpeedPlan* out);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_SPEED_CODEC_H_
