// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/retry.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace arclane {
namespace {

constexpr char kPushback[] = "grpc-retry-pushback-ms";
constexpr double kFirstWaitMs = 20.0;
constexpr double kLongestWaitMs = 500.0;
constexpr double kJitter = 0.2;

bool IsRetried(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::RESOURCE_EXHAUSTED ||
         code == grpc::StatusCode::CANCELLED;
}

}  // namespace

std::optional<int> PushbackOf(const grpc::ClientContext& context) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find(kPushback);
  if (found == trailers.end()) return std::nullopt;
  int milliseconds = 0;
  // What is no number forbids a retry, as gRPC has it.
  if (!absl::SimpleAtoi(absl::string_view(found->second.data(), found->second.size()),
                        &milliseconds)) {
    return -1;
  }
  return milliseconds;
}

std::optional<std::chrono::nanoseconds> WaitBeforeRetry(grpc::StatusCode code, int attempts,
                                                        std::optional<int> pushback_ms,
                                                        double jitter) {
  if (!IsRetried(code)) return std::nullopt;
  if (pushback_ms) {
    if (*pushback_ms < 0) return std::nullopt;
    return std::chrono::milliseconds(*pushback_ms);
  }
  const double wait_ms = std::min(kLongestWaitMs, kFirstWaitMs * std::exp2(attempts - 1));
  const double factor = 1.0 - kJitter + 2.0 * kJitter * jitter;
  return std::chrono::nanoseconds(static_cast<int64_t>(wait_ms * factor * 1e6));
}

}  // namespace arclane
