// SPDX-License-Identifier: Apache-2.0
// Things that can be cached: immutable, and honest about the memory they hold.
#ifndef ARCLANE_SERVER_CACHE_CACHE_VALUE_H_
#define ARCLANE_SERVER_CACHE_CACHE_VALUE_H_

#include <cstddef>
#include <string>
#include <utility>

namespace arclane {

// What an allocation of `bytes` takes from the heap: glibc adds 8 bytes, rounds up to 16 and gives
// at least 32.
constexpr size_t AllocatedBytes(size_t bytes) {
  return bytes + 8 <= 32 ? 32 : (bytes + 8 + 15) / 16 * 16;
}

class CacheValue {
 public:
  virtual ~CacheValue() = default;
  // Everything that goes when the value goes, allocation overhead included. Constant.
  virtual size_t ByteSize() const = 0;
};

// An answer as it is sent.
class EncodedAnswer : public CacheValue {
 public:
  explicit EncodedAnswer(std::string bytes) : bytes_(std::move(bytes)) { bytes_.shrink_to_fit(); }
  const std::string& bytes() const { return bytes_; }
  size_t ByteSize() const override {
    // std::make_shared puts a count block of 16 bytes before the object; strings up to 15 bytes lie
    // within.
    return AllocatedBytes(sizeof(EncodedAnswer) + 16) +
           (bytes_.capacity() > 15 ? AllocatedBytes(bytes_.capacity() + 1) : 0);
  }

 private:
  std::string bytes_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_CACHE_CACHE_VALUE_H_
