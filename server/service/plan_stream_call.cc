// SPDX-License-Identifier: Apache-2.0
#include "server/service/plan_stream_call.h"

#include <grpcpp/alarm.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/pipeline/plan_item.h"
#include "server/pipeline/plan_stream.h"
#include "server/service/call_account.h"
#include "server/service/kept_answer_store.h"
#include "server/service/message_bytes.h"
#include "server/service/plan_record.h"
#include "server/service/sequential_stream.h"
#include "server/service/status_mapping.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

// Plans of one message that are made on the thread that received it, and how short they must be.
// More would keep from the other threads what they can do at the same time.
constexpr int kMostAtOnce = 4;
constexpr double kShortPlan_s = 50e-6;
// Nothing is read while more than this waits for the client; answers beyond the second are dropped
// for one that says so.
constexpr size_t kFullOutbox = 8 << 20;
constexpr size_t kMostOutbox = 32 << 20;
constexpr char kItemPath[] = "item";

Failure TooManyItems(uint32_t most) {
  Failure failure;
  failure.reason = FailureReason::kTooLarge;
  failure.message = "the limit max_stream_items of " + std::to_string(most) +
                    " items that are not answered is reached";
  failure.metadata = {{"limit", "max_stream_items"}, {"maximum", std::to_string(most)}};
  return failure;
}

Failure Unread() {
  Failure failure;
  failure.reason = FailureReason::kTooLarge;
  failure.message = "too many answers wait to be read";
  failure.metadata = {{"limit", "unread_bytes"}, {"maximum", std::to_string(kMostOutbox)}};
  return failure;
}

Failure Superseded() {
  Failure failure;
  failure.message = "a newer item of the same agent replaced this one";
  failure.own_reason = "SUPERSEDED";
  failure.own_code = absl::StatusCode::kAborted;
  return failure;
}

Failure Dropped(FailureReason reason) {
  Failure failure;
  failure.reason = reason;
  failure.message = reason == FailureReason::kDeadlineExceeded
                        ? "the item's time was over before it was planned"
                        : "the item was cancelled before it was planned";
  return failure;
}

// What items that came with one message share.
struct MessageContext {
  std::shared_ptr<const v1::PlanShared> shared;
  std::optional<NavMeshView> view;
  std::optional<Failure> no_view;
};

class PlanStreamCall;

// One item from its arrival to its answer: a job of the planning threads.
struct StreamPlan final : PlannerPool::Job {
  void Run() override;

  std::shared_ptr<PlanStreamCall> call;  // While it waits or runs.
  uint64_t correlation_id = 0;
  std::optional<uint64_t> agent_id;
  std::string encoded;
  std::shared_ptr<const MessageContext> context;
  PlanDemand demand;
  SteadyTime arrival;
  SteadyTime end = SteadyTime::max();
  std::atomic<bool> cancelled{false};
};

class PlanStreamCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                             private OpenStreams::Stream {
 public:
  PlanStreamCall(ServiceEnvironment& environment, grpc::CallbackServerContext& context)
      : environment_(environment),
        context_(context),
        account_(environment, MethodId::kPlanStream, CallKind::kStream),
        deadline_(DeadlineOf(context)) {
    account_.trace().Begin(context);
    if (environment.navmeshes != nullptr) {
      store_.emplace(*environment.navmeshes);
      prepared_ = &environment.navmeshes->prepared();
    }
  }

  // To be called once, as the handler's last step.
  void Begin(const std::shared_ptr<PlanStreamCall>& self) {
    self_ = self;
    weak_ = self;
    registered_ = environment_.streams.Add(*this);
    absl::MutexLock lock(&mutex_);
    if (registered_) {
      reading_ = true;
      StartRead(&incoming_);
    } else {
      SayGoingAway();
      Advance();
    }
  }

  // On a planning thread.
  void RunPlan(StreamPlan& plan) {
    environment_.admission.LeftQueue();
    environment_.metrics.Stage(LabelIndex(Stage::kQueue),
                               SecondsBetween(plan.arrival, std::chrono::steady_clock::now()));
    Forget(plan);
    if (const auto reason = StopReason(plan)) {
      environment_.metrics.Shed(LabelIndex(*reason == FailureReason::kDeadlineExceeded
                                               ? ShedReason::kExpired
                                               : ShedReason::kCancelled));
      environment_.admission.Finished(plan.demand, 0);
      AnswerFailure(plan.correlation_id, Dropped(*reason));
    } else {
      PlanAndAnswer(plan, /*typical=*/true);
    }
    Settle(plan.correlation_id, &plan);
  }

