// SPDX-License-Identifier: Apache-2.0
// An agent on a planned route, driven by the follower through a simulated controller.
#ifndef ARCLANE_CLIENT_CLI_FOLLOW_SIMULATION_H_
#define ARCLANE_CLIENT_CLI_FOLLOW_SIMULATION_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "client/cli/plot/follow_plot.h"
#include "client/sdk/follower.h"

namespace arclane {

struct GateClosing {
  uint64_t gate_id = 0;
  double time_s = 0.0;
};

struct FollowScenario {
  FollowerOptions options;
  double dt_s = 1.0 / 60.0;
  double position_noise = 0.0;  // Standard deviation in each axis.
  uint64_t seed = 1;
  std::vector<GateClosing> gates;
  double cancel_s = std::numeric_limits<double>::infinity();
  double most_s = 600.0;  // The run ends here at the latest.
};

struct FollowLogRow {
  double time_s = 0.0;
  FollowStatus status = FollowStatus::kFollowing;
  double distance = 0.0;
  double deviation = 0.0;
  double speed = 0.0;
  double ceiling = 0.0;
  double distance_to_stop = 0.0;
  double overrun = 0.0;
  uint32_t portal = 0;
};

struct FollowRun {
  std::vector<FollowLogRow> rows;  // One a step.
  FollowTrack track;
  FollowStatus end = FollowStatus::kFollowing;
  bool rests = false;  // It came to rest before the time was over.
};

// In words, as the interface names them.
const char* FollowStatusName(FollowStatus status);

// Drives until the agent rests in a final state or the time is over. The same scenario gives the
// same run.
FollowRun SimulateFollowing(std::shared_ptr<const FollowedRoute> route,
                            const FollowScenario& scenario);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_FOLLOW_SIMULATION_H_
