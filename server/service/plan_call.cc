// SPDX-License-Identifier: Apache-2.0
#include "server/service/plan_call.h"

#include <exception>
#include <limits>
#include <string>

#include "server/service/status_mapping.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

// By how much a caller may find its deadline passed before we do: timers, and that gRPC sends what
// is left to it rounded up to three digits, from 1 s on to a hundredth of it.
constexpr auto kTimerJitter = std::chrono::milliseconds(2);
constexpr int kRoundedTo = 100;

Failure Stopped(FailureReason reason, const char* when) {
  Failure failure;
  failure.reason = reason;
  failure.message =
      std::string(reason == FailureReason::kDeadlineExceeded ? "the deadline passed "
                                                             : "the call was cancelled ") +
      when;
  return failure;
}

}  // namespace

PlanCall::PlanCall(ServiceEnvironment& environment, MethodId method,
                   grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
                   grpc::ByteBuffer& response)
    : environment_(environment),
      context_(context),
      request_(request),
      response_(response),
      account_(environment, method, CallKind::kUnary),
      request_bytes_(request.Length()),
      deadline_(DeadlineOf(context)) {
  account_.trace().Begin(context, &request, &response);
  account_.trace().SetPlan(trace_);
}

void PlanCall::Begin(size_t byte_limit, const char* byte_limit_name, WorkKind kind) {
  if (!HasArrived(request_)) {
    cancelled_.store(true, std::memory_order_relaxed);
    EndWith(ToStatus(Stopped(*StopReason(), "before its request had arrived")));
    return;
  }
  if (request_bytes_ > byte_limit) {
    EndWith(ToStatus(TooManyBytes(byte_limit_name, byte_limit, request_bytes_)));
    return;
  }
  if (request_bytes_ <= environment_.quick_plan_bytes &&
      environment_.admission.AdmitAtOnce(request_bytes_)) {
    demand_.bytes = request_bytes_;
    if (IsQuick(request_)) return AnswerAndEnd(account_.arrival());
    environment_.admission.ReleaseBytes(request_bytes_);
    trace_.End(Stage::kValidate);
  }
  demand_ = {request_bytes_, GlanceAtWork(kind, request_), RemainingSeconds()};
  // Once admitted, the call belongs to the planning thread.
  if (const auto refusal = environment_.admission.Admit(*this, demand_)) {
    EndWith(Refuse(*refusal, RemainingSeconds(), context_));
  }
}

std::optional<FailureReason> PlanCall::StopReason() const {
  const SteadyTime now = std::chrono::steady_clock::now();
  if (now >= deadline_) return FailureReason::kDeadlineExceeded;
  if (!cancelled_.load(std::memory_order_relaxed)) return std::nullopt;
  // A passed deadline cancels the call too, and is the better reason.
  if (deadline_ == SteadyTime::max()) return FailureReason::kCancelled;
  const auto jitter = kTimerJitter + (deadline_ - account_.arrival()) / kRoundedTo;
  return now + jitter >= deadline_ ? FailureReason::kDeadlineExceeded : FailureReason::kCancelled;
}

void PlanCall::Run() {
  const SteadyTime start = std::chrono::steady_clock::now();
  trace_.End(Stage::kQueue);
  environment_.admission.LeftQueue();
  if (const auto reason = StopReason()) {
    RecordPlan(trace_, false, environment_.metrics);
    DropQueued(*reason);
    return;
  }
  AnswerAndEnd(start);
}

void PlanCall::AnswerAndEnd(SteadyTime start) {
  auto failure = AnswerWithoutThrowing();
  if (failure && failure->message.empty()) {
    const bool stopped = failure->reason == FailureReason::kDeadlineExceeded ||
                         failure->reason == FailureReason::kCancelled;
    if (stopped) *failure = Stopped(failure->reason, "during the plan");
  }
  if (failure && failure->reason == FailureReason::kVerificationFailed) {
    Log(LogLevel::kError, "a route failed its verification",
        {{"what", failure->message}, {"request_bytes", request_bytes_}});
  }
  RecordPlan(trace_, !failure, environment_.metrics);
  // A plan that was given up, and one that did not wait, tell nothing of others.
  const bool typical = !failure && demand_.work.bytes != 0;
  environment_.admission.Finished(
      demand_, typical ? SecondsBetween(start, std::chrono::steady_clock::now()) : 0);
  EndWith(failure ? Refuse(*failure, RemainingSeconds(), context_) : grpc::Status::OK);
}

std::optional<Failure> PlanCall::AnswerWithoutThrowing() {
  std::string what = "unknown exception";
  try {
    return Answer(request_, response_);
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
  }
  Log(LogLevel::kError, "a plan threw", {{"what", what}, {"request_bytes", request_bytes_}});
  Failure failure;
  failure.message = "internal error";
  return failure;
}

void PlanCall::OnCancel() {
  cancelled_.store(true, std::memory_order_relaxed);
  if (!environment_.pool.TryRemove(*this))
    return;  // It runs, or ended: the planning thread looks at cancelled_.
  environment_.admission.LeftQueue();
  DropQueued(StopReason().value_or(FailureReason::kCancelled));
}

void PlanCall::DropQueued(FailureReason reason) {
  environment_.metrics.Shed(LabelIndex(
      reason == FailureReason::kDeadlineExceeded ? ShedReason::kExpired : ShedReason::kCancelled));
  environment_.admission.Finished(demand_, 0);
  EndWith(ToStatus(Stopped(reason, "before the plan began")));
}

void PlanCall::EndWith(const grpc::Status& status) {
  account_.Ended(status);
  Finish(status);
}

double PlanCall::RemainingSeconds() const {
  if (deadline_ == SteadyTime::max()) return std::numeric_limits<double>::infinity();
  return SecondsBetween(std::chrono::steady_clock::now(), deadline_);
}

}  // namespace arclane