 private:
  void OnReadDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      reading_ = false;
      if (!ok) read_ended_ = true;
      if (!ok || ending_ || finished_) {
        Advance();
        return;
      }
      taking_ = true;
    }
    const auto failure = Take();
    if (failure) return EndWith(ToStatus(*failure));
    absl::MutexLock lock(&mutex_);
    taking_ = false;
    Advance();
  }

  // Everything a message asks for. What cannot wait is answered into the outbox, and sent behind
  // it.
  std::optional<Failure> Take() {
    grpc::Slice slice;
    if (!incoming_.TrySingleSlice(&slice).ok() && !incoming_.DumpToSingleSlice(&slice).ok())
      return MalformedMessage(v1::PlanStreamRequest::default_instance());
    StreamMessage message;
    if (auto failure = ReadStreamMessage(
            {reinterpret_cast<const char*>(slice.begin()), slice.size()}, &message)) {
      return failure;
    }
    if (message.max_chunk_bytes != 0) chunk_bytes_ = ChunkBytes(message.max_chunk_bytes);
    if (message.shared != nullptr) shared_ = std::move(message.shared);
    for (const uint64_t id : message.cancelled) CancelItem(id);
    if (message.items.empty()) return std::nullopt;
    const std::shared_ptr<const MessageContext> context = ContextOfNow();
    int at_once = 0;
    for (const StreamItem& item : message.items) Accept(item, context, &at_once);
    return std::nullopt;
  }

  std::shared_ptr<const MessageContext> ContextOfNow() {
    auto context = std::make_shared<MessageContext>();
    context->shared = shared_;
    const v1::NavMeshRef& navmesh = shared_->navmesh();
    if (navmesh.navmesh_id().empty() || environment_.navmeshes == nullptr) return context;
    auto view = environment_.navmeshes->registry().View(navmesh.navmesh_id(), {navmesh.version()},
                                                        navmesh.world_id(), NavMeshBackend::Now());
    if (view.ok()) {
      context->view.emplace(*std::move(view));
    } else {
      context->no_view = WithPath(ToFailure(view.failure()), "navmesh");
    }
    return context;
  }

  void Accept(const StreamItem& item, const std::shared_ptr<const MessageContext>& context,
              int* at_once) {
    {
      absl::MutexLock lock(&mutex_);
      if (unanswered_ + outbox_.size() >= environment_.limits.max_stream_items) {
        AnswerFailureLocked(item.correlation_id,
                            TooManyItems(environment_.limits.max_stream_items));
        return;
      }
      if (const auto failure = CheckStreamItem(item)) {
        AnswerFailureLocked(item.correlation_id, *failure);
        return;
      }
      ++unanswered_;
    }
    auto plan = std::make_shared<StreamPlan>();
    plan->correlation_id = item.correlation_id;
    plan->agent_id = item.agent_id;
    plan->arrival = std::chrono::steady_clock::now();
    plan->end = EndOf(item.time_budget_s, plan->arrival);
    plan->context = context;
    plan->demand.bytes = item.encoded.size();
    plan->demand.work = GlanceAtItem(item.encoded, *context->shared);
    plan->demand.remaining_s = plan->end == SteadyTime::max()
                                   ? std::numeric_limits<double>::infinity()
                                   : SecondsBetween(plan->arrival, plan->end);
    if (item.agent_id) Supersede(*item.agent_id);
    if (*at_once < kMostAtOnce && IsShort(plan->demand) &&
        environment_.admission.AdmitAtOnce(plan->demand.bytes)) {
      ++*at_once;
      plan->encoded.assign(item.encoded);
      PlanAndAnswer(*plan, /*typical=*/false);
      Settle(plan->correlation_id, nullptr);
      return;
    }
    plan->encoded.assign(item.encoded);
    plan->call = weak_.lock();
    {
      absl::MutexLock lock(&mutex_);
      plans_[plan.get()] = plan;
      by_id_[plan->correlation_id] = plan.get();
      if (plan->agent_id) waiting_by_agent_[*plan->agent_id] = plan.get();
    }
    // Once admitted, the plan may be over before this returns.
    if (auto refusal = environment_.admission.Admit(*plan, plan->demand)) {
      plan->call = nullptr;
      Forget(*plan);
      AnswerFailure(plan->correlation_id, *refusal);
      Settle(plan->correlation_id, plan.get());
    }
  }

  bool IsShort(const PlanDemand& demand) const {
    return demand.bytes <= environment_.quick_plan_bytes && demand.work.tells_samples &&
           demand.work.samples <= 1000 && demand.work.corner_budget_s == 0 &&
           !demand.work.keeps_clearance &&
           environment_.admission.EstimatedCost(demand.work) <= kShortPlan_s;
  }

  SteadyTime EndOf(double budget_s, SteadyTime arrival) const {
    // A budget beyond the clock's range is none.
    constexpr double kLongest_s = 1e9;
    if (!(budget_s > 0 && budget_s < kLongest_s)) return deadline_;
    return std::min(deadline_, arrival + std::chrono::duration_cast<SteadyTime::duration>(
                                             std::chrono::duration<double>(budget_s)));
  }

  std::optional<FailureReason> StopReason(const StreamPlan& plan) const {
    if (plan.cancelled.load(std::memory_order_relaxed) || gone_.load(std::memory_order_relaxed))
      return FailureReason::kCancelled;
    if (std::chrono::steady_clock::now() >= plan.end) return FailureReason::kDeadlineExceeded;
    return std::nullopt;
  }

  void PlanAndAnswer(StreamPlan& plan, bool typical) {
    const SteadyTime start = std::chrono::steady_clock::now();
    try {
      thread_local ItemPlanner planner;
      const MessageContext& context = *plan.context;
      const SharedOfItems shared = {*context.shared,
                                    context.view ? &*context.view : nullptr,
                                    environment_.limits,
                                    store_ ? &*store_ : nullptr,
                                    context.no_view ? &*context.no_view : nullptr,
                                    /*may_hold_negative_zero=*/true,
                                    prepared_};
      const auto stop = [&] { return StopReason(plan); };
      const ItemAnswer& answer = planner.Plan(plan.encoded, kItemPath, shared, stop);
      typical &= answer.ok();
      if (answer.outcome()) environment_.metrics.Outcome(LabelIndex(*answer.outcome()));
      if (!answer.ok() && answer.failure().reason == FailureReason::kVerificationFailed) {
        Log(LogLevel::kError, "a route failed its verification",
            {{"what", answer.failure().message}});
      }
      RecordPlan(planner.trace(), answer.ok() && planner.trace().Ended(Stage::kValidate),
                 environment_.metrics);
      const double plan_s = SecondsBetween(start, std::chrono::steady_clock::now());
      EncodedPiece piece = EncodeStreamAnswer(plan.correlation_id, answer, chunk_bytes_);
      environment_.admission.Finished(plan.demand, typical ? plan_s : 0);
      absl::MutexLock lock(&mutex_);
      Put(plan.correlation_id, std::move(piece), answer.ok());
    } catch (const std::exception& error) {
      Log(LogLevel::kError, "a plan threw", {{"what", error.what()}});
      environment_.admission.Finished(plan.demand, 0);
      Failure failure;
      failure.message = "internal error";
      AnswerFailure(plan.correlation_id, failure);
    }
  }

  // The plan waits no more.
  void Forget(StreamPlan& plan) {
    absl::MutexLock lock(&mutex_);
    if (!plan.agent_id) return;
    const auto found = waiting_by_agent_.find(*plan.agent_id);
    if (found != waiting_by_agent_.end() && found->second == &plan) waiting_by_agent_.erase(found);
  }

  // The plan is answered. It may be gone when this returns.
  void Settle(uint64_t correlation_id, StreamPlan* plan) {
    std::shared_ptr<StreamPlan> last;
    absl::MutexLock lock(&mutex_);
    if (plan != nullptr) {
      const auto by_id = by_id_.find(correlation_id);
      if (by_id != by_id_.end() && by_id->second == plan) by_id_.erase(by_id);
      const auto owned = plans_.find(plan);
      if (owned != plans_.end()) {
        last = std::move(owned->second);
        plans_.erase(owned);
      }
    }
    --unanswered_;
    if (!taking_) Advance();
  }

  void Supersede(uint64_t agent_id) {
    StreamPlan* older = nullptr;
    {
      absl::MutexLock lock(&mutex_);
      const auto found = waiting_by_agent_.find(agent_id);
      if (found == waiting_by_agent_.end() || !environment_.pool.TryRemove(*found->second)) return;
      older = found->second;
      waiting_by_agent_.erase(found);
    }
    Drop(*older, Superseded());
  }

  void CancelItem(uint64_t correlation_id) {
    StreamPlan* plan = nullptr;
    {
      absl::MutexLock lock(&mutex_);
      const auto found = by_id_.find(correlation_id);
      if (found == by_id_.end()) return;
      plan = found->second;
      plan->cancelled.store(true, std::memory_order_relaxed);
      if (!environment_.pool.TryRemove(*plan)) return;  // It runs, and sees that it is cancelled.
    }
    environment_.metrics.Shed(LabelIndex(ShedReason::kCancelled));
    Forget(*plan);
    Drop(*plan, Dropped(FailureReason::kCancelled));
  }

  // Of a plan that was taken out of the queue.
  void Drop(StreamPlan& plan, const Failure& failure) {
    environment_.admission.LeftQueue();
    environment_.admission.Finished(plan.demand, 0);
    AnswerFailure(plan.correlation_id, failure);
    const std::shared_ptr<PlanStreamCall> keep = std::move(plan.call);
    Settle(plan.correlation_id, &plan);
  }

  void AnswerFailure(uint64_t correlation_id, Failure failure) {
    absl::MutexLock lock(&mutex_);
    AnswerFailureLocked(correlation_id, std::move(failure));
  }
  void AnswerFailureLocked(uint64_t correlation_id, Failure failure)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ItemAnswer answer;
    answer.SetFailure(std::move(failure));
    Put(correlation_id, EncodeStreamAnswer(correlation_id, answer, chunk_bytes_), false);
  }

  // Into the outbox.
  void Put(uint64_t correlation_id, EncodedPiece answer, bool is_plan)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (finished_) return;
    if (outbox_bytes_ + answer.size > kMostOutbox && is_plan)
      return AnswerFailureLocked(correlation_id, Unread());
    outbox_bytes_ += answer.size;
    outbox_.push_back(std::move(answer));
  }

  // Whatever can be done now: a write, a read, the end.
  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (finished_) return;
    if (!writing_ && !outbox_.empty()) Write();
    // A message that is looked at still lies in incoming_, and its items are not counted yet.
    if (taking_) return;
    const bool all_answered = unanswered_ == 0 && outbox_.empty() && !writing_;
    if (all_answered && (ending_ || read_ended_)) {
      finished_ = true;
      const grpc::Status status = ending_ ? StreamEndsStatus() : grpc::Status::OK;
      account_.Ended(status);
      Finish(status);
    } else if (!reading_ && !read_ended_ && !ending_ && outbox_bytes_ <= kFullOutbox &&
               unanswered_ + outbox_.size() < environment_.limits.max_stream_items) {
      reading_ = true;
      StartRead(&incoming_);
    }
  }

  void SayGoingAway() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ending_ = true;
    outbox_.push_back(
        EncodeGoingAway("the server ends this stream; open another for what is not answered"));
    outbox_bytes_ += outbox_.back().size;
  }

  void Write() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::vector<grpc::Slice> slices;
    size_t bytes = 0;
    do {
      EncodedPiece& piece = outbox_.front();
      bytes += piece.size;
      slices.emplace_back(piece.bytes.release(), piece.size,
                          [](void* owned) { delete[] static_cast<uint8_t*>(owned); });
      outbox_.pop_front();
    } while (!outbox_.empty() && bytes + outbox_.front().size <= chunk_bytes_);
    outbox_bytes_ -= bytes;
    outgoing_ = grpc::ByteBuffer(slices.data(), slices.size());
    writing_ = true;
    StartWrite(&outgoing_);
    WatchForStall();
  }

  // A client that reads nothing for long is given up: what waits for it is somebody else's memory.
  // One alarm looks after many writes.
  void WatchForStall() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (stall_watched_) return;
    stall_watched_ = true;
    const auto limit = std::chrono::duration_cast<std::chrono::system_clock::duration>(
        std::chrono::duration<double>(environment_.write_stall_s));
    stall_alarm_ = std::make_unique<grpc::Alarm>();
    stall_alarm_->Set(std::chrono::system_clock::now() + limit,
                      [weak = weak_, write = write_count_](bool expired) {
                        const std::shared_ptr<PlanStreamCall> self = weak.lock();
                        if (expired && self != nullptr) self->StallAlarm(write);
                      });
  }
  void StallAlarm(uint64_t write) {
    std::unique_ptr<grpc::Alarm> old;
    absl::MutexLock lock(&mutex_);
    stall_watched_ = false;
    old = std::move(stall_alarm_);
    if (finished_ || !writing_) return;
    if (write == write_count_) {
      context_.TryCancel();
    } else {
      WatchForStall();
    }
  }

  void OnWriteDone(bool ok) override {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    ++write_count_;
    if (ok) Advance();
  }

  void OnCancel() override {
    gone_.store(true, std::memory_order_relaxed);
    Failure failure;
    failure.reason = std::chrono::steady_clock::now() >= deadline_
                         ? FailureReason::kDeadlineExceeded
                         : FailureReason::kCancelled;
    failure.message = "the stream was given up";
    EndWith(ToStatus(failure));
  }

  // Ends the stream whatever is under way; plans that wait are dropped.
  void EndWith(const grpc::Status& status) {
    std::vector<std::shared_ptr<StreamPlan>> dropped;
    {
      absl::MutexLock lock(&mutex_);
      gone_.store(true, std::memory_order_relaxed);
      if (!finished_) {
        finished_ = true;
        account_.Ended(status);
        Finish(status);
      }
      outbox_.clear();
      outbox_bytes_ = 0;
      for (const auto& [plan, owner] : plans_) {
        if (environment_.pool.TryRemove(*owner)) dropped.push_back(owner);
      }
    }
    for (const auto& plan : dropped) {
      environment_.metrics.Shed(LabelIndex(ShedReason::kCancelled));
      Drop(*plan, Dropped(FailureReason::kCancelled));
    }
  }

  void OnDone() override {
    if (registered_) environment_.streams.Remove(*this);
    std::shared_ptr<PlanStreamCall> self = std::move(self_);
    std::unique_ptr<grpc::Alarm> alarm;
    {
      absl::MutexLock lock(&mutex_);
      alarm = std::move(stall_alarm_);
    }
  }

  // From the server's own threads; it must not wait for others.
  void End() override {
    absl::MutexLock lock(&mutex_);
    if (ending_ || finished_) return;
    SayGoingAway();
    Advance();
  }
  bool EndsByAge() const override { return true; }

  ServiceEnvironment& environment_;
  grpc::CallbackServerContext& context_;
  CallAccount account_;
  const SteadyTime deadline_;
  std::optional<KeptAnswerStore> store_;
  PreparedPlans* prepared_ = nullptr;
  std::shared_ptr<PlanStreamCall> self_;  // Until gRPC is done; plans hold on longer.
  std::weak_ptr<PlanStreamCall> weak_;
  bool registered_ = false;
  std::atomic<bool> gone_{false};
  std::atomic<size_t> chunk_bytes_{ChunkBytes(0)};
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  // Of the reads alone, one after the other.
  std::shared_ptr<const v1::PlanShared> shared_ = std::make_shared<v1::PlanShared>();

  absl::Mutex mutex_;  // Before the pool's.
  absl::flat_hash_map<StreamPlan*, std::shared_ptr<StreamPlan>> plans_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, StreamPlan*> by_id_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, StreamPlan*> waiting_by_agent_ ABSL_GUARDED_BY(mutex_);
  size_t unanswered_ ABSL_GUARDED_BY(mutex_) = 0;  // Accepted, and not in the outbox yet.
  std::deque<EncodedPiece> outbox_ ABSL_GUARDED_BY(mutex_);
  size_t outbox_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool taking_ ABSL_GUARDED_BY(mutex_) = false;  // A message is looked at: sending waits for it.
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool read_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;  // Going away is in the outbox, or sent.
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t write_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stall_watched_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<grpc::Alarm> stall_alarm_ ABSL_GUARDED_BY(mutex_);
};

void StreamPlan::Run() {
  const std::shared_ptr<PlanStreamCall> kept = std::move(call);
  kept->RunPlan(*this);
}

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartPlanStreamCall(
    ServiceEnvironment& environment, grpc::CallbackServerContext& context) {
  auto call = std::make_shared<PlanStreamCall>(environment, context);
  PlanStreamCall* reactor = call.get();
  reactor->Begin(call);
  return reactor;
}

}  // namespace arclane
