// SPDX-License-Identifier: Apache-2.0
#include "server/service/open_streams.h"

namespace arclane {

bool OpenStreams::Add(Stream& stream) {
  absl::MutexLock lock(&mutex_);
  if (ended_) return false;
  streams_.emplace(&stream, std::chrono::steady_clock::now());
  return true;
}

void OpenStreams::Remove(Stream& stream) {
  absl::MutexLock lock(&mutex_);
  streams_.erase(&stream);
}

void OpenStreams::EndAll() {
  // Held over the calls: a stream cannot be destroyed before it was removed.
  absl::MutexLock lock(&mutex_);
  ended_ = true;
  for (const auto& [stream, added] : streams_) stream->End();
}

size_t OpenStreams::CountUnreadSince(std::chrono::steady_clock::time_point time) {
  absl::MutexLock lock(&mutex_);
  size_t unread = 0;
  for (const auto& [stream, added] : streams_) unread += stream->IsUnreadSince(time);
  return unread;
}

void OpenStreams::EndOlderThan(std::chrono::steady_clock::time_point time) {
  absl::MutexLock lock(&mutex_);
  for (const auto& [stream, added] : streams_) {
    if (added < time && stream->EndsByAge()) stream->End();
  }
}

}  // namespace arclane
