// SPDX-License-Identifier: Apache-2.0
// Agents and their motion from messages, every field checked.
#ifndef ARCLANE_SERVER_CODEC_AGENT_CODEC_H_
#define ARCLANE_SERVER_CODEC_AGENT_CODEC_H_

#include "arclane/v1/agent.pb.h"
#include "server/planning/geometry/points_columns.h"
#include "server/planning/geometry/violation.h"
#include "server/planning/route/agent_profile.h"

namespace arclane {

// Reads the field `agent` of a request. `present`: whether it was set at all.
AgentProfile ReadAgent(const v1::AgentProfile& agent, bool present, Violations& violations);

// Speeds and times of an agent's motion are at most this; its limits are at least its inverse.
inline constexpr double kMostMotion = 1e100;

// Adds a violation of `field` unless the speed is 0 or in [1 / kMostMotion, kMostMotion].
void CheckSpeed(const std::string& field, double speed, Violations& violations);

// Adds a violation of motion.velocity when it is too low for a speed, or so high that the agent
// comes to rest beyond kMaxCoordinate.
void CheckStop(const AgentProfile& agent, const EndMotion& motion, Violations& violations);

// Reads the field `motion` of a request.
EndMotion ReadMotion(const v1::Motion& motion, UpAxis up_axis, Violations& violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_AGENT_CODEC_H_
