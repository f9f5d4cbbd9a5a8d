// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/open_calls.h"

#include "client/loadgen/retry.h"

namespace arclane {

void OpenCalls::Add(grpc::ClientContext& context) {
  absl::MutexLock lock(&mutex_);
  contexts_.insert(&context);
}

bool OpenCalls::Remove(grpc::ClientContext& context) {
  absl::MutexLock lock(&mutex_);
  contexts_.erase(&context);
  return closing_ && contexts_.empty();
}

void OpenCalls::Close() {
  bool closed;
  {
    absl::MutexLock lock(&mutex_);
    closing_ = true;
    closed = contexts_.empty();
    for (grpc::ClientContext* context : contexts_) context->TryCancel();
  }
  if (closed) Closed();
}

CallEnd EndOf(const grpc::Status& status, const grpc::ClientContext& context) {
  CallEnd end;
  end.code = status.error_code();
  if (!status.ok()) end.pushback_ms = PushbackOf(context);
  return end;
}

}  // namespace arclane
