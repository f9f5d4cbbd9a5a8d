// SPDX-License-Identifier: Apache-2.0
#include "server/service/open_streams.h"

namespace arclane {

bool OpenStreams::Add(Stream& stream) {
  absl::MutexLock lock(&mutex_);
  if (ended_) return false;
  streams_.insert(&stream);
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
  for (Stream* stream : streams_) stream->End();
}

}  // namespace arclane
