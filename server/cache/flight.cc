// SPDX-License-Identifier: Apache-2.0
#include "server/cache/flight.h"

#include <algorithm>
#include <limits>

namespace arclane {

Flight::Flight(FlightTable& table, const CacheKey& key, uint64_t state_id)
    : table_(table),
      navmesh_id_(key.navmesh_id),
      request_(key.request),
      key_{navmesh_id_, key.lineage, request_, key.fingerprint},
      state_id_(state_id),
      latest_deadline_s_(-std::numeric_limits<double>::infinity()) {}

void Flight::UpdateDeadline() {
  double latest = -std::numeric_limits<double>::infinity();
  for (const Waiter& waiter : waiters_) latest = std::max(latest, waiter.deadline_s);
  latest_deadline_s_.store(latest, std::memory_order_relaxed);
}

bool Flight::Leave(uint64_t waiter) {
  const std::shared_ptr<Flight> keep = self_.lock();
  bool found = false, last = false;
  std::function<void()> when_abandoned;
  {
    MutexLock lock(mutex_);
    found = std::erase_if(waiters_, [&](const Waiter& w) { return w.id == waiter; }) > 0;
    UpdateDeadline();
    if (found && waiters_.empty() && !ended_) {
      ended_ = last = true;
      when_abandoned.swap(when_abandoned_);
    }
  }
  if (last) table_.Remove(*this);
  if (when_abandoned) when_abandoned();
  return found;
}

void Flight::WhenAbandoned(std::function<void()> call) {
  MutexLock lock(mutex_);
  when_abandoned_ = std::move(call);
}

void Flight::EndAll(const FlightOutcome& outcome) {
  const std::shared_ptr<Flight> keep = self_.lock();
  std::vector<Waiter> told;
  {
    MutexLock lock(mutex_);
    if (ended_) return;
    ended_ = true;
    told = std::move(waiters_);
    waiters_.clear();
    UpdateDeadline();
  }
  table_.Remove(*this);
  for (const Waiter& waiter : told) waiter.on_outcome(outcome);
}

void Flight::Complete(std::shared_ptr<const CacheValue> value) {
  EndAll({FlightOutcome::Kind::kValue, std::move(value), nullptr});
}

void Flight::Fail(std::shared_ptr<const void> failure) {
  EndAll({FlightOutcome::Kind::kFailure, nullptr, std::move(failure)});
}

OnFlightOutcome Flight::NextLeader() {
  UpdateDeadline();
  if (!waiters_.empty()) return waiters_.front().on_outcome;
  ended_ = true;
  return nullptr;
}

void Flight::Expire(double now_s, std::shared_ptr<const void> failure) {
  const std::shared_ptr<Flight> keep = self_.lock();
  std::vector<Waiter> expired;
  OnFlightOutcome leader;
  {
    MutexLock lock(mutex_);
    if (ended_) return;
    const auto late = std::stable_partition(waiters_.begin(), waiters_.end(),
                                            [&](const Waiter& w) { return w.deadline_s > now_s; });
    std::move(late, waiters_.end(), std::back_inserter(expired));
    waiters_.erase(late, waiters_.end());
    leader = NextLeader();
  }
  if (!leader) table_.Remove(*this);
  for (const Waiter& waiter : expired)
    waiter.on_outcome({FlightOutcome::Kind::kFailure, nullptr, failure});
  if (leader) leader({FlightOutcome::Kind::kLead, nullptr, nullptr});
}

void Flight::HandOn(uint64_t waiter, std::shared_ptr<const void> failure) {
  const std::shared_ptr<Flight> keep = self_.lock();
  OnFlightOutcome refused, leader;
  {
    MutexLock lock(mutex_);
    if (ended_) return;
    const auto it = std::find_if(waiters_.begin(), waiters_.end(),
                                 [&](const Waiter& w) { return w.id == waiter; });
    if (it != waiters_.end()) {
      refused = std::move(it->on_outcome);
      waiters_.erase(it);
    }
    leader = NextLeader();
  }
  if (!leader) table_.Remove(*this);
  if (refused) refused({FlightOutcome::Kind::kFailure, nullptr, std::move(failure)});
  if (leader) leader({FlightOutcome::Kind::kLead, nullptr, nullptr});
}

FlightTable::Ticket FlightTable::Join(const CacheKey& key, uint64_t state_id, double deadline_s,
                                      OnFlightOutcome on_outcome) {
  Shard& shard = ShardOf(key.fingerprint);
  MutexLock shard_lock(shard.mutex);
  auto& flights = shard.flights[{key.fingerprint.low, state_id}];
  for (const auto& flight : flights) {
    if (!flight->key_.SameRequest(key)) continue;
    MutexLock lock(flight->mutex_);
    if (flight->ended_) continue;  // About to be removed.
    flight->waiters_.push_back({flight->next_waiter_, deadline_s, std::move(on_outcome)});
    flight->UpdateDeadline();
    return {flight, flight->next_waiter_++, false};
  }
  std::shared_ptr<Flight> flight(new Flight(*this, key, state_id));
  flight->self_ = flight;
  flights.push_back(flight);
  MutexLock lock(flight->mutex_);
  flight->waiters_.push_back({flight->next_waiter_, deadline_s, std::move(on_outcome)});
  flight->UpdateDeadline();
  return {flight, flight->next_waiter_++, true};
}

void FlightTable::Remove(const Flight& flight) {
  Shard& shard = ShardOf(flight.key_.fingerprint);
  MutexLock lock(shard.mutex);
  const auto it = shard.flights.find({flight.key_.fingerprint.low, flight.state_id_});
  if (it == shard.flights.end()) return;
  std::erase_if(it->second, [&](const auto& f) { return f.get() == &flight; });
  if (it->second.empty()) shard.flights.erase(it);
}

size_t FlightTable::size() const {
  size_t count = 0;
  for (const Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    for (const auto& [key, flights] : shard.flights) count += flights.size();
  }
  return count;
}

}  // namespace arclane
