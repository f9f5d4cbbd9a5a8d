// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/load_lane.h"

#include <sys/prctl.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "client/loadgen/batch_driver.h"
#include "client/loadgen/retry.h"
#include "client/loadgen/stream_driver.h"
#include "client/loadgen/unary_driver.h"

namespace arclane {
namespace {

constexpr char kPing[] = "/arclane.v1.PathPlanner/Ping";
constexpr char kPlanStream[] = "/arclane.v1.PathPlanner/PlanStream";

// A closed loop without a server would spin: a place whose call found none waits before the next.
constexpr auto kPauseWithoutServer = std::chrono::milliseconds(10);

// A stop is noticed this soon.
constexpr auto kLongestSleep = std::chrono::milliseconds(50);

// The share of lane `index` of `lanes` in a whole number of things.
int ShareOf(int whole, int index, int lanes) { return whole / lanes + (index < whole % lanes); }

absl::Time ToAbsl(LoadClock::time_point time) {
  return absl::Now() + absl::FromChrono(time - LoadClock::now());
}

}  // namespace

LoadLane::LoadLane(const LoadOptions& options, int index, const CallPayloads& payloads,
                   LoadBudget& budget, std::vector<std::shared_ptr<grpc::Channel>> channels)
    : options_(options),
      payloads_(payloads),
      budget_(budget),
      max_in_flight_(ShareOf(options.max_in_flight, index, options.threads)) {
  absl::MutexLock lock(&mutex_);
  jitter_state_ = static_cast<uint64_t>(index);
  const bool beside = options.ping == PingTurns::kBeside;
  for (int kind = 0; kind < kFlowKinds; ++kind) {
    Flow& flow = flows_[kind];
    flow.kind = static_cast<FlowKind>(kind);
    // Beside plans, Pings are few; in their own slices they are a load like the plans'.
    const double share =
        kind == kPings && beside ? options.ping_share / (1.0 - options.ping_share) : 1.0;
    if (options.loop == LoadLoop::kOpen) {
      flow.schedule.emplace(options.rate * share / options.threads, options.arrivals,
                            (index + 0.5) / options.threads,
                            static_cast<uint64_t>(2 * index + kind));
    } else {
      flow.concurrency = std::max(
          1, static_cast<int>(ShareOf(options.concurrency, index, options.threads) * share));
    }
    flow.statistics.resize(payloads.sources().size());
    for (const CallPayloads::Source& source : payloads.sources()) {
      methods_[kind].push_back(kind == kPings ? kPing : source.method);
      flow.next_of_source.push_back(source.payloads.size() * static_cast<size_t>(index) /
                                    static_cast<size_t>(options.threads));
    }
    for (const auto& channel : channels) {
      flow.drivers.push_back(MakeDriver(channel, flow.kind));
      ++open_drivers_;
    }
  }
  queue_thread_ = std::thread([this] { RunQueue(); });
  if (options.loop == LoadLoop::kOpen) schedule_thread_ = std::thread([this] { RunSchedule(); });
}

LoadLane::~LoadLane() { Close(); }

std::unique_ptr<CallDriver> LoadLane::MakeDriver(const std::shared_ptr<grpc::Channel>& channel,
                                                 FlowKind kind) {
  if (options_.shape == CallShape::kStream) {
    const bool plans = kind == kPlans && payloads_.sources()[0].method == kPlanStream;
    return MakeStreamDriver(
        channel, plans ? MakePlanStreamFormat(payloads_.shared()) : MakePingStreamFormat(), queue_,
        *this);
  }
  if (options_.shape == CallShape::kBatch && kind == kPlans) {
    return MakeBatchDriver(channel, queue_, *this);
  }
  return MakeUnaryDriver(channel, queue_, *this);
}

void LoadLane::Begin(const LoadSlice& slice) {
  std::vector<Call*> first;
  {
    absl::MutexLock lock(&mutex_);
    slice_ = slice;
    for (Flow& flow : flows_) {
      flow.starting = slice.runs[flow.kind];
      if (!flow.starting || options_.loop == LoadLoop::kOpen) continue;
      const size_t before = first.size();
      for (int i = 0; i < flow.concurrency && MayStart(flow); ++i) {
        Call& call = FreeCall();
        Prepare(call, flow, LoadClock::now());
        first.push_back(&call);
      }
      if (first.size() == before) flow.starting = false;
    }
  }
  for (Call* call : first) {
    call->intended = LoadClock::now();
    call->driver->Start(call->outgoing);
  }
}

bool LoadLane::WaitUntilIdle(LoadClock::time_point until) {
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithDeadline(absl::Condition(this, &LoadLane::SliceIsOver), ToAbsl(until));
}

void LoadLane::Stop() {
  absl::MutexLock lock(&mutex_);
  stopped_ = true;
}

void LoadLane::Close() {
  if (!queue_thread_.joinable()) return;
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    closing_ = true;
  }
  if (schedule_thread_.joinable()) schedule_thread_.join();
  std::vector<CallDriver*> drivers;
  {
    absl::MutexLock lock(&mutex_);
    for (Call& call : calls_) call.alarm.Cancel();
    for (Flow& flow : flows_) {
      for (const auto& driver : flow.drivers) drivers.push_back(driver.get());
    }
  }
  for (CallDriver* driver : drivers) driver->Close();
  {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &LoadLane::IsClosed));
  }
  queue_.Shutdown();
  queue_thread_.join();
}

