// SPDX-License-Identifier: Apache-2.0
// An answer as the cache keeps it: the encoded part that is equal for equal requests, as a slice
// that is sent again and again without a copy.
#ifndef ARCLANE_SERVER_SERVICE_KEPT_ANSWER_H_
#define ARCLANE_SERVER_SERVICE_KEPT_ANSWER_H_

#include <grpcpp/support/slice.h>

#include <utility>

#include "arclane/v1/route.pb.h"
#include "server/cache/cache_value.h"

namespace arclane {

class KeptAnswer : public CacheValue {
 public:
  KeptAnswer(grpc::Slice bytes, v1::Outcome outcome)
      : bytes_(std::move(bytes)), outcome_(outcome) {}

  const grpc::Slice& bytes() const { return bytes_; }
  v1::Outcome outcome() const { return outcome_; }

  size_t ByteSize() const override {
    // std::make_shared puts a count block of 16 bytes before the object; gRPC puts a count of 24
    // bytes before a slice's bytes, and up to 23 bytes into the slice itself.
    constexpr size_t kCountBlock = 16, kSliceCount = 24, kInlined = 23;
    const size_t outside =
        bytes_.size() > kInlined ? AllocatedBytes(bytes_.size() + kSliceCount) : 0;
    return AllocatedBytes(sizeof(KeptAnswer) + kCountBlock) + outside;
  }

 private:
  grpc::Slice bytes_;
  v1::Outcome outcome_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_KEPT_ANSWER_H_
