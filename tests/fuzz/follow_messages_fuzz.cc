// SPDX-License-Identifier: Apache-2.0
// Any bytes as the messages of a Follow stream, each behind two bytes that tell its size: a message
// ends the stream with a reason, or is answered with a row for each of its agents.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "server/pipeline/follow_session.h"
#include "tests/fuzz/fuzz_check.h"

using arclane::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  arclane::FollowSession session;
  while (size >= 2) {
    const size_t told = data[0] | static_cast<size_t>(data[1]) << 8;
    data += 2;
    size -= 2;
    const size_t length = std::min(told, size);
    arclane::v1::FollowRequest request;
    if (!request.ParseFromArray(data, static_cast<int>(length))) return 0;
    data += length;
    size -= length;
    arclane::v1::FollowResponse response;
    if (const auto failure = session.Answer(request, &response)) {
      Require(!failure->message.empty(), "a reason");
      return 0;
    }
    arclane::v1::FollowResponse changes;
    session.TellChanges(&changes);
  }
  return 0;
}
