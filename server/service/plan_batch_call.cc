// SPDX-License-Identifier: Apache-2.0
#include "server/service/plan_batch_call.h"

#include <grpcpp/alarm.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/pipeline/plan_batch.h"
#include "server/pipeline/plan_item.h"
#include "server/service/call_account.h"
#include "server/service/kept_answer_store.h"
#include "server/service/message_bytes.h"
#include "server/service/plan_record.h"
#include "server/service/status_mapping.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

// How long a thread stays with a batch before others get their turn.
constexpr double kSlice_s = 0.5e-3;
constexpr auto kSlice = std::chrono::microseconds(500);
// A message is sent when it has this size, or when the last one was sent long ago: the first soon,
// so that a client has something to do, those behind it at longer intervals. Each message costs
// some wake-ups of threads on either side, which are dearer than a plan.
constexpr size_t kSendBytes = 512 << 10;
constexpr auto kFirstSendInterval = std::chrono::milliseconds(1);
constexpr auto kLongestSendInterval = std::chrono::milliseconds(4);
// What the deadline must leave for the answers to travel.
constexpr double kTravelShare = 0.1;
constexpr double kLeastTravel_s = 5e-3;
// How often a small item's plan asks whether to stop before the clock is looked at.
constexpr uint32_t kAsksAClock = 8;
// Items from this size on may take longer than a slice: they wait for their turn as large plans do.
constexpr size_t kLargeItemBytes = 32 << 10;

void FreePiece(void* bytes) { delete[] static_cast<uint8_t*>(bytes); }

// Without a copy: the slices own the pieces.
grpc::ByteBuffer ToByteBuffer(BatchMessage message) {
  std::vector<grpc::Slice> slices;
  slices.reserve(message.pieces.size());
  for (EncodedPiece& piece : message.pieces)
    slices.emplace_back(piece.bytes.release(), piece.size, FreePiece);
  return {slices.data(), slices.size()};
}

SteadyTime After(SteadyTime time, double seconds) {
  return time + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                    std::chrono::duration<double>(seconds));
}

class PlanBatchCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  PlanBatchCall(ServiceEnvironment& environment, grpc::CallbackServerContext& context)
      : environment_(environment),
        context_(context),
        account_(environment, MethodId::kPlanBatch, CallKind::kUnary),
        deadline_(DeadlineOf(context)),
        last_write_(account_.arrival()) {
    account_.trace().Begin(context);
    if (environment.navmeshes != nullptr) store_.emplace(*environment.navmeshes);
  }
  ~PlanBatchCall() override { environment_.admission.ReleaseBytes(admitted_bytes_); }

  // To be called once, as the handler's last step.
  void Begin(std::shared_ptr<PlanBatchCall> self, const grpc::ByteBuffer& request) {
    self_ = self;
    self_weak_ = self;
    if (!HasArrived(request)) return EndWith(ToStatus(CallerGone()));
    const size_t bytes = request.Length();
    if (bytes > environment_.limits.max_plan_batch_bytes) {
      return EndWith(ToStatus(
          TooManyBytes("max_plan_batch_bytes", environment_.limits.max_plan_batch_bytes, bytes)));
    }
    if (auto refusal = environment_.admission.AdmitWork(bytes, kSlice_s, RemainingSeconds()))
      return EndWith(Refuse(*refusal, RemainingSeconds(), context_));
    admitted_bytes_ = bytes;
    account_.trace().SetBytes(bytes, 0);
    if (!request.TrySingleSlice(&bytes_).ok() && !request.DumpToSingleSlice(&bytes_).ok())
      return EndWith({grpc::StatusCode::INTERNAL, "internal error"});
    workers_.push_back(std::make_unique<Worker>(*this));
    workers_[0]->keep = std::move(self);
    if (environment_.pool.TryPush(*workers_[0], kSlice_s)) return;
    workers_[0]->keep = nullptr;
    EndWith(Refuse(environment_.admission.QueueFull(), RemainingSeconds(), context_));
  }

 private:
  // The batch on one planning thread after another; there are as many as threads.
  struct Worker final : PlannerPool::Job {
    explicit Worker(PlanBatchCall& owner) : call(owner) {}
    void Run() override {
      const std::shared_ptr<PlanBatchCall> kept = std::move(keep);
      kept->Work(*this);
    }

    PlanBatchCall& call;
    std::shared_ptr<PlanBatchCall> keep;  // While it is queued.
    std::optional<ItemRange> range;       // Taken, and waiting for its turn.
    double run_s = kSlice_s;              // How long it was busy when it last ran.
    double item_s = 0;                    // Of the items that it planned last, each.
    bool is_parked = false;               // Under the call's mutex.
  };

  void Queue(Worker& worker, double cost_s) {
    worker.keep = shared_this();
    environment_.pool.Push(worker, cost_s);
  }
  std::shared_ptr<PlanBatchCall> shared_this() { return self_weak_.lock(); }

  void Work(Worker& worker) {
    const SteadyTime start = std::chrono::steady_clock::now();
    try {
      if (plan_ == nullptr && !Prepare()) return;
      const double cost_s = WorkUntil(start + kSlice, worker);
      if (cost_s == 0) return;  // It may be at work on another thread already.
      worker.run_s = SecondsBetween(start, std::chrono::steady_clock::now());
      Queue(worker, std::max({cost_s, worker.run_s, kSlice_s}));
    } catch (const std::exception& error) {
      Log(LogLevel::kError, "a batch threw", {{"what", error.what()}});
      Failure failure;
      failure.message = "internal error";
      EndWith(ToStatus(failure));
    }
  }

  // On the first worker, before there are others.
  bool Prepare() {
    std::unique_ptr<BatchPlan> plan;
    auto failure = BatchPlan::Read({reinterpret_cast<const char*>(bytes_.begin()), bytes_.size()},
                                   environment_.limits, &plan);
    if (!failure) failure = TakeView(plan->shared());
    if (failure) {
      EndWith(Refuse(*failure, RemainingSeconds(), context_));
      return false;
    }
    const int threads = environment_.pool.thread_count();
    plan->Begin(view_ ? &*view_ : nullptr, store_ ? &*store_ : nullptr, threads,
                environment_.navmeshes == nullptr ? nullptr : &environment_.navmeshes->prepared());
    SetEnd(plan->time_budget_s());
    plan_ = std::move(plan);
    environment_.metrics.Batch(plan_->item_count());
    if (plan_->item_count() == 0) {
      EndWith(grpc::Status::OK);
      return false;
    }
    const size_t workers = std::min<size_t>(static_cast<size_t>(threads), plan_->item_count());
    while (workers_.size() < workers) workers_.push_back(std::make_unique<Worker>(*this));
    for (size_t i = 1; i < workers; ++i) Queue(*workers_[i], kSlice_s);
    return true;
  }

  std::optional<Failure> TakeView(const v1::PlanShared& shared) {
    const v1::NavMeshRef& navmesh = shared.navmesh();
    if (navmesh.navmesh_id().empty() || environment_.navmeshes == nullptr) return std::nullopt;
    auto view = environment_.navmeshes->registry().View(navmesh.navmesh_id(), {navmesh.version()},
                                                        navmesh.world_id(), NavMeshBackend::Now());
    if (!view.ok()) return WithPath(ToFailure(view.failure()), "shared.navmesh");
    view_.emplace(*std::move(view));
    return std::nullopt;
  }

  void SetEnd(double budget_s) {
    end_ = SteadyTime::max();
    if (deadline_ != SteadyTime::max()) {
      const double whole_s = SecondsBetween(account_.arrival(), deadline_);
      end_ = After(deadline_, -std::max(kTravelShare * whole_s, kLeastTravel_s));
    }
    if (budget_s > 0 &&
        (end_ == SteadyTime::max() || budget_s < SecondsBetween(account_.arrival(), end_))) {
      // A budget beyond the clock's range is none.
      constexpr double kLongest_s = 1e9;
      if (budget_s < kLongest_s) end_ = After(account_.arrival(), budget_s);
    }
  }

  // Plans until the slice is over. What the worker's next turn will cost; 0: it has none for now.
  double WorkUntil(SteadyTime slice_end, Worker& worker) {
    thread_local ItemPlanner planner;
    // The clock is looked at when the slice begins and once in some times after: a slice is short,
    // and what lies between two asks is a bounded amount of work.
    bool is_large = false;
    bool is_over = false;
    uint32_t asked = 0;
    const auto stop = [&]() -> std::optional<FailureReason> {
      if (cancelled_.load(std::memory_order_relaxed)) return FailureReason::kCancelled;
      if (is_large || asked++ % kAsksAClock == 0)
        is_over = is_over || std::chrono::steady_clock::now() >= end_;
      if (is_over) return FailureReason::kDeadlineExceeded;
      return std::nullopt;
    };
    const bool had_its_turn = worker.range.has_value();
    bool first = true;
    while (!cancelled_.load(std::memory_order_relaxed)) {
      std::optional<ItemRange> range = std::exchange(worker.range, std::nullopt);
      const uint32_t most = MostItems(worker.item_s);
      if (!range) range = plan_->TakeRange(most);
      if (!range) range = ParkUnlessThereIsMore(worker);
      if (!range) return 0;
      if (const double large_s = LargeCost(range->begin); large_s > 0 && !(first && had_its_turn)) {
        worker.range = range;
        Send(/*now=*/true);
        return large_s;
      }
      first = false;
      is_large = plan_->item(range->begin).size() >= kLargeItemBytes;
      const SteadyTime begin = std::chrono::steady_clock::now();
      uint32_t next = range->begin;
      // A large item ends the range before it.
      const auto pause = [&] {
        ++next;
        return cancelled_.load(std::memory_order_relaxed) ||
               std::chrono::steady_clock::now() >= slice_end ||
               (next < range->end && LargeCost(next) > 0);
      };
      const uint32_t planned =
          plan_->PlanRange(*range, planner, stop, pause,
                           [&](const ItemAnswer& answer, const PlanTrace& trace, uint32_t copies) {
                             Count(answer, trace, copies);
                           });
      Send(/*now=*/false);
      const SteadyTime end = std::chrono::steady_clock::now();
      worker.item_s = SecondsBetween(begin, end) / planned;
      if (end >= slice_end) {
        WakeWorkers();  // What is left of the range may be taken by others.
        return kSlice_s;
      }
    }
    return 0;
  }

  // As many items as fit into a slice.
  static uint32_t MostItems(double item_s) {
    constexpr uint32_t kMost = 1000;
    return item_s * kMost <= kSlice_s ? kMost
                                      : std::max(1u, static_cast<uint32_t>(kSlice_s / item_s));
  }

  // What an item costs that may be too long for a slice; 0 for others.
  double LargeCost(uint32_t index) const {
    const std::string_view item = plan_->item(index);
    if (item.size() < kLargeItemBytes) return 0;
    const double cost_s = environment_.admission.EstimatedCost(GlanceAtItem(item, plan_->shared()));
    return cost_s > kSlice_s ? cost_s : 0;
  }

  // Looks once more, and marks the worker as one to be woken when a message was taken: both under
  // the mutex under which messages are. From then on the worker belongs to whoever wakes it. What
  // waits without being enough for a message is sent where room is lacking: nobody else would.
  std::optional<ItemRange> ParkUnlessThereIsMore(Worker& worker) {
    std::vector<Worker*> woken;
    {
      absl::MutexLock lock(&mutex_);
      const std::optional<ItemRange> range = plan_->TakeRange(MostItems(worker.item_s));
      if (range) return range;
      worker.is_parked = true;
      if (plan_->has_more_ranges()) woken = SendLocked(/*now=*/true);
      WatchForStall();
    }
    QueueAll(woken);
    return std::nullopt;
  }

  void Count(const ItemAnswer& answer, const PlanTrace& trace, uint32_t copies) {
    RecordPlan(trace, answer.ok() && trace.Ended(Stage::kValidate), environment_.metrics);
    if (answer.ok()) {
      if (answer.outcome()) {
        environment_.metrics.Outcome(LabelIndex(*answer.outcome()), 1 + copies);
      }
    } else if (answer.failure().reason == FailureReason::kVerificationFailed) {
      Log(LogLevel::kError, "a route failed its verification",
          {{"what", answer.failure().message}});
    }
  }

  // Sends a message if none is on its way and there is enough for one, or anything, if `now`.
  void Send(bool now) {
    std::vector<Worker*> woken;
    {
      absl::MutexLock lock(&mutex_);
      woken = SendLocked(now);
    }
    QueueAll(woken);
  }

  // Returns the workers that are to be queued, for which there is room now.
  std::vector<Worker*> SendLocked(bool now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || finished_ || plan_ == nullptr) return {};
    const SteadyTime time = std::chrono::steady_clock::now();
    now |= time - last_write_ >= send_interval_;
    auto message = plan_->TakeMessage(now ? 1 : kSendBytes);
    if (!message) return {};
    last_write_ = time;
    send_interval_ = std::min(2 * send_interval_, kLongestSendInterval);
    outgoing_ = ToByteBuffer(*std::move(message));
    sent_bytes_ += outgoing_.Length();
    if (plan_->done()) {
      finished_ = true;
      account_.trace().SetBytes(admitted_bytes_, sent_bytes_);
      account_.Ended(grpc::Status::OK);
      StartWriteAndFinish(&outgoing_, {}, grpc::Status::OK);
      return {};
    }
    writing_ = true;
    StartWrite(&outgoing_);
    return TakeParked();
  }

  std::vector<Worker*> TakeParked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::vector<Worker*> parked;
    for (const auto& worker : workers_) {
      if (std::exchange(worker->is_parked, false)) parked.push_back(worker.get());
    }
    return parked;
  }

  void QueueAll(std::span<Worker* const> workers) {
    for (Worker* worker : workers) Queue(*worker, std::max(worker->run_s, kSlice_s));
  }

  // A client that reads nothing for long is given up: what waits for it is somebody else's memory.
  void WatchForStall() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!writing_ || stall_alarm_ != nullptr) return;
    stall_alarm_ = std::make_unique<grpc::Alarm>();
    const auto limit = std::chrono::duration_cast<std::chrono::system_clock::duration>(
        std::chrono::duration<double>(environment_.write_stall_s));
    stall_alarm_->Set(std::chrono::system_clock::now() + limit,
                      [weak = self_weak_, write = write_count_](bool expired) {
                        const std::shared_ptr<PlanBatchCall> self = weak.lock();
                        if (expired && self != nullptr) self->GiveUpWrite(write);
                      });
  }
  void GiveUpWrite(uint64_t write) {
    absl::MutexLock lock(&mutex_);
    if (!writing_ || finished_ || write != write_count_) return;
    context_.TryCancel();
  }

  void OnWriteDone(bool ok) override {
    std::unique_ptr<grpc::Alarm> alarm;
    {
      absl::MutexLock lock(&mutex_);
      writing_ = false;
      ++write_count_;
      alarm = std::move(stall_alarm_);
    }
    if (!ok) return OnCancel();
    Send(/*now=*/false);
    WakeWorkers();
  }

  // The window may have opened without a message that could be sent.
  void WakeWorkers() {
    std::vector<Worker*> woken;
    {
      absl::MutexLock lock(&mutex_);
      if (finished_) return;
      woken = TakeParked();
    }
    QueueAll(woken);
  }

  void OnCancel() override {
    cancelled_.store(true, std::memory_order_relaxed);
    EndWith(ToStatus(CallerGone()));
  }

  Failure CallerGone() const {
    Failure failure;
    failure.reason = std::chrono::steady_clock::now() >= deadline_
                         ? FailureReason::kDeadlineExceeded
                         : FailureReason::kCancelled;
    failure.message = "the batch was given up";
    return failure;
  }

  void OnDone() override { self_.reset(); }

  void EndWith(const grpc::Status& status) {
    {
      absl::MutexLock lock(&mutex_);
      if (finished_) return;
      finished_ = true;
      cancelled_.store(true, std::memory_order_relaxed);
    }
    account_.Ended(status);
    Finish(status);
  }

  double RemainingSeconds() const {
    if (deadline_ == SteadyTime::max()) return std::numeric_limits<double>::infinity();
    return SecondsBetween(std::chrono::steady_clock::now(), deadline_);
  }

  ServiceEnvironment& environment_;
  grpc::CallbackServerContext& context_;
  CallAccount account_;
  const SteadyTime deadline_;
  SteadyTime end_ = SteadyTime::max();  // Of planning.
  std::optional<KeptAnswerStore> store_;
  std::optional<NavMeshView> view_;
  size_t admitted_bytes_ = 0;
  grpc::Slice bytes_;
  std::unique_ptr<BatchPlan> plan_;  // Set by the first worker, before there are others.
  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<bool> cancelled_{false};
  std::shared_ptr<PlanBatchCall> self_;  // Until gRPC is done; workers hold on longer.
  std::weak_ptr<PlanBatchCall> self_weak_;

  absl::Mutex mutex_;
  grpc::ByteBuffer outgoing_;
  SteadyTime last_write_ ABSL_GUARDED_BY(mutex_);
  std::chrono::milliseconds send_interval_ ABSL_GUARDED_BY(mutex_) = kFirstSendInterval;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t write_count_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t sent_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<grpc::Alarm> stall_alarm_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartPlanBatchCall(ServiceEnvironment& environment,
                                                               grpc::CallbackServerContext& context,
                                                               const grpc::ByteBuffer& request) {
  auto call = std::make_shared<PlanBatchCall>(environment, context);
  PlanBatchCall* reactor = call.get();
  reactor->Begin(std::move(call), request);
  return reactor;
}

}  // namespace arclane
