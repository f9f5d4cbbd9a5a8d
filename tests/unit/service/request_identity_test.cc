// SPDX-License-Identifier: Apache-2.0
#include "server/service/request_identity.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace arclane {
namespace {

TEST(RequestIdentityTest, RequestIdsAreShortVisibleAscii) {
  for (const std::string& good :
       {std::string("a"), std::string("tick-17/x=1"), std::string(128, 'x')})
    EXPECT_TRUE(IsRequestId(good)) << good;
  for (const std::string& bad :
       {std::string(), std::string(129, 'x'), std::string("a b"), std::string("a\n"),
        std::string("\xc3\xa9"), std::string("\x7f"), std::string(1, '\0')})
    EXPECT_FALSE(IsRequestId(bad)) << bad;
}

TEST(RequestIdentityTest, TraceParentsAreThoseOfTheirStandard) {
  const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_TRUE(IsTraceParent(good));
  EXPECT_TRUE(IsTraceParent("01" + good.substr(2) + "-more"));
  EXPECT_FALSE(IsTraceParent(good + "-more"));
  EXPECT_FALSE(IsTraceParent("01" + good.substr(2) + "more"));
  EXPECT_FALSE(IsTraceParent("01" + good.substr(2) + "-" + std::string(1000, 'a')));
  EXPECT_FALSE(IsTraceParent("ff" + good.substr(2)));
  EXPECT_FALSE(IsTraceParent("00-" + std::string(32, '0') + good.substr(35)));
  EXPECT_FALSE(IsTraceParent(good.substr(0, 36) + std::string(16, '0') + "-01"));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string changed = good;
    changed[i] = 'G';
    EXPECT_FALSE(IsTraceParent(changed)) << changed;
    EXPECT_FALSE(IsTraceParent(good.substr(0, i)));
  }
}

TEST(RequestIdentityTest, MadeNamesAreValidAndDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = MakeRequestId();
    EXPECT_EQ(id.size(), 32u);
    EXPECT_TRUE(IsRequestId(id));
    EXPECT_TRUE(seen.insert(id).second);
    const std::string parent = MakeTraceParent(id);
    EXPECT_TRUE(IsTraceParent(parent)) << parent;
    EXPECT_EQ(parent.substr(3, 32), id);
  }
}

}  // namespace
}  // namespace arclane
