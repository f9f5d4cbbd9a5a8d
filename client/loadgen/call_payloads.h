// SPDX-License-Identifier: Apache-2.0
// The bytes that are sent: every request of the mix, and for each a Ping of the same size that asks
// for an answer of the size that the request's answer had.
#ifndef ARCLANE_CLIENT_LOADGEN_CALL_PAYLOADS_H_
#define ARCLANE_CLIENT_LOADGEN_CALL_PAYLOADS_H_

#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/loadgen/request_mix.h"

namespace arclane {

grpc::ByteBuffer ToByteBuffer(const std::string& bytes);

// A PingRequest of `request_bytes` whose answer has `response_bytes`, both exactly where protobuf
// allows it: sizes of 1 and 2 bytes give none, and one byte is lacking where a length prefix grows
// (130, 16387, ...); a request has at least the bytes that ask for the answer. Payloads are cut at
// `max_payload_bytes`.
std::string PingOfSize(size_t request_bytes, size_t response_bytes, size_t max_payload_bytes);

struct CallPayload {
  grpc::ByteBuffer request;
  size_t request_bytes = 0;                // As sent, the id of a stream's item included.
  std::atomic<size_t> response_bytes = 0;  // Of the last answer with OK; 0: none yet.
  grpc::ByteBuffer ping;
  size_t ping_response_bytes = 0;  // What `ping` was made for.
};

// Immutable while calls run but for CallPayload::response_bytes.
class CallPayloads {
 public:
  struct Source {
    std::string name;
    std::string method;  // With its service: "/arclane.v1.PathPlanner/PlanCorridor".
    std::vector<std::unique_ptr<CallPayload>> payloads;
  };

  // Takes the mix's bytes.
  CallPayloads(RequestMix mix, size_t max_ping_bytes);

  const std::vector<Source>& sources() const { return sources_; }
  const std::vector<int>& order() const { return order_; }
  // The serialised PlanShared of a stream's items.
  const std::string& shared() const { return shared_; }

  // Makes each Ping anew whose request has been answered in another size; requests that were not
  // answered yet count as the last of their source that was. No call may run.
  void UpdatePings();
  // Whether a request or an answer exceeds what Ping carries, so that its Ping is smaller.
  bool pings_are_cut() const { return pings_are_cut_; }

 private:
  std::vector<Source> sources_;
  std::vector<int> order_;
  const std::string shared_;
  const size_t max_ping_bytes_;
  bool pings_are_cut_ = false;
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_CALL_PAYLOADS_H_
