// SPDX-License-Identifier: Apache-2.0
#include "server/service/flight_plan.h"

#include <exception>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/synchronization/mutex.h"
#include "arclane/v1/planner.pb.h"
#include "server/codec/message_arena.h"
#include "server/pipeline/declared_dependencies.h"
#include "server/pipeline/plan_corridor.h"
#include "server/service/kept_answer.h"
#include "server/service/message_bytes.h"
#include "server/service/plan_record.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

// The first byte of a key tells the kind of the kept thing.
std::string_view RequestBytes(const Flight& flight) { return flight.key().request.substr(1); }

Failure Late() {
  Failure failure;
  failure.reason = FailureReason::kDeadlineExceeded;
  failure.message = "the deadline passed before the plan was done";
  return failure;
}

class FlightPlan;

// Where a plan is found while it waits in the queue, by those who want it out of there.
struct QueuedPlan {
  absl::Mutex mutex;
  FlightPlan* plan ABSL_GUARDED_BY(mutex) = nullptr;
};

class FlightPlan final : public PlannerPool::Job {
 public:
  FlightPlan(ServiceEnvironment& environment, std::shared_ptr<Flight> flight, RequestState state,
             std::shared_ptr<PlanTrace> trace)
      : environment_(environment),
        flight_(std::move(flight)),
        state_(std::move(state)),
        trace_(std::move(trace)) {
    // The plan may outlive the calls that wait for it; the server must not end before it.
    environment_.in_flight.Enter();
  }
  ~FlightPlan() override {
    LeaveQueue();
    environment_.in_flight.Leave();
  }

  // To be called before the plan is queued.
  std::shared_ptr<QueuedPlan> EnterQueue() {
    queued_ = std::make_shared<QueuedPlan>();
    absl::MutexLock lock(&queued_->mutex);
    queued_->plan = this;
    return queued_;
  }

  // Frees the place of a plan that nobody waits for any more, if it still waits for a thread.
  static void Abandon(ServiceEnvironment& environment, QueuedPlan& queued) {
    FlightPlan* removed = nullptr;
    {
      absl::MutexLock lock(&queued.mutex);
      if (queued.plan != nullptr && environment.pool.TryRemove(*queued.plan)) {
        removed = std::exchange(queued.plan, nullptr);
      }
    }
    if (removed == nullptr) return;
    environment.admission.LeftQueue();
    environment.admission.Finished(removed->demand_, 0);
    environment.metrics.Shed(LabelIndex(ShedReason::kCancelled));
    delete removed;
  }

  size_t bytes() const { return flight_->key().request.size(); }

  void Run() override {
    LeaveQueue();
    const SteadyTime start = std::chrono::steady_clock::now();
    trace_->End(Stage::kQueue);
    environment_.admission.LeftQueue();
    if (flight_->ShouldStop(NavMeshBackend::Now())) {
      environment_.admission.Finished(demand_, 0);
      RecordPlan(*trace_, false, environment_.metrics);
      environment_.metrics.Shed(LabelIndex(ShedReason::kExpired));
      flight_->Expire(NavMeshBackend::Now(), Shared(Late()));
      delete this;
      return;
    }
    PlanAndEnd(start);
  }

  // For a plan that did not wait in the queue. `canonical` as StartFlightPlan's.
  void RunAtOnce(const v1::PlanCorridorRequest* canonical) {
    trace_->Restart();
    parsed_ = canonical;
    demand_.bytes = bytes();
    PlanAndEnd(std::chrono::steady_clock::now());
  }

  // Puts the plan into the queue; on refusal it stays the caller's.
  std::optional<Failure> Queue(double remaining_s, v1::PlanCorridorRequest* canonical) {
    if (canonical != nullptr) {
      kept_ = std::make_unique<v1::PlanCorridorRequest>();
      kept_->Swap(canonical);
      parsed_ = kept_.get();
    }
    demand_ = {bytes(), GlanceAtWork(WorkKind::kCorridor, RequestBytes(*flight_)), remaining_s};
    return environment_.admission.Admit(*this, demand_);
  }

 private:
  void LeaveQueue() {
    if (queued_ == nullptr) return;
    absl::MutexLock lock(&queued_->mutex);
    queued_->plan = nullptr;
  }

