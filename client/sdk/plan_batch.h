// SPDX-License-Identifier: Apache-2.0
// Many plans in one call: building a batch, and its answers.
//
//   arclane::Batch batch;
//   batch.shared().mutable_navmesh()->set_navmesh_id("town");
//   const uint32_t guard = batch.AddAgent(guard_profile);
//   for (const Walk& walk : walks) batch.Add(walk.request, guard);
//   auto answers = client->PlanBatch(batch.request());     //
//   Result<std::vector<v1::PlanItemAnswer>> for (const auto& answer : *answers) {
//     if (auto error = arclane::ErrorOf(answer)) Log(*error); else Use(answer.corridor().route());
//   }
#ifndef ARCLANE_CLIENT_SDK_PLAN_BATCH_H_
#define ARCLANE_CLIENT_SDK_PLAN_BATCH_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "arclane/v1/planner.pb.h"
#include "client/sdk/client_error.h"

namespace arclane {

// A PlanBatchRequest as it grows.
class Batch {
 public:
  // What the items share: the navmesh, the frame, the cache mode.
  v1::PlanShared& shared() { return *request_.mutable_shared(); }
  // Their indices, for Add.
  uint32_t AddAgent(v1::AgentProfile agent) {
    *shared().add_agents() = std::move(agent);
    return static_cast<uint32_t>(shared().agents_size()) - 1;
  }
  uint32_t AddSampling(v1::Sampling sampling) {
    *shared().add_samplings() = std::move(sampling);
    return static_cast<uint32_t>(shared().samplings_size()) - 1;
  }

  // Adds an item, which takes the shared agent and sampling of these indices if they are given.
  // Returns its index, which is that of its answer.
  uint32_t Add(v1::PlanCorridorRequest request, std::optional<uint32_t> agent = std::nullopt,
               std::optional<uint32_t> sampling = std::nullopt) {
    *NewItem(agent, sampling).mutable_corridor() = std::move(request);
    return LastIndex();
  }
  uint32_t Add(v1::PlanWaypointsRequest request, std::optional<uint32_t> agent = std::nullopt,
               std::optional<uint32_t> sampling = std::nullopt) {
    *NewItem(agent, sampling).mutable_waypoints() = std::move(request);
    return LastIndex();
  }
  uint32_t Add(v1::PlanSplineRequest request, std::optional<uint32_t> agent = std::nullopt,
               std::optional<uint32_t> sampling = std::nullopt) {
    *NewItem(agent, sampling).mutable_spline() = std::move(request);
    return LastIndex();
  }
  uint32_t Add(v1::PlanSpeedRequest request, std::optional<uint32_t> agent = std::nullopt) {
    *NewItem(agent, std::nullopt).mutable_speed() = std::move(request);
    return LastIndex();
  }

  v1::PlanBatchRequest& request() { return request_; }
  int size() const { return request_.items_size(); }

 private:
  v1::PlanItem& NewItem(std::optional<uint32_t> agent, std::optional<uint32_t> sampling) {
    v1::PlanItem& item = *request_.add_items();
    if (agent) item.set_agent_index(*agent);
    if (sampling) item.set_sampling_index(*sampling);
    return item;
  }
  uint32_t LastIndex() const { return static_cast<uint32_t>(request_.items_size()) - 1; }

  v1::PlanBatchRequest request_;
};

// Why an item failed; nullopt when it did not.
std::optional<ClientError> ErrorOf(const v1::PlanItemAnswer& answer);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_SDK_PLAN_BATCH_H_
