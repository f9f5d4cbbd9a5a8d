// SPDX-License-Identifier: Apache-2.0
#include "server/service/registry_call.h"

#include <exception>
#include <limits>
#include <string>

#include "server/service/status_mapping.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

// Largest request of a unary call: tens of thousands of changes.
constexpr size_t kMostRequestBytes = 4 << 20;
// What a refused caller should wait: the registry's calls take milliseconds.
constexpr double kRetryDelay_s = 0.1;

Failure TooManyBytes(size_t bytes) {
  Failure failure;
  failure.reason = FailureReason::kTooLarge;
  failure.message = "the request has " + std::to_string(bytes) + " bytes, the limit is " +
                    std::to_string(kMostRequestBytes);
  failure.metadata = {{"limit", "max_registry_request_bytes"},
                      {"maximum", std::to_string(kMostRequestBytes)},
                      {"requested", std::to_string(bytes)}};
  return failure;
}

}  // namespace

Failure RegistryBusy() {
  Failure failure;
  failure.reason = FailureReason::kQueueFull;
  failure.message = "too many calls wait for the registry; retry later";
  failure.retry_delay_s = kRetryDelay_s;
  return failure;
}

Failure CallerGone(const grpc::CallbackServerContext& context) {
  const bool expired = std::chrono::steady_clock::now() >= DeadlineOf(context);
  Failure failure;
  failure.reason = expired ? FailureReason::kDeadlineExceeded : FailureReason::kCancelled;
  failure.message = expired ? "the deadline passed before the call began"
                            : "the call was cancelled before it began";
  return failure;
}

RegistryCall::RegistryCall(ServiceEnvironment& environment, MethodId method,
                           grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
                           grpc::ByteBuffer& response)
    : environment_(environment),
      context_(context),
      request_(request),
      response_(response),
      account_(environment, method, CallKind::kUnary) {
  account_.trace().Begin(context, &request, &response);
}

void RegistryCall::Begin() {
  if (request_.Length() > kMostRequestBytes) {
    EndWith(TooManyBytes(request_.Length()));
  } else if (!environment_.navmeshes->pool().TryPush(*this)) {
    EndWith(RegistryBusy());
  }
}

void RegistryCall::Run() {
  if (context_.IsCancelled()) {
    EndWith(CallerGone(context_));
    return;
  }
  std::optional<Failure> failure;
  try {
    failure = Answer(*environment_.navmeshes, request_, response_);
  } catch (const std::exception& error) {
    Log(LogLevel::kError, "a registry call threw", {{"what", error.what()}});
    failure.emplace().message = "internal error";
  }
  EndWith(failure);
}

void RegistryCall::OnCancel() {
  if (environment_.navmeshes->pool().TryRemove(*this)) EndWith(CallerGone(context_));
}

void RegistryCall::EndWith(const std::optional<Failure>& failure) {
  const grpc::Status status =
      failure ? Refuse(*failure, std::numeric_limits<double>::infinity(), context_)
              : grpc::Status::OK;
  account_.Ended(status);
  Finish(status);
}

}  // namespace arclane
