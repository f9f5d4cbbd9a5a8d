// SPDX-License-Identifier: Apache-2.0
#include "server/service/stream_work.h"

#include <utility>

namespace arclane {

void StreamWork::Queue() {
  queued_ = true;
  kept_ = shared_from_this();
  pool_.TryPush(*this);
}

void StreamWork::Schedule() {
  absl::MutexLock lock(&mutex_);
  if (running_) {
    again_ = true;
  } else if (!queued_) {
    Queue();
  }
}

void StreamWork::Run() {
  std::shared_ptr<StreamWork> keep;
  {
    absl::MutexLock lock(&mutex_);
    keep = std::move(kept_);
    queued_ = false;
    running_ = true;
  }
  Step();
  absl::MutexLock lock(&mutex_);
  running_ = false;
  if (std::exchange(again_, false)) Queue();
}

}  // namespace arclane
