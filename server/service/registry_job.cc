// SPDX-License-Identifier: Apache-2.0
#include "server/service/registry_job.h"

#include <chrono>
#include <exception>
#include <limits>

#include "server/service/status_mapping.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

// What a refused caller should wait: the registry's calls take milliseconds.
constexpr double kRetryDelay_s = 0.1;

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

RegistryJob::RegistryJob(ServiceEnvironment& environment, MethodId method, CallKind kind,
                         grpc::CallbackServerContext& context, const grpc::ByteBuffer* request,
                         const grpc::ByteBuffer* response)
    : environment_(environment), context_(context), account_(environment, method, kind) {
  account_.trace().Begin(context, request, response);
}

void RegistryJob::QueueWork() {
  if (!backend().pool().TryPush(*this)) EndWith(RegistryBusy());
}

void RegistryJob::CallerLeft() {
  if (backend().pool().TryRemove(*this)) EndWith(CallerGone(context_));
}

void RegistryJob::Run() {
  if (context_.IsCancelled()) {
    EndWith(CallerGone(context_));
    return;
  }
  bool goes_on = false;
  std::optional<Failure> failure;
  try {
    failure = Work(goes_on);
  } catch (const std::exception& error) {
    Log(LogLevel::kError, "a registry call threw", {{"what", error.what()}});
    failure.emplace().message = "internal error";
  }
  if (!goes_on) EndWith(failure);
}

void RegistryJob::EndWith(const std::optional<Failure>& failure) {
  const grpc::Status status =
      failure ? Refuse(*failure, std::numeric_limits<double>::infinity(), context_)
              : grpc::Status::OK;
  account_.Ended(status);
  FinishCall(status);
}

}  // namespace arclane
