// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets of requests share.
#ifndef ARCLANE_TESTS_FUZZ_SMALL_REQUESTS_H_
#define ARCLANE_TESTS_FUZZ_SMALL_REQUESTS_H_

#include <optional>

#include "server/codec/failure.h"
#include "server/codec/request_limits.h"
#include "tests/fuzz/fuzz_check.h"

namespace arclane::fuzz {

// Small, so that one input takes milliseconds.
inline RequestLimits SmallLimits() {
  RequestLimits limits;
  limits.max_portals = 500;
  limits.max_vertices = 2000;
  limits.max_samples = 500;
  limits.max_dependencies = 500;
  limits.max_batch_items = 50;
  return limits;
}

inline std::optional<FailureReason> Never() { return std::nullopt; }

// Of a request that was refused for its own sake: it says why.
inline void RequireTold(const Failure& failure) {
  Require(!failure.message.empty(), "a refusal with a message");
  Require(failure.reason == FailureReason::kInvalidField ||
              failure.reason == FailureReason::kTooLarge ||
              failure.reason == FailureReason::kMalformedMessage,
          "a refusal for the request's own sake");
}

}  // namespace arclane::fuzz

#endif  // ARCLANE_TESTS_FUZZ_SMALL_REQUESTS_H_
