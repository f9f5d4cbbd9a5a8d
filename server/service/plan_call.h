// SPDX-License-Identifier: Apache-2.0
// One unary Plan call, the same for every Plan method: bytes in, admission, a planning thread,
// bytes out.
//
// arrival -> size check -> admission -> queue -> [planning thread: parse -> plan -> encode] ->
// answer
//
// A small request whose plan is sure to be short takes the same way without the queue, on the
// thread that it arrived on, while no other plan waits: the hop costs more than such a plan.
//
// A method joins by a description like those of plan_methods.h: its Request, and its Response that
// has `answer` (AnswerInfo) beside its result; kId; kWork: the kind of its plans; the limit on the
// request's bytes (ByteLimit) and how GetLimits names it (kByteLimitName); Plan, the pipeline;
// IsQuick: whether the plan of a small request is sure to be short; OutcomeOf, for the metrics;
// WantsStageTimes.
#ifndef ARCLANE_SERVER_SERVICE_PLAN_CALL_H_
#define ARCLANE_SERVER_SERVICE_PLAN_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <optional>

#include "absl/cleanup/cleanup.h"
#include "arclane/v1/planner.pb.h"
#include "server/codec/failure.h"
#include "server/codec/message_arena.h"
#include "server/pipeline/plan_failure.h"
#include "server/pipeline/plan_trace.h"
#include "server/service/call_account.h"
#include "server/service/message_bytes.h"
#include "server/service/plan_record.h"
#include "server/service/planner_pool.h"
#include "server/service/service_environment.h"

namespace arclane {

// The part that does not depend on the method.
class PlanCall : public grpc::ServerUnaryReactor, private PlannerPool::Job {
 protected:
  PlanCall(ServiceEnvironment& environment, MethodId method, grpc::CallbackServerContext& context,
           const grpc::ByteBuffer& request, grpc::ByteBuffer& response);
  ~PlanCall() override = default;

  // Refuses the call, or queues it; to be called once, by the handler, as its last step.
  void Begin(size_t byte_limit, const char* byte_limit_name, WorkKind kind);
  // Parses the request, to tell whether its plan is sure to take no longer than a few dozen
  // microseconds. What is parsed is kept for Answer on the same thread.
  virtual bool IsQuick(const grpc::ByteBuffer& request) = 0;
  // On the thread of IsQuick or on a planning thread.
  virtual std::optional<Failure> Answer(const grpc::ByteBuffer& request,
                                        grpc::ByteBuffer& response) = 0;

  // Why planning should end now, if it should. Cheap enough for every few hundred steps of a loop.
  std::optional<FailureReason> StopReason() const;

  ServiceEnvironment& environment_;
  PlanTrace trace_;  // Its first stage begins when the call arrives.

 private:
  void Run() override;
  void AnswerAndEnd(SteadyTime start);
  void OnCancel() override;
  void OnDone() override { delete this; }
  // OnDone and OnCancel are short and hold no lock while they call gRPC, so they may run where the
  // event is found. Otherwise gRPC hands each over to another thread, which costs a call some 10 us
  // of CPU.
  bool InternalInlineable() override { return true; }
  std::optional<Failure> AnswerWithoutThrowing();
  void DropQueued(FailureReason reason);
  void EndWith(const grpc::Status& status);
  double RemainingSeconds() const;

  grpc::CallbackServerContext& context_;
  const grpc::ByteBuffer& request_;
  grpc::ByteBuffer& response_;
  CallAccount account_;
  const size_t request_bytes_;
  PlanDemand demand_;
  const SteadyTime deadline_;
  std::atomic<bool> cancelled_{false};
};

template <typename Method>
class PlanCallOf final : public PlanCall {
 public:
  static grpc::ServerUnaryReactor* Start(ServiceEnvironment& environment,
                                         grpc::CallbackServerContext& context,
                                         const grpc::ByteBuffer& request,
                                         grpc::ByteBuffer& response) {
    auto* call = new PlanCallOf(environment, context, request, response);
    call->Begin(Method::ByteLimit(environment.limits), Method::kByteLimitName, Method::kWork);
    return call;
  }

 private:
  PlanCallOf(ServiceEnvironment& environment, grpc::CallbackServerContext& context,
             const grpc::ByteBuffer& request, grpc::ByteBuffer& response)
      : PlanCall(environment, Method::kId, context, request, response) {}

  std::optional<Failure> Answer(const grpc::ByteBuffer& request_bytes,
                                grpc::ByteBuffer& response_bytes) override {
    const absl::Cleanup give_back = [] { Arena().Reset(); };
    if (parsed_ == nullptr && !Parse(request_bytes)) {
      trace_.End(Stage::kValidate);
      return MalformedMessage(Method::Request::default_instance());
    }
    auto& request = *parsed_;
    auto& response = *Arena().template New<typename Method::Response>();
    const auto stop = [this] { return StopReason(); };
    auto failure = Plan(request, stop, response);
    if (!failure) failure = Encode(request, response, response_bytes);
    return failure;
  }

  bool IsQuick(const grpc::ByteBuffer& request_bytes) override {
    if (!Parse(request_bytes) || Method::IsQuick(*parsed_)) return true;
    parsed_ = nullptr;
    Arena().Reset();
    return false;
  }

  bool Parse(const grpc::ByteBuffer& bytes) {
    auto* request = Arena().template New<typename Method::Request>();
    if (ParseBytes(bytes, *request)) parsed_ = request;
    return parsed_ != nullptr;
  }

  // The messages of the call that the thread is busy with.
  static MessageArena& Arena() {
    thread_local MessageArena arena;
    return arena;
  }

  // Methods plan within the limits, or with all that the service has.
  std::optional<Failure> Plan(typename Method::Request& request, StopSignal stop,
                              typename Method::Response& response) {
    if constexpr (requires { Method::Plan(request, environment_, stop, response, &trace_); }) {
      return Method::Plan(request, environment_, stop, response, &trace_);
    } else {
      return Method::Plan(request, environment_.limits, stop, response, &trace_);
    }
  }

  // The answer's own fields follow as a second piece, since the time of encoding is known only
  // then; concatenated pieces are one message.
  std::optional<Failure> Encode(const typename Method::Request& request,
                                const typename Method::Response& response,
                                grpc::ByteBuffer& bytes) {
    grpc::Slice pieces[2];
    if (!ToSlice(response, &pieces[0])) return AnswerTooLarge();
    trace_.End(Stage::kEncode);
    typename Method::Response own;
    own.mutable_answer()->set_cache(v1::CACHE_OUTCOME_BYPASS);
    if (Method::WantsStageTimes(request)) {
      WriteStageTimes(trace_, own.mutable_answer()->mutable_stage_times());
    }
    ToSlice(own, &pieces[1]);
    bytes = grpc::ByteBuffer(pieces, 2);
    if (const auto outcome = Method::OutcomeOf(response))
      environment_.metrics.Outcome(LabelIndex(*outcome));
    return std::nullopt;
  }

  typename Method::Request* parsed_ = nullptr;  // In this thread's arena, once parsed.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PLAN_CALL_H_
