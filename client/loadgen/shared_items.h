// SPDX-License-Identifier: Apache-2.0
#ifndef ARCLANE_CLIENT_LOADGEN_SHARED_ITEMS_H_
#define ARCLANE_CLIENT_LOADGEN_SHARED_ITEMS_H_

#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "arclane/v1/planner.pb.h"

namespace arclane {

// Turns requests of single calls into the items of batches and streams: agents, samplings and the
// navmesh move into the part that items share, each once.
class SharedItems {
 public:
  // Serialises `request` as an item. Fails when it names another navmesh than those before it.
  absl::Status Add(v1::PlanCorridorRequest request, std::string& item);
  absl::Status Add(v1::PlanWaypointsRequest request, std::string& item);
  absl::Status Add(v1::PlanSplineRequest request, std::string& item);
  absl::Status Add(v1::PlanSpeedRequest request, std::string& item);

  // What the items share so far.
  const v1::PlanShared& shared() const { return shared_; }

 private:
  template <typename Request>
  void Share(Request& request, v1::PlanItem& item);

  v1::PlanShared shared_;
  // Indices by serialised messages.
  absl::flat_hash_map<std::string, uint32_t> agents_;
  absl::flat_hash_map<std::string, uint32_t> samplings_;
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_SHARED_ITEMS_H_
