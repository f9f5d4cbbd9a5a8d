// SPDX-License-Identifier: Apache-2.0
#include "server/digest/digest.h"

#include <string>

#include "gtest/gtest.h"

namespace arclane {
namespace {

// The examples of FIPS 180-4's companion document (NIST, "SHA-256 examples").
TEST(DigestTest, AgreesWithThePublishedExamples) {
  EXPECT_EQ(DigestOf("").ToHex(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(DigestOf("abc").ToHex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(DigestOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").ToHex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(DigestOf(std::string(1'000'000, 'a')).ToHex(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(DigestTest, DoesNotDependOnHowTheBytesArrive) {
  std::string data;
  for (int i = 0; i < 300; ++i) data += static_cast<char>(i * 7);
  for (size_t piece = 1; piece <= 130; ++piece) {
    Sha256 sha;
    for (size_t at = 0; at < data.size(); at += piece)
      sha.Update(std::string_view(data).substr(at, piece));
    EXPECT_EQ(sha.Finish(), DigestOf(data)) << piece;
  }
}

}  // namespace
}  // namespace arclane
