// SPDX-License-Identifier: Apache-2.0
#include "server/service/registry_call.h"

#include <string>

#include "server/service/message_bytes.h"

namespace arclane {
namespace {

// Largest request of a unary call: tens of thousands of changes.
constexpr size_t kMostRequestBytes = 4 << 20;

Failure TooManyBytes(size_t bytes) {
  Failure failure;
  failure.reason = FailureReason::kTooLarge;
  failure.message = "the request has " + std::to_string(bytes) + " bytes, the limit is " +
                    std::to_string(kMostRequestBytes);
  failure.metadata = {{"limit", "max_registry_request_bytes"},
                      {"maximum", std::to_string(kMostRequestBytes)},
                      {"requested", std::to_string(bytes)}};
  return failure;
}

}  // namespace

void RegistryCall::Begin() {
  if (!HasArrived(request_)) {
    EndWith(CallerGone(context()));
  } else if (request_.Length() > kMostRequestBytes) {
    EndWith(TooManyBytes(request_.Length()));
  } else {
    QueueWork();
  }
}

}  // namespace arclane
