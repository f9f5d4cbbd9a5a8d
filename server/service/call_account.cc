// SPDX-License-Identifier: Apache-2.0
#include "server/service/call_account.h"

namespace arclane {

CallAccount::CallAccount(ServiceEnvironment& environment, MethodId method, CallKind kind)
    : environment_(environment),
      method_(method),
      kind_(kind),
      arrival_(std::chrono::steady_clock::now()) {
  environment_.in_flight.Enter();
  environment_.metrics.CallStarted(LabelIndex(method_));
}

CallAccount::~CallAccount() { environment_.in_flight.Leave(); }

void CallAccount::Ended(const grpc::Status& status) {
  const double duration_s = SecondsBetween(arrival_, std::chrono::steady_clock::now());
  if (kind_ == CallKind::kStream) {
    environment_.metrics.StreamEnded(LabelIndex(method_), status.error_code());
  } else {
    environment_.metrics.CallEnded(LabelIndex(method_), status.error_code(), duration_s);
  }
  trace_.End(method_, status, duration_s, kind_ == CallKind::kStream, environment_.log,
             environment_.capture);
}

SteadyTime DeadlineOf(const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return SteadyTime::max();
  const auto remaining = deadline - std::chrono::system_clock::now();
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(remaining);
}

}  // namespace arclane
