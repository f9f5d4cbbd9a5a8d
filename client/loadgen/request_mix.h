// SPDX-License-Identifier: Apache-2.0
// The requests of a load run as bytes, in the order in which they are sent.
#ifndef ARCLANE_CLIENT_LOADGEN_REQUEST_MIX_H_
#define ARCLANE_CLIENT_LOADGEN_REQUEST_MIX_H_

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/loadgen/load_options.h"

namespace arclane {

// One part of the mix.
struct RequestSource {
  std::string name;    // As the report shows it: "PlanCorridor corridor:32".
  std::string method;  // "PlanCorridor"; "PlanBatch", "PlanStream", "PingStream" by the shape.
  int weight = 1;
  // Serialised; at least one. For a stream of plans each lacks its id (plan_item_wire.h).
  std::vector<std::string> requests;
};

struct RequestMix {
  std::vector<RequestSource> sources;
  // Indices of `sources` over one period: each as often as its weight, spread evenly.
  std::vector<int> order;
  // Sizes of the generated meshes that the requests refer to.
  std::vector<int> meshes;
  // The serialised PlanShared of a stream's items.
  std::string shared;
};

// Makes or reads every request. Fails with every part that cannot be read and every request that
// cannot be parsed (file, line, column, field), when all requests together exceed 1 GiB, and where
// the shape does not allow the mix. In batches the parts are mixed by their weights; there are as
// many different batches as the requests fill, at least one. `standard_input` is read for a file
// named "-".
absl::StatusOr<RequestMix> BuildRequestMix(const LoadOptions& options,
                                           std::istream& standard_input);

// The order of one period by smooth weighted round robin: weights 3 and 1 give 0 0 1 0. Weights are
// divided by their greatest common divisor; all >= 1.
std::vector<int> OrderByWeight(const std::vector<int>& weights);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_REQUEST_MIX_H_
