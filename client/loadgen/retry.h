// SPDX-License-Identifier: Apache-2.0
// Retries as the client library's service config makes them, made here so that attempts are seen.
#ifndef ARCLANE_CLIENT_LOADGEN_RETRY_H_
#define ARCLANE_CLIENT_LOADGEN_RETRY_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <optional>

namespace arclane {

// The push-back that the server sent with an error, milliseconds; nullopt without one.
std::optional<int> PushbackOf(const grpc::ClientContext& context);

// The wait before the attempt that follows attempt number `attempts` (1: the first); nullopt when
// there is none: the code is not retried, or the server forbids it. Without push-back the wait is
// 20 ms, doubled by every attempt, at most 500 ms, times a factor of 0.8 to 1.2 that `jitter` in
// [0, 1] picks. The budget that the client library's retryThrottling keeps is not.
std::optional<std::chrono::nanoseconds> WaitBeforeRetry(grpc::StatusCode code, int attempts,
                                                        std::optional<int> pushback_ms,
                                                        double jitter);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_RETRY_H_
