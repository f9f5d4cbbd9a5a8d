// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/watcher.h"

#include "absl/strings/str_cat.h"
#include "server/navmesh/registry_state.h"

namespace arclane {

NavMeshWatcher::NavMeshWatcher(std::shared_ptr<NavMeshEntry> entry, std::shared_ptr<World> world,
                               std::shared_ptr<ChangeLog> log, const WatchRequest& request,
                               std::function<void()> on_ready)
    : entry_(std::move(entry)),
      world_(std::move(world)),
      log_(std::move(log)),
      life_(world_ != nullptr ? world_->life : entry_->life),
      known_(request.known_epoch),
      of_another_life_(request.known_life.value != 0 && request.known_life != life_) {
  if (on_ready) listener_ = log_->AddListener(std::move(on_ready));
}

NavMeshWatcher::~NavMeshWatcher() {
  if (listener_ != 0) log_->RemoveListener(listener_);
}

WatchEvent NavMeshWatcher::EventOf(WatchEvent::Type type) const {
  WatchEvent event;
  event.type = type;
  event.life = life_;
  return event;
}

WatchEvent NavMeshWatcher::Snapshot(bool resync) {
  WatchEvent event = EventOf(WatchEvent::Type::kSnapshot);
  event.resync = resync;
  if (world_ != nullptr) {
    event.world = Describe(*world_);
    event.epoch = event.world->epoch;
  } else {
    std::map<NavMeshVersion, size_t> worlds_on;
    {
      MutexLock lock(entry_->mutex);
      worlds_on = entry_->worlds_on;
    }
    const auto state = entry_->state.Load();
    event.navmesh = Describe(*entry_, *state, worlds_on);
    event.epoch = state->epoch;
  }
  known_ = event.epoch;
  return event;
}

WatchEvent NavMeshWatcher::End(WatchEvent::Type type, std::string reason) {
  ended_ = true;
  WatchEvent event = EventOf(type);
  event.epoch = known_.value_or(Epoch{});
  event.reason = std::move(reason);
  return event;
}

std::vector<WatchEvent> NavMeshWatcher::Poll(size_t max_events) {
  std::vector<WatchEvent> events;
  if (ended_ || max_events == 0) return events;
  if (!started_) {
    started_ = true;
    // An epoch that lies ahead was told by another life of this scope, whatever the client says.
    if (!known_ || of_another_life_ || *known_ > log_->last() ||
        log_->ReadAfter(*known_, 1).too_far_behind) {
      events.push_back(Snapshot(/*resync=*/known_.has_value()));
    }
  }
  const ChangeLog::Changes changes = log_->ReadAfter(*known_, max_events - events.size());
  if (changes.too_far_behind) {
    events.push_back(End(WatchEvent::Type::kCutOff,
                         absl::StrCat("the reader is ", changes.last.value - known_->value,
                                      " changes behind, more than are kept")));
    return events;
  }
  for (const auto& record : changes.records) {
    WatchEvent event = EventOf(WatchEvent::Type::kChange);
    event.epoch = record->epoch;
    event.change = record;
    known_ = record->epoch;
    synced_ = false;
    events.push_back(std::move(event));
  }
  if (changes.closed) {
    events.push_back(End(WatchEvent::Type::kGone, "the world was deleted"));
  } else if (!synced_ && *known_ >= changes.last && events.size() < max_events) {
    synced_ = true;
    WatchEvent event = EventOf(WatchEvent::Type::kSynced);
    event.epoch = *known_;
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace arclane
