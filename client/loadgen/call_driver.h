// SPDX-License-Identifier: Apache-2.0
// How a load run makes calls: one interface for unary calls, streams and batches.
#ifndef ARCLANE_CLIENT_LOADGEN_CALL_DRIVER_H_
#define ARCLANE_CLIENT_LOADGEN_CALL_DRIVER_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace arclane {

// What a completion queue's tag points to.
class QueueEvent {
 public:
  virtual ~QueueEvent() = default;
  // Called on the queue's thread; `ok` as gRPC tells it.
  virtual void Happen(bool ok) = 0;
};

struct OutgoingCall {
  const std::string* method = nullptr;        // "/arclane.v1.PathPlanner/PlanCorridor".
  const grpc::ByteBuffer* request = nullptr;  // Both live until the call ends.
  std::chrono::system_clock::time_point deadline;
  void* tag = nullptr;  // Given back at the end.
};

struct CallEnd {
  grpc::StatusCode code = grpc::StatusCode::OK;
  size_t response_bytes = 0;  // Of all messages of the answer.
  uint64_t items_ok = 0;      // Of a batch: answered with OK.
  uint64_t items_failed = 0;
  // The server's wish when to try again, milliseconds; negative: not at all.
  std::optional<int> pushback_ms;
};

class CallListener {
 public:
  virtual ~CallListener() = default;
  // Called once for every call, on the queue's thread, never from within Start.
  virtual void OnCallEnd(void* tag, const CallEnd& end) = 0;
  // Called when a driver that was closed has nothing open any more.
  virtual void OnDriverClosed() = 0;
};

// Calls over one connection. All events arrive on the queue that the driver was made with.
class CallDriver {
 public:
  virtual ~CallDriver() = default;
  // Starts a call. Thread-safe.
  virtual void Start(const OutgoingCall& call) = 0;
  // Ends what is open behind the calls; all calls must have ended, or end now with CANCELLED.
  // OnDriverClosed follows, perhaps before this returns. The last call.
  virtual void Close() = 0;
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_CALL_DRIVER_H_