void LoadLane::TakeInterval(IntervalStatistics& interval) {
  absl::MutexLock lock(&mutex_);
  interval_.in_flight = static_cast<uint64_t>(in_flight_);
  interval.Merge(interval_);
  interval_.Clear();
}

std::vector<SeriesStatistics> LoadLane::Statistics(FlowKind kind) {
  absl::MutexLock lock(&mutex_);
  return flows_[kind].statistics;
}

void LoadLane::RunQueue() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) static_cast<QueueEvent*>(tag)->Happen(ok);
}

void LoadLane::RunSchedule() {
  // The kernel may otherwise wake this thread 50 us late, to save power.
  prctl(PR_SET_TIMERSLACK, 1000);
  mutex_.Lock();
  while (!closing_) {
    LoadClock::time_point due;
    Flow* flow = NextDue(due);
    if (flow == nullptr) {
      mutex_.Await(absl::Condition(this, &LoadLane::NextDueIsKnown));
      continue;
    }
    if (const auto now = LoadClock::now(); due > now) {
      mutex_.Unlock();
      std::this_thread::sleep_until(std::min(due, now + kLongestSleep));
      mutex_.Lock();
      continue;
    }
    if (!mutex_.AwaitWithDeadline(absl::Condition(this, &LoadLane::HasRoom),
                                  ToAbsl(slice_.give_up)) ||
        stopped_) {
      EndStarting(flows_[kPlans]);
      EndStarting(flows_[kPings]);
      continue;
    }
    flow->schedule->Advance();
    if (!MayStart(*flow)) {
      flow->starting = false;
      continue;
    }
    Call& call = FreeCall();
    Prepare(call, *flow, due);
    if (call.record) {
      flow->statistics[static_cast<size_t>(call.source)].start_lag.Add(static_cast<uint64_t>(
          std::max<int64_t>(0, (LoadClock::now() - due) / std::chrono::nanoseconds(1))));
    }
    mutex_.Unlock();
    call.driver->Start(call.outgoing);
    mutex_.Lock();
  }
  mutex_.Unlock();
}

LoadLane::Flow* LoadLane::NextDue(LoadClock::time_point& due) {
  Flow* next = nullptr;
  for (Flow& flow : flows_) {
    if (!flow.starting) continue;
    const auto flow_due =
        slice_.begin + std::chrono::nanoseconds(flow.schedule->due_ns() - flow.slices_ns);
    if (flow_due >= slice_.end) {
      flow.starting = false;
      flow.slices_ns += (slice_.end - slice_.begin) / std::chrono::nanoseconds(1);
      continue;
    }
    if (next == nullptr || flow_due < due) {
      next = &flow;
      due = flow_due;
    }
  }
  return next;
}

void LoadLane::EndStarting(Flow& flow) {
  if (!flow.starting) return;
  flow.starting = false;
  // A stop ends the slice now; what was due later was never to be started.
  const auto end = std::min(slice_.end, LoadClock::now());
  while (slice_.begin + std::chrono::nanoseconds(flow.schedule->due_ns() - flow.slices_ns) < end) {
    flow.schedule->Advance();
    const int source = payloads_.order()[flow.next_in_order];
    flow.next_in_order = (flow.next_in_order + 1) % payloads_.order().size();
    if (slice_.record) ++flow.statistics[static_cast<size_t>(source)].not_started;
  }
}

bool LoadLane::MayStart(const Flow& flow) {
  if (stopped_) return false;
  return !slice_.record || budget_.calls[flow.kind].fetch_sub(1, std::memory_order_relaxed) > 0;
}

LoadLane::Call& LoadLane::FreeCall() {
  if (free_calls_.empty()) return calls_.emplace_back(*this);
  Call& call = *free_calls_.back();
  free_calls_.pop_back();
  return call;
}

