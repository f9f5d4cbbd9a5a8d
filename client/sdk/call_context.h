// SPDX-License-Identifier: Apache-2.0
// What every call of the SDK has in common: its options in gRPC's context, and its cancellation.
#ifndef ARCLANE_CLIENT_SDK_CALL_CONTEXT_H_
#define ARCLANE_CLIENT_SDK_CALL_CONTEXT_H_

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/sdk/client_options.h"
#include "grpcpp/client_context.h"

namespace arclane {

// Sets the deadline, counted from now, and the caller's metadata. InfiniteDuration() is no
// deadline.
inline void Prepare(grpc::ClientContext& context, const CallOptions& call,
                    absl::Duration deadline) {
  if (deadline != absl::InfiniteDuration()) {
    context.set_deadline(absl::ToChronoTime(absl::Now() + deadline));
  }
  for (const auto& [key, value] : call.metadata) context.AddMetadata(key, value);
}

// What a stop request does to a call; the context outlives the callback.
struct Cancel {
  grpc::ClientContext* context;
  void operator()() const { context->TryCancel(); }
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_SDK_CALL_CONTEXT_H_
