// SPDX-License-Identifier: Apache-2.0
#include "server/service/call_account.h"

#include <string>

namespace arclane {
namespace {

// Longer values are no identifiers, and are not sent back.
constexpr size_t kMostIdentityBytes = 256;
constexpr const char* kIdentityKeys[] = {"x-request-id", "traceparent"};

}  // namespace

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
  if (kind_ == CallKind::kStream) {
    environment_.metrics.StreamEnded(LabelIndex(method_), status.error_code());
  } else {
    environment_.metrics.CallEnded(LabelIndex(method_), status.error_code(),
                                   SecondsBetween(arrival_, std::chrono::steady_clock::now()));
  }
}

SteadyTime DeadlineOf(const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return SteadyTime::max();
  const auto remaining = deadline - std::chrono::system_clock::now();
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(remaining);
}

void EchoIdentity(grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  for (const char* key : kIdentityKeys) {
    const auto found = metadata.find(key);
    if (found == metadata.end() || found->second.size() > kMostIdentityBytes) continue;
    context.AddTrailingMetadata(key, std::string(found->second.data(), found->second.size()));
  }
}

}  // namespace arclane
