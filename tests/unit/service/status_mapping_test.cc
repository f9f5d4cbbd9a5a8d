// SPDX-License-Identifier: Apache-2.0
#include "server/service/status_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace arclane {
namespace {

using ::testing::HasSubstr;

google::rpc::Status DetailsOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), status.error_code());
  EXPECT_EQ(details.message(), status.error_message());
  return details;
}

TEST(StatusMappingTest, CarriesEveryViolationAndTheReason) {
  const grpc::Status status = ToStatus(InvalidFields(
      {{"agent.max_speed", "must be > 0, got -2"}, {"start.x", "must be finite, got nan"}}));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("2 invalid fields"));
  const auto details = DetailsOf(status);
  ASSERT_EQ(details.details_size(), 2);
  google::rpc::BadRequest bad_request;
  ASSERT_TRUE(details.details(0).UnpackTo(&bad_request));
  ASSERT_EQ(bad_request.field_violations_size(), 2);
  EXPECT_EQ(bad_request.field_violations(0).field(), "agent.max_speed");
  EXPECT_EQ(bad_request.field_violations(1).description(), "must be finite, got nan");
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(details.details(1).UnpackTo(&info));
  EXPECT_EQ(info.reason(), "INVALID_FIELD");
  EXPECT_EQ(info.domain(), "arclane");
}

TEST(StatusMappingTest, CarriesMetadataAndRetryDelay) {
  Failure failure;
  failure.reason = FailureReason::kQueueFull;
  failure.metadata = {{"limit", "max_queued_plans"}};
  failure.retry_delay_s = 1.25;
  const grpc::Status status = ToStatus(failure);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(status.error_message(), "QUEUE_FULL");
  const auto details = DetailsOf(status);
  ASSERT_EQ(details.details_size(), 2);
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(details.details(0).UnpackTo(&info));
  EXPECT_EQ(info.metadata().at("limit"), "max_queued_plans");
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(details.details(1).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 250'000'000);
}

TEST(StatusMappingTest, StaysWithinTheMetadataThatClientsAccept) {
  std::vector<FieldViolation> violations;
  for (int i = 0; i < 10'000; ++i) {
    violations.push_back(
        {"corridor.portals.left.x[" + std::to_string(i) + "]", std::string(2000, 'x')});
  }
  const grpc::Status status = ToStatus(InvalidFields(std::move(violations)));
  // Base64 in the trailer.
  EXPECT_LT(status.error_details().size() * 4 / 3 + status.error_message().size(), 8192u);
  const auto details = DetailsOf(status);
  google::rpc::BadRequest bad_request;
  ASSERT_TRUE(details.details(0).UnpackTo(&bad_request));
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(details.details(1).UnpackTo(&info));
  EXPECT_GT(bad_request.field_violations_size(), 0);
  EXPECT_EQ(
      bad_request.field_violations_size() + std::stoi(info.metadata().at("violations_omitted")),
      10'000);
}

TEST(StatusMappingTest, TextsAreAlwaysValid) {
  Failure failure = InvalidFields({{"a\xff\n", "\x80"}});
  failure.message = "\xfe text";
  const auto details = DetailsOf(ToStatus(failure));
  EXPECT_EQ(details.message(), "? text");
  google::rpc::BadRequest bad_request;
  ASSERT_TRUE(details.details(0).UnpackTo(&bad_request));
  EXPECT_EQ(bad_request.field_violations(0).field(), "a??");
}

}  // namespace
}  // namespace arclane
