// SPDX-License-Identifier: Apache-2.0
// The streams that are open, so that the server can end them before it shuts down: an open stream
// would hold a shutdown until its deadline.
#ifndef ARCLANE_SERVER_SERVICE_OPEN_STREAMS_H_
#define ARCLANE_SERVER_SERVICE_OPEN_STREAMS_H_

#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace arclane {

// Thread-safe.
class OpenStreams {
 public:
  class Stream {
   public:
    // Ends the stream as soon as its current message is answered. May be called once, from any
    // thread, while the stream is registered. It must not call OpenStreams.
    virtual void End() = 0;

   protected:
    ~Stream() = default;
  };

  // False when all streams were ended already: the new one should end at once.
  bool Add(Stream& stream);
  void Remove(Stream& stream);
  // Ends every stream, and lets no further one in.
  void EndAll();

 private:
  absl::Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<Stream*> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_OPEN_STREAMS_H_
