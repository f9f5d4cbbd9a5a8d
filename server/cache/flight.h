// SPDX-License-Identifier: Apache-2.0
// Identical requests in progress make one plan. Whoever asks first leads: it has the plan made; the
// others wait for the same result. The plan belongs to all of them: it runs until the latest
// waiter's deadline, a leader that is cancelled leaves it running, and a leader that cannot have it
// made hands the lead on.
#ifndef ARCLANE_SERVER_CACHE_FLIGHT_H_
#define ARCLANE_SERVER_CACHE_FLIGHT_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/cache/cache_key.h"
#include "server/cache/cache_value.h"
#include "server/navmesh/mutex.h"

namespace arclane {

// What a waiter is told. kLead is not the end: the waiter now has to have the plan made, and will
// be told again.
struct FlightOutcome {
  enum class Kind { kValue, kFailure, kLead };
  Kind kind = Kind::kValue;
  std::shared_ptr<const CacheValue> value;  // kValue.
  std::shared_ptr<const void> failure;      // kFailure: whatever the leader gave.
};
// Called without locks from the thread that ends or leaves the flight; not any more once Leave has
// returned true.
using OnFlightOutcome = std::function<void(const FlightOutcome&)>;

class FlightTable;

// One plan under way. Thread-safe.
class Flight {
 public:
  // The waiter wants nothing any more. True when it had not been told an end. The last one to leave
  // ends the flight: requests that come then start another.
  bool Leave(uint64_t waiter);
  // `call` is made once, without locks, by the last waiter's Leave; never when the flight ends
  // otherwise.
  void WhenAbandoned(std::function<void()> call);
  // True when nobody waits or all deadlines have passed: a plan looks at this between its stages.
  // Lock-free.
  bool ShouldStop(double now_s) const {
    return now_s >= latest_deadline_s_.load(std::memory_order_relaxed);
  }
  // Ends for all.
  void Complete(std::shared_ptr<const CacheValue> value);
  void Fail(std::shared_ptr<const void> failure);
  // The plan was stopped: those whose deadline has passed fail, and if others have come meanwhile,
  // one of them leads.
  void Expire(double now_s, std::shared_ptr<const void> failure);
  // The plan could not be started for this waiter (a full queue): it fails alone, and another leads
  // if there is one.
  void HandOn(uint64_t waiter, std::shared_ptr<const void> failure);

  const CacheKey& key() const { return key_; }

 private:
  friend class FlightTable;
  struct Waiter {
    uint64_t id = 0;
    double deadline_s = 0.0;
    OnFlightOutcome on_outcome;
  };
  Flight(FlightTable& table, const CacheKey& key, uint64_t state_id);
  void Unlink() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void UpdateDeadline() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndAll(const FlightOutcome& outcome);
  // Ends the flight when nobody is left, otherwise makes the first one lead.
  OnFlightOutcome NextLeader() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  FlightTable& table_;
  std::string navmesh_id_, request_;
  CacheKey key_;  // Into the two above.
  const uint64_t state_id_;
  std::atomic<double> latest_deadline_s_;
  std::weak_ptr<Flight> self_;
  Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t next_waiter_ ABSL_GUARDED_BY(mutex_) = 1;
  std::vector<Waiter> waiters_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> when_abandoned_ ABSL_GUARDED_BY(mutex_);
};

// Thread-safe. Must outlive its flights.
class FlightTable {
 public:
  struct Ticket {
    std::shared_ptr<Flight> flight;
    uint64_t waiter = 0;
    bool leads = false;
  };
  // Joins the flight of the same request on the same state, or starts one. `deadline_s` on the
  // clock that Expire and ShouldStop are asked with; infinity for none.
  Ticket Join(const CacheKey& key, uint64_t state_id, double deadline_s,
              OnFlightOutcome on_outcome);
  size_t size() const;

 private:
  friend class Flight;
  static constexpr size_t kShards = 32;
  struct Shard {
    mutable Mutex mutex;  // Before a flight's.
    absl::flat_hash_map<std::pair<uint64_t, uint64_t>, std::vector<std::shared_ptr<Flight>>> flights
        ABSL_GUARDED_BY(mutex);
  };
  Shard& ShardOf(Fingerprint fingerprint) { return shards_[fingerprint.high % kShards]; }
  void Remove(const Flight& flight);

  std::array<Shard, kShards> shards_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_CACHE_FLIGHT_H_
