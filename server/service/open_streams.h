// SPDX-License-Identifier: Apache-2.0
// The streams that are open, so that the server can end them before it shuts down: an open stream
// would hold a shutdown until its deadline.
#ifndef ARCLANE_SERVER_SERVICE_OPEN_STREAMS_H_
#define ARCLANE_SERVER_SERVICE_OPEN_STREAMS_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <map>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace arclane {

// When the message that is being written was begun. Thread-safe.
class UnreadTime {
 public:
  void Writing() { since_.store(Clock::now().time_since_epoch().count()); }
  void Written() { since_.store(kNever); }
  bool IsSince(std::chrono::steady_clock::time_point time) const {
    return since_.load() < time.time_since_epoch().count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::rep kNever = std::numeric_limits<Clock::rep>::max();
  std::atomic<Clock::rep> since_{kNever};
};

// Thread-safe.
class OpenStreams {
 public:
  class Stream {
   public:
    // Ends the stream as soon as its current message is answered. From any thread, while the stream
    // is registered; more than once only where it ends by age. It must not call OpenStreams.
    virtual void End() = 0;
    // Whether the stream ends by EndOlderThan: those that tell their clients how to go on.
    virtual bool EndsByAge() const { return false; }
    // Whether a message has been waiting since before `time` for a client that does not read: such
    // a stream cannot be ended by anything said on it.
    virtual bool IsUnreadSince(std::chrono::steady_clock::time_point) const { return false; }

   protected:
    ~Stream() = default;
  };

  // False when all streams were ended already: the new one should end at once.
  bool Add(Stream& stream);
  void Remove(Stream& stream);
  // Ends every stream, and lets no further one in.
  void EndAll();
  // How many streams have been unread since before `time`.
  size_t CountUnreadSince(std::chrono::steady_clock::time_point time);
  // Ends streams that were added before `time` and end by age.
  void EndOlderThan(std::chrono::steady_clock::time_point time);

 private:
  absl::Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  // By stream, when it was added.
  std::map<Stream*, std::chrono::steady_clock::time_point> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_OPEN_STREAMS_H_
