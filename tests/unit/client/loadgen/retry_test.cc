// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/retry.h"

#include <gtest/gtest.h>

namespace arclane {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;

TEST(WaitBeforeRetryTest, TriesOnlyCodesAgainThatMaySucceed) {
  for (const auto code :
       {StatusCode::UNAVAILABLE, StatusCode::RESOURCE_EXHAUSTED, StatusCode::CANCELLED}) {
    EXPECT_TRUE(WaitBeforeRetry(code, 1, std::nullopt, 0.5));
  }
  for (const auto code : {StatusCode::OK, StatusCode::INVALID_ARGUMENT,
                          StatusCode::DEADLINE_EXCEEDED, StatusCode::INTERNAL}) {
    EXPECT_FALSE(WaitBeforeRetry(code, 1, std::nullopt, 0.5));
    EXPECT_FALSE(WaitBeforeRetry(code, 1, 10, 0.5));
  }
}

TEST(WaitBeforeRetryTest, DoublesUpToTheLongestWait) {
  const auto wait = [](int attempts) {
    return *WaitBeforeRetry(StatusCode::UNAVAILABLE, attempts, std::nullopt, 0.5);
  };
  EXPECT_EQ(wait(1), milliseconds(20));
  EXPECT_EQ(wait(2), milliseconds(40));
  EXPECT_EQ(wait(5), milliseconds(320));
  EXPECT_EQ(wait(6), milliseconds(500));
  EXPECT_EQ(wait(9), milliseconds(500));
}

TEST(WaitBeforeRetryTest, JittersByAFifth) {
  EXPECT_EQ(*WaitBeforeRetry(StatusCode::UNAVAILABLE, 1, std::nullopt, 0.0), milliseconds(16));
  EXPECT_EQ(*WaitBeforeRetry(StatusCode::UNAVAILABLE, 1, std::nullopt, 1.0), milliseconds(24));
}

TEST(WaitBeforeRetryTest, FollowsThePushBackExactly) {
  EXPECT_EQ(*WaitBeforeRetry(StatusCode::RESOURCE_EXHAUSTED, 4, 7, 0.9), milliseconds(7));
  EXPECT_FALSE(WaitBeforeRetry(StatusCode::RESOURCE_EXHAUSTED, 1, -1, 0.5));
}

}  // namespace
}  // namespace arclane
