// SPDX-License-Identifier: Apache-2.0
// What is kept about one call: when it came, when it must be answered, that it is in flight, and
// how it ended.
#ifndef ARCLANE_SERVER_SERVICE_CALL_ACCOUNT_H_
#define ARCLANE_SERVER_SERVICE_CALL_ACCOUNT_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <chrono>

#include "server/service/call_trace.h"
#include "server/service/service_environment.h"
#include "server/service/service_labels.h"

namespace arclane {

using SteadyTime = std::chrono::steady_clock::time_point;

inline double SecondsBetween(SteadyTime from, SteadyTime to) {
  return std::chrono::duration<double>(to - from).count();
}

enum class CallKind { kUnary, kStream };

// In flight from construction to destruction. Ended must be called once in between.
class CallAccount {
 public:
  CallAccount(ServiceEnvironment& environment, MethodId method, CallKind kind);
  ~CallAccount();
  CallAccount(const CallAccount&) = delete;
  CallAccount& operator=(const CallAccount&) = delete;

  void Ended(const grpc::Status& status);

  SteadyTime arrival() const { return arrival_; }
  // What is told of the call beside its metrics; begun by the handler.
  CallTrace& trace() { return trace_; }

 private:
  ServiceEnvironment& environment_;
  const MethodId method_;
  const CallKind kind_;
  const SteadyTime arrival_;
  CallTrace trace_;
};

// The caller's deadline by this process's steady clock; the farthest time without one.
SteadyTime DeadlineOf(const grpc::CallbackServerContext& context);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_CALL_ACCOUNT_H_
