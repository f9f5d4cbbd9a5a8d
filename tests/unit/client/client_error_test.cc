// SPDX-License-Identifier: Apache-2.0
#include "client/sdk/client_error.h"

#include <gtest/gtest.h>

#include "tests/unit/client/fake_planner.h"

namespace arclane {
namespace {

using testing::StatusBuilder;

TEST(DecodeErrorTest, ReadsReasonViolationsDelayAndMetadata) {
  const ClientError error =
      DecodeError(StatusBuilder(grpc::StatusCode::INVALID_ARGUMENT, "2 invalid fields")
                      .Reason("INVALID_FIELD")
                      .RetryAfter(1, 500'000'000)
                      .Violation("agent.limits.max_speed", "must be > 0, got -2")
                      .Violation("start.x", "must be finite")
                      .Build());
  EXPECT_EQ(error.code, absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(error.message, "2 invalid fields");
  EXPECT_EQ(error.reason, "INVALID_FIELD");
  EXPECT_EQ(error.metadata.at("limit"), "max_samples");
  EXPECT_EQ(error.retry_delay, absl::Milliseconds(1500));
  ASSERT_EQ(error.violations.size(), 2u);
  EXPECT_EQ(error.violations[0].field, "agent.limits.max_speed");
  EXPECT_EQ(error.violations[0].description, "must be > 0, got -2");
  EXPECT_EQ(error.violations[1].field, "start.x");
}

TEST(DecodeErrorTest, KeepsCodeAndMessageWithoutDetails) {
  const ClientError error = DecodeError({grpc::StatusCode::UNAVAILABLE, "connection refused"});
  EXPECT_EQ(error.code, absl::StatusCode::kUnavailable);
  EXPECT_EQ(error.message, "connection refused");
  EXPECT_TRUE(error.reason.empty());
  EXPECT_TRUE(error.violations.empty());
  EXPECT_FALSE(error.retry_delay.has_value());
}

TEST(DecodeErrorTest, KeepsCodeAndMessageWithMalformedDetails) {
  const ClientError error =
      DecodeError({grpc::StatusCode::INVALID_ARGUMENT, "bad", "\xff\xfe no protobuf"});
  EXPECT_EQ(error.code, absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(error.message, "bad");
  EXPECT_TRUE(error.violations.empty());
}

TEST(DecodeErrorTest, PassesOverDetailsThatItCannotRead) {
  google::rpc::Status details;
  details.add_details()->set_type_url("type.googleapis.com/google.rpc.Unknown");
  auto* broken = details.add_details();
  broken->set_type_url("type.googleapis.com/google.rpc.BadRequest");
  broken->set_value("\xff");
  google::rpc::ErrorInfo info;
  info.set_reason("QUEUE_FULL");
  info.set_domain("arclane");
  details.add_details()->PackFrom(info);
  const ClientError error =
      DecodeError({grpc::StatusCode::RESOURCE_EXHAUSTED, "busy", details.SerializeAsString()});
  EXPECT_EQ(error.reason, "QUEUE_FULL");
  EXPECT_TRUE(error.violations.empty());
}

TEST(DecodeErrorTest, TakesNoReasonFromAnotherDomain) {
  const ClientError error =
      DecodeError(StatusBuilder(grpc::StatusCode::UNAVAILABLE, "proxy says no")
                      .Reason("RATE_LIMITED", "proxy.example")
                      .Build());
  EXPECT_TRUE(error.reason.empty());
  EXPECT_TRUE(error.metadata.empty());
}

TEST(ClientErrorTest, IsRetryableWhenUnavailableOrWithADelay) {
  ClientError error;
  error.code = absl::StatusCode::kResourceExhausted;
  EXPECT_FALSE(error.IsRetryable());
  error.retry_delay = absl::Milliseconds(20);
  EXPECT_TRUE(error.IsRetryable());
  error = ClientError();
  error.code = absl::StatusCode::kUnavailable;
  EXPECT_TRUE(error.IsRetryable());
  error.code = absl::StatusCode::kInvalidArgument;
  EXPECT_FALSE(error.IsRetryable());
}

TEST(ClientErrorTest, ToStringNamesEveryViolation) {
  ClientError error;
  error.code = absl::StatusCode::kInvalidArgument;
  error.reason = "INVALID_FIELD";
  error.message = "2 invalid fields";
  error.violations = {{"a", "is wrong"}, {"b", "is too large"}};
  EXPECT_EQ(error.ToString(),
            "INVALID_ARGUMENT INVALID_FIELD: 2 invalid fields\n  a: is wrong\n  b: is too large");
}

}  // namespace
}  // namespace arclane
