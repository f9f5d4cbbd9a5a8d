// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): the name of a content, the same that `sha256sum` prints. Names versions,
// tiles and stored rows, so that equal content is recognised and damaged content is never served.
#ifndef ARCLANE_SERVER_DIGEST_DIGEST_H_
#define ARCLANE_SERVER_DIGEST_DIGEST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace arclane {

struct ContentDigest {
  std::array<uint8_t, 32> bytes{};

  friend bool operator==(const ContentDigest&, const ContentDigest&) = default;
  friend auto operator<=>(const ContentDigest&, const ContentDigest&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ContentDigest& d) {
    return H::combine(std::move(h), d.bytes);
  }
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // 64 lower-case hexadecimal digits.
  std::string ToHex() const;
};

// The digest of bytes that arrive in pieces. O(bytes).
class Sha256 {
 public:
  Sha256();
  void Update(std::string_view data);
  // Ends the message; the object must not be used afterwards.
  ContentDigest Finish();

 private:
  void Block(const uint8_t* data);

  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> buffer_;
  uint64_t length_ = 0;
};

ContentDigest DigestOf(std::string_view data);

}  // namespace arclane

#endif  // ARCLANE_SERVER_DIGEST_DIGEST_H_
