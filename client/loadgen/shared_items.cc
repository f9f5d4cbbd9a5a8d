// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/shared_items.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

// More different ones stay with their requests.
constexpr int kMostShared = 1000;

// The index of `message` among `shared`, where it is put if there is room; -1 without.
template <typename Message>
int64_t IndexIn(const Message& message, absl::flat_hash_map<std::string, uint32_t>& indices,
                google::protobuf::RepeatedPtrField<Message>& shared) {
  const auto [found, is_new] =
      indices.try_emplace(message.SerializeAsString(), static_cast<uint32_t>(shared.size()));
  if (!is_new) return found->second;
  if (shared.size() >= kMostShared) {
    indices.erase(found);
    return -1;
  }
  *shared.Add() = message;
  return found->second;
}

}  // namespace

template <typename Request>
void SharedItems::Share(Request& request, v1::PlanItem& item) {
  if (request.has_agent()) {
    const int64_t index = IndexIn(request.agent(), agents_, *shared_.mutable_agents());
    if (index >= 0) {
      item.set_agent_index(static_cast<uint32_t>(index));
      request.clear_agent();
    }
  }
  if (request.has_sampling()) {
    const int64_t index = IndexIn(request.sampling(), samplings_, *shared_.mutable_samplings());
    if (index >= 0) {
      item.set_sampling_index(static_cast<uint32_t>(index));
      request.clear_sampling();
    }
  }
}

absl::Status SharedItems::Add(v1::PlanCorridorRequest request, std::string& item) {
  if (request.corridor().has_refs()) {
    if (!shared_.has_navmesh()) *shared_.mutable_navmesh() = request.navmesh();
    if (shared_.navmesh().SerializeAsString() != request.navmesh().SerializeAsString()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--mix: the items of a batch or stream share one navmesh: ",
          shared_.navmesh().navmesh_id(), " and ", request.navmesh().navmesh_id(), " are two"));
    }
    request.clear_navmesh();
  }
  v1::PlanItem message;
  Share(request, message);
  *message.mutable_corridor() = std::move(request);
  item = message.SerializeAsString();
  return absl::OkStatus();
}

absl::Status SharedItems::Add(v1::PlanWaypointsRequest request, std::string& item) {
  v1::PlanItem message;
  Share(request, message);
  *message.mutable_waypoints() = std::move(request);
  item = message.SerializeAsString();
  return absl::OkStatus();
}

absl::Status SharedItems::Add(v1::PlanSplineRequest request, std::string& item) {
  v1::PlanItem message;
  Share(request, message);
  *message.mutable_spline() = std::move(request);
  item = message.SerializeAsString();
  return absl::OkStatus();
}

absl::Status SharedItems::Add(v1::PlanSpeedRequest request, std::string& item) {
  v1::PlanItem message;
  *message.mutable_speed() = std::move(request);
  item = message.SerializeAsString();
  return absl::OkStatus();
}

}  // namespace arclane
