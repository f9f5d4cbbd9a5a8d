// SPDX-License-Identifier: Apache-2.0
// One thread's share of a load run: its connections, its calls, and what became of them.
#ifndef ARCLANE_CLIENT_LOADGEN_LOAD_LANE_H_
#define ARCLANE_CLIENT_LOADGEN_LOAD_LANE_H_

#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>
#include <grpcpp/completion_queue.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/loadgen/arrival_schedule.h"
#include "client/loadgen/call_driver.h"
#include "client/loadgen/call_payloads.h"
#include "client/loadgen/load_options.h"
#include "client/loadgen/load_statistics.h"

namespace arclane {

using LoadClock = std::chrono::steady_clock;

// Plans, or their Pings.
enum FlowKind { kPlans = 0, kPings = 1 };
inline constexpr int kFlowKinds = 2;

// A stretch of time in which calls start.
struct LoadSlice {
  bool runs[kFlowKinds] = {false, false};
  LoadClock::time_point begin;
  LoadClock::time_point end;
  // An open loop starts what was due in the slice up to this time, the rest is not started.
  LoadClock::time_point give_up;
  bool record = false;
};

// What all lanes share.
struct LoadBudget {
  // Recorded calls that may still start, by flow.
  std::atomic<int64_t> calls[kFlowKinds] = {0, 0};
};

class LoadLane final : public CallListener {
 public:
  // Lane `index` of options.threads, with its share of the load. `payloads` and `budget` outlive
  // it.
  LoadLane(const LoadOptions& options, int index, const CallPayloads& payloads, LoadBudget& budget,
           std::vector<std::shared_ptr<grpc::Channel>> channels);
  ~LoadLane() override;

  // Starts the calls of a slice; the lane must be idle.
  void Begin(const LoadSlice& slice);
  // Waits until the slice is over and every call of it has ended; false when `until` came first.
  bool WaitUntilIdle(LoadClock::time_point until);
  // Starts no more calls: what is due is not started.
  void Stop();
  // Ends what is open and the lane's threads. The last call but for the statistics.
  void Close();

  // Adds what was counted since the last call.
  void TakeInterval(IntervalStatistics& interval);
  // By source, in the order of payloads.sources().
  std::vector<SeriesStatistics> Statistics(FlowKind kind);

  void OnCallEnd(void* tag, const CallEnd& end) override;
  void OnDriverClosed() override;

 private:
  struct Flow {
    FlowKind kind = kPlans;
    std::vector<std::unique_ptr<CallDriver>> drivers;  // One a connection.
    size_t next_driver = 0;
    int concurrency = 0;  // Of a closed loop.
    std::optional<ArrivalSchedule> schedule;
    int64_t slices_ns = 0;  // The schedule's clock at the slice's begin.
    size_t next_in_order = 0;
    std::vector<size_t> next_of_source;
    bool starting = false;  // More calls start in this slice.
    std::vector<SeriesStatistics> statistics;
  };

  struct Call final : QueueEvent {
    explicit Call(LoadLane& owner) : lane(owner) {}
    void Happen(bool) override { lane.AfterPause(*this); }

    LoadLane& lane;
    Flow* flow = nullptr;
    CallDriver* driver = nullptr;
    int source = 0;
    CallPayload* payload = nullptr;
    LoadClock::time_point intended;
    OutgoingCall outgoing;
    int attempts = 0;
    bool record = false;
    bool ended = false;  // Waits before its place starts the next call, not before a retry.
    grpc::Alarm alarm;
  };

  std::unique_ptr<CallDriver> MakeDriver(const std::shared_ptr<grpc::Channel>& channel,
                                         FlowKind kind);
  void RunQueue();
  void RunSchedule() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  bool SliceIsOver() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return in_flight_ == 0 && !flows_[kPlans].starting && !flows_[kPings].starting;
  }
  bool NextDueIsKnown() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closing_ || flows_[kPlans].starting || flows_[kPings].starting;
  }
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closing_ || stopped_ || in_flight_ < max_in_flight_;
  }
  bool IsClosed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return open_drivers_ == 0; }

  // Takes one call from the budget of what is recorded.
  bool MayStart(const Flow& flow) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Readies the next call of a flow; it is in flight from then on.
  void Prepare(Call& call, Flow& flow, LoadClock::time_point intended)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Call& FreeCall() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Release(Call& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Record(const Call& call, const CallEnd& end, LoadClock::time_point now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Readies the next call of a closed loop in the place of one that ended; else frees the place.
  bool PrepareNext(Call& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The flow whose next call of this slice is due first; null when there is none.
  Flow* NextDue(LoadClock::time_point& due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndStarting(Flow& flow) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Retries(Call& call, const CallEnd& end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AfterPause(Call& call);

  const LoadOptions& options_;
  const CallPayloads& payloads_;
  LoadBudget& budget_;
  const int max_in_flight_;
  std::vector<std::string> methods_[kFlowKinds];  // By source.
  grpc::CompletionQueue queue_;

  absl::Mutex mutex_;
  Flow flows_[kFlowKinds] ABSL_GUARDED_BY(mutex_);
  LoadSlice slice_ ABSL_GUARDED_BY(mutex_);
  int in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  size_t open_drivers_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Call> calls_
      ABSL_GUARDED_BY(mutex_);  // Stable addresses; as many as were ever in flight.
  std::vector<Call*> free_calls_ ABSL_GUARDED_BY(mutex_);
  uint64_t jitter_state_ ABSL_GUARDED_BY(mutex_) = 0;
  IntervalStatistics interval_ ABSL_GUARDED_BY(mutex_);

  std::thread queue_thread_;
  std::thread schedule_thread_;  // Of an open loop.
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_LOAD_LANE_H_