void LoadLane::Prepare(Call& call, Flow& flow, LoadClock::time_point intended) {
  ++in_flight_;
  call.flow = &flow;
  call.driver = flow.drivers[flow.next_driver].get();
  flow.next_driver = (flow.next_driver + 1) % flow.drivers.size();
  call.source = payloads_.order()[flow.next_in_order];
  flow.next_in_order = (flow.next_in_order + 1) % payloads_.order().size();
  const auto& requests = payloads_.sources()[static_cast<size_t>(call.source)].payloads;
  size_t& next = flow.next_of_source[static_cast<size_t>(call.source)];
  call.payload = requests[next].get();
  next = (next + 1) % requests.size();
  call.intended = intended;
  call.attempts = 1;
  call.record = slice_.record;
  call.ended = false;
  call.outgoing.method = &methods_[flow.kind][static_cast<size_t>(call.source)];
  call.outgoing.request = flow.kind == kPings ? &call.payload->ping : &call.payload->request;
  call.outgoing.deadline =
      std::chrono::system_clock::now() + absl::ToChronoNanoseconds(options_.deadline);
  call.outgoing.tag = &call;
}

void LoadLane::Release(Call& call) {
  --in_flight_;
  free_calls_.push_back(&call);
}

bool LoadLane::PrepareNext(Call& call) {
  Flow& flow = *call.flow;
  if (options_.loop == LoadLoop::kClosed && flow.starting) {
    if (LoadClock::now() < slice_.end && MayStart(flow)) {
      --in_flight_;
      Prepare(call, flow, LoadClock::now());
      return true;
    }
    flow.starting = false;
  }
  Release(call);
  return false;
}

bool LoadLane::Retries(Call& call, const CallEnd& end) {
  if (call.attempts >= options_.max_attempts || stopped_) return false;
  const auto wait =
      WaitBeforeRetry(end.code, call.attempts, end.pushback_ms, NextUniform(jitter_state_));
  if (!wait) return false;
  const auto again = std::chrono::system_clock::now() + *wait;
  if (again >= call.outgoing.deadline) return false;
  ++call.attempts;
  call.alarm.Set(&queue_, again, static_cast<QueueEvent*>(&call));
  return true;
}

void LoadLane::Record(const Call& call, const CallEnd& end, LoadClock::time_point now) {
  const auto latency = static_cast<uint64_t>(
      std::max<int64_t>(0, (now - call.intended) / std::chrono::nanoseconds(1)));
  const bool ok = end.code == grpc::StatusCode::OK;
  if (ok) {
    (call.flow->kind == kPlans ? interval_.plan_latency : interval_.ping_latency).Add(latency);
    if (call.flow->kind == kPlans) {
      call.payload->response_bytes.store(end.response_bytes, std::memory_order_relaxed);
    }
  } else {
    ++interval_.failed;
  }
  if (!call.record) return;
  SeriesStatistics& series = call.flow->statistics[static_cast<size_t>(call.source)];
  (ok ? series.latency : series.failed_latency).Add(latency);
  ++series.codes[end.code];
  series.attempts += static_cast<uint64_t>(call.attempts);
  series.request_bytes +=
      call.flow->kind == kPlans ? call.payload->request_bytes : call.outgoing.request->Length();
  series.response_bytes += end.response_bytes;
  series.items_ok += end.items_ok;
  series.items_failed += end.items_failed;
}

void LoadLane::OnCallEnd(void* tag, const CallEnd& end) {
  const auto now = LoadClock::now();
  Call& call = *static_cast<Call*>(tag);
  {
    absl::MutexLock lock(&mutex_);
    if (Retries(call, end)) return;
    Record(call, end, now);
    if (end.code == grpc::StatusCode::UNAVAILABLE && options_.loop == LoadLoop::kClosed &&
        call.flow->starting && !stopped_) {
      call.ended = true;
      call.alarm.Set(&queue_, std::chrono::system_clock::now() + kPauseWithoutServer,
                     static_cast<QueueEvent*>(&call));
      return;
    }
    if (!PrepareNext(call)) return;
  }
  call.driver->Start(call.outgoing);
}

void LoadLane::AfterPause(Call& call) {
  {
    absl::MutexLock lock(&mutex_);
    if (!call.ended && stopped_) {
      --call.attempts;  // The retry is not made.
      Record(call, {.code = grpc::StatusCode::CANCELLED}, LoadClock::now());
      call.ended = true;
    }
    if (call.ended && !PrepareNext(call)) return;
  }
  call.driver->Start(call.outgoing);
}

void LoadLane::OnDriverClosed() {
  absl::MutexLock lock(&mutex_);
  --open_drivers_;
}

}  // namespace arclane
