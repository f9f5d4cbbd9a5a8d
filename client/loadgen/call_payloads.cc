// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/call_payloads.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "arclane/v1/planner.pb.h"
#include "client/loadgen/plan_item_wire.h"

namespace arclane {
namespace {

// The largest payload of a bytes field (with a tag of one byte) that fits into `bytes`.
size_t PayloadWithin(size_t bytes) {
  size_t payload = 0;
  for (size_t prefix = 1; prefix <= 5; ++prefix) {
    if (bytes < 1 + prefix) break;
    const size_t most = (size_t{1} << (7 * prefix)) - 1;
    payload = std::max(payload, std::min(bytes - 1 - prefix, most));
  }
  return payload;
}

}  // namespace

grpc::ByteBuffer ToByteBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string PingOfSize(size_t request_bytes, size_t response_bytes, size_t max_payload_bytes) {
  v1::PingRequest request;
  request.set_response_size(
      static_cast<uint32_t>(std::min(PayloadWithin(response_bytes), max_payload_bytes)));
  const size_t asked = request.ByteSizeLong();
  if (request_bytes > asked) {
    request.mutable_payload()->resize(
        std::min(PayloadWithin(request_bytes - asked), max_payload_bytes));
  }
  return request.SerializeAsString();
}

CallPayloads::CallPayloads(RequestMix mix, size_t max_ping_bytes)
    : order_(std::move(mix.order)),
      shared_(std::move(mix.shared)),
      max_ping_bytes_(max_ping_bytes) {
  for (RequestSource& given : mix.sources) {
    Source source;
    source.name = std::move(given.name);
    source.method = absl::StrCat("/arclane.v1.PathPlanner/", given.method);
    for (const std::string& request : given.requests) {
      auto payload = std::make_unique<CallPayload>();
      payload->request = ToByteBuffer(request);
      payload->request_bytes = request.size() + (given.method == "PlanStream" ? kStreamIdBytes : 0);
      payload->ping = ToByteBuffer(PingOfSize(payload->request_bytes, 0, max_ping_bytes_));
      source.payloads.push_back(std::move(payload));
    }
    sources_.push_back(std::move(source));
  }
}

void CallPayloads::UpdatePings() {
  for (Source& source : sources_) {
    size_t last_bytes = 0;
    for (const auto& payload : source.payloads) {
      size_t bytes = payload->response_bytes.load(std::memory_order_relaxed);
      if (bytes == 0) bytes = last_bytes;
      last_bytes = bytes;
      if (bytes == payload->ping_response_bytes) continue;
      payload->ping = ToByteBuffer(PingOfSize(payload->request_bytes, bytes, max_ping_bytes_));
      payload->ping_response_bytes = bytes;
      // A field's tag and length are not part of its payload.
      constexpr size_t kFieldBytes = 16;
      if (std::max(payload->request_bytes, bytes) > max_ping_bytes_ + kFieldBytes) {
        pings_are_cut_ = true;
      }
    }
  }
}

}  // namespace arclane