  // Destroys the plan.
  void PlanAndEnd(SteadyTime start) {
    std::vector<Dependency> dependencies;
    std::shared_ptr<const KeptAnswer> answer;
    const auto failure = PlanWithoutThrowing(dependencies, answer);
    RecordPlan(*trace_, !failure, environment_.metrics);
    if (failure && failure->reason == FailureReason::kVerificationFailed) {
      Log(LogLevel::kError, "a route failed its verification",
          {{"what", failure->message}, {"request_bytes", bytes()}});
    }
    // A plan that was given up, and one that did not wait, tell nothing of others.
    const bool typical = !failure && demand_.work.bytes != 0;
    environment_.admission.Finished(
        demand_, typical ? SecondsBetween(start, std::chrono::steady_clock::now()) : 0);
    if (!failure) {
      environment_.navmeshes->cache().Finish(*flight_, dependencies, std::move(answer));
    } else if (stopped_) {
      flight_->Expire(NavMeshBackend::Now(), Shared(Late()));
    } else {
      flight_->Fail(Shared(*failure));
    }
    delete this;
  }

  std::optional<Failure> PlanWithoutThrowing(std::vector<Dependency>& dependencies,
                                             std::shared_ptr<const KeptAnswer>& answer) {
    try {
      return Plan(dependencies, answer);
    } catch (const std::exception& error) {
      Log(LogLevel::kError, "a plan threw", {{"what", error.what()}, {"request_bytes", bytes()}});
    }
    Failure failure;
    failure.message = "internal error";
    return failure;
  }

  std::optional<Failure> Plan(std::vector<Dependency>& dependencies,
                              std::shared_ptr<const KeptAnswer>& answer) {
    thread_local MessageArena arena;
    const absl::Cleanup give_back = [] { arena.Reset(); };
    if (parsed_ == nullptr) {
      const std::string_view encoded = RequestBytes(*flight_);
      auto& parsed = *arena.New<v1::PlanCorridorRequest>();
      if (!parsed.ParseFromArray(encoded.data(), static_cast<int>(encoded.size())))
        return MalformedMessage(parsed);
      parsed_ = &parsed;
    }
    const v1::PlanCorridorRequest& request = *parsed_;
    trace_->End(Stage::kValidate);
    auto& response = *arena.New<v1::PlanCorridorResponse>();
    const auto stop = [this]() -> std::optional<FailureReason> {
      if (!flight_->ShouldStop(NavMeshBackend::Now())) return std::nullopt;
      stopped_ = true;
      return FailureReason::kDeadlineExceeded;
    };
    std::optional<Failure> failure;
    if (state_.view != nullptr) {
      ReadSet reads;
      failure = AnswerPlanCorridorByRef(request, *state_.view, environment_.limits, stop, response,
                                        reads, trace_.get(), &environment_.navmeshes->prepared());
      dependencies = std::move(reads.dependencies);
    } else {
      failure =
          AnswerPlanCorridor(request, environment_.limits, stop, response, nullptr, trace_.get());
      if (!failure) {
        dependencies = DeclaredDependencies(request.corridor().dependencies(), *state_.ledger);
      }
    }
    if (failure) return failure;
    response.clear_answer();  // Belongs to each call that is answered.
    grpc::Slice slice;
    if (!ToSlice(response, &slice)) return AnswerTooLarge();
    answer = std::make_shared<KeptAnswer>(slice, response.route().outcome());
    trace_->End(Stage::kEncode);
    return std::nullopt;
  }

  ServiceEnvironment& environment_;
  const std::shared_ptr<Flight> flight_;
  const RequestState state_;
  const std::shared_ptr<PlanTrace> trace_;
  PlanDemand demand_;
  std::shared_ptr<QueuedPlan> queued_;
  std::unique_ptr<v1::PlanCorridorRequest> kept_;
  const v1::PlanCorridorRequest* parsed_ = nullptr;  // Null: only its bytes are known.
  bool stopped_ = false;
};

}  // namespace

void StartFlightPlan(ServiceEnvironment& environment, std::shared_ptr<Flight> flight,
                     uint64_t waiter, RequestState state, bool quick, double remaining_s,
                     std::shared_ptr<PlanTrace> trace, v1::PlanCorridorRequest* canonical) {
  // Once admitted, the plan belongs to the planning thread, and to itself.
  auto* plan = new FlightPlan(environment, flight, std::move(state), std::move(trace));
  if (quick && plan->bytes() <= environment.quick_plan_bytes &&
      environment.admission.AdmitAtOnce(plan->bytes())) {
    plan->RunAtOnce(canonical);
    return;
  }
  flight->WhenAbandoned(
      [&environment, queued = plan->EnterQueue()] { FlightPlan::Abandon(environment, *queued); });
  if (auto refusal = plan->Queue(remaining_s, canonical)) {
    delete plan;
    flight->HandOn(waiter, Shared(*std::move(refusal)));
  }
}

std::shared_ptr<const void> Shared(Failure failure) {
  return std::make_shared<const Failure>(std::move(failure));
}

const Failure& FailureOf(const FlightOutcome& outcome) {
  return *static_cast<const Failure*>(outcome.failure.get());
}

}  // namespace arclane
