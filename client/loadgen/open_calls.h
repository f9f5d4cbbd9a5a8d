// SPDX-License-Identifier: Apache-2.0
// The calls that a driver has under way, each a call of its own.
#ifndef ARCLANE_CLIENT_LOADGEN_OPEN_CALLS_H_
#define ARCLANE_CLIENT_LOADGEN_OPEN_CALLS_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "client/loadgen/call_driver.h"

namespace arclane {

// Thread-safe.
class OpenCalls {
 public:
  explicit OpenCalls(CallListener& listener) : listener_(listener) {}

  // Before the call is started. The context lives until its Remove.
  void Add(grpc::ClientContext& context);
  // Of a call that has ended: true when it was the last one of a driver that is closed, which is
  // then to be told by Closed.
  bool Remove(grpc::ClientContext& context);
  // Cancels what is open, and tells the listener when nothing is.
  void Close();
  void Closed() { listener_.OnDriverClosed(); }

 private:
  CallListener& listener_;
  absl::Mutex mutex_;
  absl::flat_hash_set<grpc::ClientContext*> contexts_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
};

// How a call ended, and what its trailing metadata say about trying again.
CallEnd EndOf(const grpc::Status& status, const grpc::ClientContext& context);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_OPEN_CALLS_H_
